"""TV-GP-UCB: GP-UCB whose data fade as the function drifts.

Paper: bogunovic2016, Algorithm 2, eqs. (7)-(8); epsilon by Appendix B when it is learned.
Assumes: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}.
Departures: 1. ties go to the lowest index; 2. c1 log(c2 t) is clipped at 0; 3. actions of one batch
share one time; 4. when epsilon is learned, all that is older than the window is dropped then.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME, Beta
from gpbandits_env.agents.data.forgetting import Fade
from gpbandits_env.agents.data.log import Entry, ObservationLog
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.learning import Observations, fit
from gpbandits_env.model import Model
from gpbandits_env.problem import Problem


class TVGPUCB(GPAgent):
    """The arm with the largest upper confidence bound under the time-varying posterior.

    Exact, at the cost of one multiplication a round, and in bounded memory: see `ArmPosterior`.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        epsilon: the drift; the problem's when not given.
        learn_every: if given, epsilon is learned anew by marginal likelihood after every so many
            rounds, from the last ``learn_window`` ones; epsilon above is then where it starts.
        learn_window: rounds to learn from; a fit costs O((m window)^3).
        beta: as of `GPUCB`; 0.8 log(4 t) by default.
        parts: those of `GPAgent`.
    Raises:
        InvalidInput: no epsilon, and the problem does not tell it; or epsilon is to be learned
            without noise, where there is no likelihood.
    Source: bogunovic2016, Algorithm 2.
    """

    assumes_drift = True

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        epsilon: float | None = None,
        learn_every: int | None = None,
        learn_window: int = 200,
        beta: Beta = LOG_TIME,
        **parts: Any,
    ) -> None:
        known = epsilon if epsilon is not None else problem.epsilon
        if known is None and learn_every is None:
            raise InvalidInput(
                "tv-gp-ucb needs epsilon: the problem does not tell its drift; give epsilon, or "
                "learn_every to learn it"
            )
        if learn_every is not None and problem.noise_var == 0.0:
            raise InvalidInput("tv-gp-ucb cannot learn epsilon without noise: give it a noise_var")
        self.epsilon = 0.01 if known is None else positive(known, "epsilon", zero=True)
        self._first_epsilon = self.epsilon
        self.learn_every = None if learn_every is None else whole(learn_every, "learn_every")
        self.learn_window = whole(learn_window, "learn_window", 2)
        super().__init__(problem, rng, ConfidenceBound(beta), epsilon=self.epsilon, **parts)
        if self.learn_every is not None and self.refit is None:
            self.log = ObservationLog(self.learn_window)

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        super().tell(actions, rewards, observed)
        if self.learn_every is None or self.round % self.learn_every:
            return
        rounds = [e for e in self.log.entries if e.round][-self.learn_window :]
        # Rounds of which nothing was observed, or informative, tell no correlations.
        if sum(len(entry.rewards) > 0 for entry in rounds) > 1:
            self._use(self._learned(rounds))

    def _learned(self, rounds: list[Entry]) -> float:
        """The epsilon of largest marginal likelihood over the window, the rest as given."""
        points = np.concatenate([entry.points for entry in rounds])
        rewards = np.concatenate([entry.rewards for entry in rounds])
        times = np.repeat(np.arange(float(len(rounds))), [len(e.rewards) for e in rounds])
        base = self.posterior.prior_mean
        base_here = base[points] if isinstance(base, np.ndarray) else base
        where = self.action_map.inner.domain.points(points)
        data = Observations(where, rewards - base_here, times)
        model = Model(self.problem.kernel, self.problem.noise_var)
        return fit(model, data, learn=("epsilon",)).model.epsilon

    def _use(self, epsilon: float) -> None:
        """Another epsilon: the posterior learns the window's data anew under it."""
        self.epsilon = epsilon
        self.forgetting = Fade(epsilon)
        self.log.keep_rounds(self.learn_window, epsilon)
        self.posterior.forget()
        self.log.replay(self.posterior)

    def reset(self) -> None:
        self.epsilon, self.forgetting = self._first_epsilon, Fade(self._first_epsilon)
        super().reset()

    def snapshot(self) -> dict[str, Any]:
        return super().snapshot() | {"epsilon": self.epsilon}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.epsilon, self.forgetting = state["epsilon"], Fade(state["epsilon"])
        super()._restore(state)

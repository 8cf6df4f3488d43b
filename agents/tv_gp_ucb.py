"""TV-GP-UCB: GP-UCB whose data fade as the function drifts.

Paper: bogunovic2016, Algorithm 2, eqs. (7)-(8); epsilon by Appendix B when it is learned.
Assumes: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}.
Departures: 1. ties go to the lowest index; 2. c1 log(c2 t) is clipped at 0; 3. actions of one batch
share one time; 4. when epsilon is learned, all that is older than the window is dropped then.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.forgetting import Fade
from gpbandits_env.agents.gp_ucb import GPUCB
from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.learning import Observations, fit
from gpbandits_env.model import Model
from gpbandits_env.problem import Problem


class TVGPUCB(GPUCB):
    """The arm with the largest upper confidence bound under the time-varying posterior.

    Exact, at the cost of one multiplication a round, and in bounded memory: see `ArmPosterior`.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        epsilon: the drift; the problem's when not given.
        learn_every: if given, epsilon is learned anew by marginal likelihood after every so many
            rounds, from the last ``learn_window`` ones; epsilon above is then where it starts.
        learn_window: rounds to learn from; a fit costs O((m window)^3).
        settings: those of `GPUCB`; beta is 0.8 log(4 t) by default.
    Raises:
        InvalidInput: no epsilon, and the problem does not tell it; or epsilon is to be learned
            without noise, where there is no likelihood.
    Source: bogunovic2016, Algorithm 2.
    """

    DEFAULT_BETA: Mapping[str, Any] = {"type": "log", "c1": 0.8, "c2": 4.0}

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        epsilon: float | None = None,
        learn_every: int | None = None,
        learn_window: int = 200,
        **settings: Any,
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
        self._rounds: deque[tuple[NDArray[Any], NDArray[Any]]] = deque(
            maxlen=whole(learn_window, "learn_window", 2)
        )
        super().__init__(problem, rng, epsilon=self.epsilon, **settings)

    def tell(self, actions: Any, rewards: Any, observed: Any = None) -> None:
        super().tell(actions, rewards, observed)
        if self.learn_every is None:
            return
        self._rounds.append(self._told)
        # Rounds of which nothing was observed, or let in, tell no correlations.
        if self.round % self.learn_every == 0 and sum(len(a) > 0 for a, _ in self._rounds) > 1:
            self._set_epsilon(self._learned())

    def _learned(self) -> float:
        """The epsilon of largest marginal likelihood over the window, the rest as given."""
        arms = np.concatenate([a for a, _ in self._rounds])  # of a box: points
        rewards = np.concatenate([r for _, r in self._rounds])
        times = np.repeat(np.arange(float(len(self._rounds))), [len(a) for a, _ in self._rounds])
        base = self.posterior.prior_mean
        base_here = base[arms] if isinstance(base, np.ndarray) else base
        data = Observations(self.places.domain.points(arms), rewards - base_here, times)
        model = Model(self.problem.kernel, self.problem.noise_var)
        return fit(model, data, learn=("epsilon",)).model.epsilon

    def _set_epsilon(self, epsilon: float) -> None:
        """Believe in another epsilon: the window's data are told anew under it."""
        self.epsilon = epsilon
        self.forgetting = Fade(epsilon)
        if self.learn_every is not None:
            self.forget()
            for arms, rewards in self._rounds:
                self.absorb(arms, rewards)
                self.fade(epsilon)

    def reset(self) -> None:
        self._rounds.clear()
        self.epsilon, self.forgetting = self._first_epsilon, Fade(self._first_epsilon)
        super().reset()

    def snapshot(self) -> dict[str, Any]:
        rounds = [(a.copy(), r.copy()) for a, r in self._rounds]
        return super().snapshot() | {"epsilon": self.epsilon, "rounds": rounds}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.epsilon, self.forgetting = state["epsilon"], Fade(state["epsilon"])
        self._rounds.clear()
        self._rounds.extend((a.copy(), r.copy()) for a, r in state["rounds"])
        super()._restore(state)

"""TV-GP-UCB: GP-UCB whose data fade as the function drifts.

Paper: bogunovic2016, Algorithm 2, eqs. (7)-(8); epsilon by Appendix B when it is learned.
Assumes: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}.
Departures: 1. ties go to the lowest index; 2. c1 log(c2 t) is clipped at 0; 3. actions of one batch
share one time; 4. when epsilon is learned, data older than the window are dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME, Beta
from gpbandits_env.agents.data.learning import Learning, learning_for
from gpbandits_env.agents.gp_agent import FIRST_EPSILON, GPAgent
from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class TVGPUCB(GPAgent):
    r"""The arm with the largest upper confidence bound under the time-varying posterior.

    .. math::
        x_t = \arg\max_x \tilde\mu_{t-1}(x) + \sqrt{\beta_t} \, \tilde\sigma_{t-1}(x), \quad
        \tilde K = K \circ D, \quad D_{ij} = (1 - \epsilon)^{|i - j| / 2}

    The posterior has the kernel matrix with the decay D (eqs. (7)-(8)).

    Exact, at the cost of one multiplication a round, and in bounded memory: see `ArmPosterior`.

    Args:
        epsilon: the drift; the problem's when not given.
        learn_every: if given, epsilon is learned by marginal likelihood after every so many rounds,
            from the last ``learn_window`` ones, and the model with it if ``learn`` says so; the
            epsilon above is used until then.
        learn_window: rounds to learn from; a fit costs O((m window)^3).
        learn: as of `GPAgent`.
        standardize: as of `GPAgent`.
        beta: as of `GPUCB`; 0.8 log(4 t) by default.
    Raises:
        InvalidInput: no epsilon, and the problem does not state it; or epsilon is to be learned
            without noise, where there is no likelihood.
    Source: bogunovic2016, Algorithm 2.
    """

    assumes_drift = True

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        epsilon: float | None = None,
        learn_every: int | None = None,
        learn_window: int = 200,
        learn: Mapping[str, Any] | Sequence[str] | bool | None = None,
        standardize: bool = False,
        beta: Beta = LOG_TIME,
        **parts: Any,
    ) -> None:
        known = epsilon if epsilon is not None else problem.epsilon
        if known is None and learn_every is None:
            raise InvalidInput(
                "tv-gp-ucb needs epsilon: the problem does not state its drift; give epsilon, or "
                "learn_every to learn it"
            )
        self._epsilon = FIRST_EPSILON if known is None else positive(known, "epsilon", zero=True)
        learning = learning_for(learn, standardize)
        window = whole(learn_window, "learn_window", 2)
        if learn_every is not None:
            every, rest = whole(learn_every, "learn_every"), learning or Learning(what=())
            what = (*rest.what, "epsilon")
            learning = replace(rest, every=every, what=what, window=window)
        super().__init__(
            problem,
            rng,
            ConfidenceBound(beta),
            epsilon=self._epsilon,
            learn=learning,
            standardize=standardize,
            **parts,
        )

    @property
    def epsilon(self) -> float:
        """The drift assumed, as given or as learned last."""
        return self._epsilon if self.refit is None else self.refit.model.epsilon

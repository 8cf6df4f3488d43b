"""TV-GP-UCB: GP-UCB whose correlation with past data decays as the function drifts.

Paper: bogunovic2016, Algorithm 2, eqs. (7)-(8); Appendix B where epsilon is learned.
Assumes: f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}, or another temporal kernel.
Departures: 1. ties (see `leader`) go to the lowest index; 2. c1 log(c2 t) is clipped at 0; 3. the
actions of a batch have the same time; 4. if epsilon is learned, data older than the window are
dropped; 5. beta is 2 with a temporal kernel that is not that of epsilon.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import DRIFTING, LOG_TIME
from gpbandits_env.agents.data.keep import drift_of
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import Settings
from gpbandits_env.gp.learning import Learning, learning_for
from gpbandits_env.gp.temporal import TemporalKernel
from gpbandits_env.problem import Problem


class TVGPUCB(GPAgent):
    r"""The action with the largest upper confidence bound under the time-varying posterior.

    .. math::
        x_t = \arg\max_x \tilde\mu_{t-1}(x) + \sqrt{\beta_t} \, \tilde\sigma_{t-1}(x), \quad
        \tilde K = K \circ D, \quad D_{ij} = (1 - \epsilon)^{|i - j| / 2}

    The mean and the standard deviation are those of the kernel matrix with the decay D, eqs.
    (7)-(8). On arms, the drift of a round costs O(n), and the memory of the posterior is bounded,
    because data that have decayed are dropped; in a box see `BoxPosterior`.

    Args:
        epsilon: the drift rate; by default that of the problem. If the problem does not state it,
            it is learned with the hyperparameters that ``learn`` names, by default every 10 rounds
            from the last 200.
        temporal: the covariance in time, if it is not that of epsilon (see `Parts`); by default
            that of the problem.
        learn: see `Parts`. If it names epsilon, fits start from ``epsilon``, and that value is used
            until the first fit.
        standardize: see `Parts`.
        beta: see `GPUCB`; 0.8 log(4 t) by default, and 2 with a kernel ``temporal``.
    Raises:
        InvalidInput: epsilon is to be learned with a noise variance of 0, where the likelihood is
            undefined.
    Source: bogunovic2016, Algorithm 2.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=LOG_TIME))
    assumes_drift = True

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        epsilon: float | None = None,
        temporal: TemporalKernel | Settings | None = None,
        **settings: Any,
    ) -> None:
        learning = learning_for(settings.get("learn"), settings.get("standardize", False))
        if epsilon is None and temporal is None and not (learning and learning.drifts):
            epsilon, temporal = problem.epsilon, problem.temporal
            if epsilon is None and temporal is None:
                learning = learning or Learning(what=())
                learning = replace(learning, what=(*learning.what, "epsilon"))
        if drift_of(epsilon, temporal)[1] is not None:
            settings.setdefault("beta", DRIFTING)
        settings["learn"] = learning
        super().__init__(problem, rng, epsilon=epsilon, temporal=temporal, **settings)

    @property
    def epsilon(self) -> float | None:
        """The drift rate in use, as given or as last learned; None with a temporal kernel."""
        model = self.conditioned.model
        return model.epsilon if model.temporal is None else None

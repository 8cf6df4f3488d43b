"""GP-UCB.

Paper: srinivas2010, Algorithm 1, eq. (6); beta_t of Theorem 1 over 5, as in its experiments.
Assumes: k(x, x) <= 1, Gaussian noise of known variance.
Departures: 1. ties (see `leader`) go to the lowest index; 2. in a box, a local search from many
starts maximizes the bound; 3. a batch is chosen by hallucinated variance (see `Parts`); 4. beta
is 2 in a box where the model is learned, and where the agent is told how the function drifts.
"""

from functools import partial
from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import DRIFTING, LEARNED, THEOREM_OVER_5, Beta
from gpbandits_env.agents.data.keep import drift_of
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.gp.learning import learning_for
from gpbandits_env.problem import Problem


class GPUCB(GPAgent):
    r"""The action with the largest upper confidence bound.

    .. math:: x_t = \arg\max_x \mu_{t-1}(x) + \sqrt{\beta_t} \, \sigma_{t-1}(x)

    Args:
        beta: a schedule as a dict, e.g. {"type": "finite", "delta": 0.1, "scale": 0.2} (types:
            srinivas2010, finite, continuous, rkhs, constant, log, subspaces, igp, robust,
            randomised), or a number. The default is 2 with ``epsilon`` or ``temporal``, and in a
            box if the model is learned, because the theorems assume a known function that stays as
            it is. Otherwise it is Theorem 1 over 5, in a box Theorem 2 over 5 with a = b = 1 or, if
            the agent chooses among candidates, Theorem 1 over 5 with |D| the number of candidates.
    Source: srinivas2010, Algorithm 1.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=THEOREM_OVER_5))

    def __init__(
        self, problem: Problem, rng: Generator, *, beta: Beta | None = None, **settings: Any
    ) -> None:
        if beta is None:
            learning = learning_for(settings.get("learn"), False)
            beta = THEOREM_OVER_5 if problem.domain.finite or learning is None else LEARNED
            epsilon, temporal = drift_of(settings.get("epsilon"), settings.get("temporal"))
            if epsilon or temporal is not None:
                beta = DRIFTING
        super().__init__(problem, rng, beta=beta, **settings)

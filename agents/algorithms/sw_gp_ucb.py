"""SW-GP-UCB: GP-UCB on a sliding window of the last rounds.

Paper: Zhou and Shroff (2021), "No-Regret Algorithms for Time-Varying Bayesian Optimization"; it
complements the two algorithms of bogunovic2016.
Assumes: what GP-UCB assumes, within the window.
Departures: 1. by default beta_t is that of the experiments of bogunovic2016.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME, Beta
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class SWGPUCB(GPAgent):
    """GP-UCB on the observations of the last ``window`` rounds.

    Cost: in each round, the posterior is computed again from the observations of the window.

    Args:
        window: the number of rounds W, at least 1.
        beta: see `GPUCB`; 0.8 log(4 t) by default.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        window: int = 50,
        beta: Beta = LOG_TIME,
        **parts: Any,
    ) -> None:
        super().__init__(problem, rng, ConfidenceBound(beta), window=window, **parts)

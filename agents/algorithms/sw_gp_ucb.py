"""SW-GP-UCB: GP-UCB on a sliding window of the last rounds.

Paper: Zhou and Shroff (2021), "No-Regret Algorithms for Time-Varying Bayesian Optimization"; a
companion of bogunovic2016's two algorithms.
Assumes: as GP-UCB, within the window.
Departures: 1. beta_t is that of bogunovic2016's experiments unless given.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME, Beta
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class SWGPUCB(GPAgent):
    """GP-UCB that has seen only the last ``window`` rounds.

    Cost: in every round the posterior is conditioned anew on the window's observations.

    Args:
        window: W >= 1 rounds.
        beta: as of `GPUCB`; 0.8 log(4 t) by default.
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

"""Maximum variance: pure exploration, greedy experimental design.

Paper: srinivas2010, eq. (4).
Assumes: nothing more than the model; rewards do not matter.
Departures: those of `GPAgent`. Arms of equal variance may differ by rounding in coefficient space.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions import Variance
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class MaxVariance(GPAgent):
    """The action of the largest posterior variance; its information gain is within 1 - 1/e."""

    def __init__(self, problem: Problem, rng: Generator, **parts: Any) -> None:
        super().__init__(problem, rng, Variance(), **parts)

"""Maximum variance: pure exploration, greedy experimental design.

Paper: srinivas2010, eq. (4).
Assumes: nothing beyond the model; rewards have no effect.
Departures: those of `GPAgent`. In coefficient space, the computed variances of arms with equal
variance may differ by rounding.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions import Variance
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class MaxVariance(GPAgent):
    r"""The action with the largest posterior variance: greedy experimental design.

    .. math:: x_t = \arg\max_x \sigma_{t-1}(x)
    """

    def __init__(self, problem: Problem, rng: Generator, **parts: Any) -> None:
        super().__init__(problem, rng, Variance(), **parts)

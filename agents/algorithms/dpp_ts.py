"""DPP-TS.

Paper: Nava, Mutny & Krause (2022), Diversified sampling for batched Bayesian optimization with
determinantal point processes, Algorithm 1, as a baseline of ren2024.
Assumes: Gaussian noise of known variance, above 0.
Departures: 1. a chain of 50 steps (a setting of the rule); 2. those of `GPAgent`.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.batch import Batch
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class DPPTS(GPAgent):
    r"""A Thompson batch diversified by a determinantal point process.

    .. math:: P(x_{t,1}, \ldots, x_{t,m}) \propto \prod_i p_{TS}(x_{t,i}) \, \det(I + K_t / s^2)

    Args:
        batch: a batch rule that draws samples of the function.
    """

    def __init__(
        self, problem: Problem, rng: Generator, *, batch: Batch = "dpp", **parts: Any
    ) -> None:
        super().__init__(problem, rng, None, batch=batch, **parts)

"""Uniform random actions.

Paper: the lower baseline of bogunovic2016, Section 5.2, and ren2024.
Assumes: nothing.
Departures: none.
"""

from typing import Any

from numpy.random import Generator
from numpy.typing import NDArray

from gpbandits_env.agents.agent import Agent
from gpbandits_env.problem import Problem


class RandomAgent(Agent):
    """Each action uniform on the domain, independent of all others.

    Args:
        problem: where it acts; the model does not matter.
    """

    def __init__(self, problem: Problem, rng: Generator) -> None:
        super().__init__(problem, rng)

    def ask(self) -> NDArray[Any]:
        return self.problem.domain.sample(self.rng, self.batch_size)

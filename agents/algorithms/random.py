"""Uniform random actions.

Paper: the lower baseline of bogunovic2016, Section 5.2, and ren2024.
Assumes: nothing.
Departures: none.
"""

from typing import Any

from numpy.typing import NDArray

from gpbandits_env.agents.agent import Agent


class RandomAgent(Agent):
    """Each action is drawn uniformly from the domain, independently; the model has no effect."""

    def ask(self) -> NDArray[Any]:
        return self.problem.domain.sample(self.rng, self.batch_size)

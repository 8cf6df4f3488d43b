"""Uniform random actions.

Paper: the lower baseline of bogunovic2016, Section 5.2.
Assumes: nothing.
Departures: none.
"""

from numpy.typing import ArrayLike

from gpbandits_env.agents.agent import Agent
from gpbandits_env.arrays import Points


class RandomAgent(Agent):
    """Each action is drawn uniformly from the domain, independently; the model has no effect."""

    uses_contexts = True

    def ask(self, context: ArrayLike | None = None) -> Points:
        self.set_context(context)
        return self.problem.domain.sample(self.rng, self.batch_size)

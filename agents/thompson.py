"""Thompson sampling (TS).

Paper: Kandasamy et al. (2018), Algorithm 1 (synchronous), as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: none; the joint samples at the arms are exact.
"""

from gpbandits_env.agents.acquisitions import Acquisition, Mean
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import IntArray


class ThompsonSampling(GPAgent):
    """Each action of the batch maximises a posterior sample of its own."""

    def acquisition(self) -> Acquisition:  # noqa: D102
        return Mean()

    def choose(self) -> IntArray:  # noqa: D102
        return self.posterior.sample(self.rng, self.batch_size).argmax(axis=1)

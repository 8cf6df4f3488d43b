"""Thompson sampling (TS).

Paper: Kandasamy et al. (2018), Algorithm 1 (synchronous), as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. on arms none, the joint samples are exact; in a box they are drawn by random features
(exact in few dimensions for the squared exponential) and maximised from many starts, or exactly at
the candidates of search="round".
"""

from gpbandits_env.agents.acquisitions import Acquisition, Mean
from gpbandits_env.agents.gp_agent import GPAgent


class ThompsonSampling(GPAgent):
    """Each action of the batch maximises a posterior sample of its own."""

    DEFAULT_BATCH = "thompson"
    samples = True

    def acquisition(self) -> Acquisition:
        """The mean; the batch rules that score actions by it are refused."""
        return Mean()

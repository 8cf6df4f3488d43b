"""Maximum variance: pure exploration, greedy experimental design.

Paper: srinivas2010, eq. (4).
Assumes: nothing more than the model; rewards do not matter.
Departures: those of `GPAgent`. Arms of equal variance may differ by rounding in coefficient space.
"""

from gpbandits_env.agents.acquisitions import Acquisition, Variance
from gpbandits_env.agents.gp_agent import GPAgent


class MaxVariance(GPAgent):
    """The arm of the largest posterior variance; its information gain is within 1 - 1/e of best."""

    def acquisition(self) -> Acquisition:
        return Variance()

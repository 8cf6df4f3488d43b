"""Maximum mean: pure exploitation.

Paper: srinivas2010, Section 6 ("naive methods which choose points of maximum mean only").
Assumes: nothing more than the model.
Departures: those of `GPAgent`. With a constant prior mean all arms tie in the first round: arm 0 is
played.
"""

from gpbandits_env.agents.acquisitions import Acquisition, Mean
from gpbandits_env.agents.gp_agent import GPAgent


class MaxMean(GPAgent):
    """The arm of the largest posterior mean; a batch plays it m times."""

    def acquisition(self) -> Acquisition:
        return Mean()

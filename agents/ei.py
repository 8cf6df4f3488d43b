"""Expected improvement (EI).

Paper: Mockus et al. (1978), as a baseline of srinivas2010, Section 6.
Assumes: Gaussian noise of known variance.
Departures: 1. computed in logarithms (Ament et al. 2023), the same argmax; 2. the incumbent is the
largest posterior mean at a sampled arm, since srinivas2010 does not say (option: "observed");
3. those of `GPAgent`.
"""

from gpbandits_env.agents.acquisitions import Acquisition, LogEI
from gpbandits_env.agents.improvement import ImprovementAgent


class EI(ImprovementAgent):
    """The arm of the largest expected improvement E max(f(x) - incumbent - margin, 0)."""

    def acquisition(self) -> Acquisition:
        return LogEI(self.incumbent, self.margin)

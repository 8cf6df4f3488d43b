"""The search of a trust region: candidates that differ from its center in some coordinates.

Source: Eriksson et al. (2019), "Scalable Global Optimization via Local Bayesian Optimization",
Section 2 and Appendix B; Regis & Shoemaker (2013) for the perturbed coordinates.
"""

import numpy as np

from gpbandits_env.agents.search.candidates import spread
from gpbandits_env.agents.search.round import RoundCandidates, RoundSearch
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.posterior import BoxPosterior

# Each coordinate of a candidate differs from the center with probability min(1, CHANGED / d).
CHANGED = 20


class TrustRegionSearch(RoundSearch):
    """The best of candidates in a box around a center; they are drawn anew in each round.

    Args:
        box: the box of the posterior.
        rng: the generator of the candidates.
        count: the number of candidates.

    Attributes:
        low: (d,) the lower corner of the region.
        high: (d,) its upper corner.
        center: (d,) the center; outside the box the region is cut off.
    """

    def __init__(self, box: Box, rng: np.random.Generator, count: int) -> None:
        self.low, self.high = box.low, box.high
        self.center = 0.5 * (box.low + box.high)
        super().__init__(box, rng, RoundCandidates(count, refine=0, tops=0))

    def place(self, center: Array, sides: Array) -> None:
        """Place the region at a center (d,) of the box, with sides (d,) in its units."""
        self.center = center
        self.low = np.maximum(center - 0.5 * sides, self.box.low)
        self.high = np.minimum(center + 0.5 * sides, self.box.high)

    def _draw(self, posterior: BoxPosterior) -> Array:
        count, d = self.settings.candidates, self.box.dim
        points = spread(Box(self.low, self.high), count, self.rng)
        if d > CHANGED:
            changed = self.rng.random((count, d)) < CHANGED / d
            # A candidate without any change would be the center.
            changed[np.arange(count), self.rng.integers(d, size=count)] = True
            points = np.where(changed, points, self.center)
        return self.box.snap(points)

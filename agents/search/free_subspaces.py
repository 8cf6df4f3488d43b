"""The search of MS-UCB where its subspaces are not confined to uniform points.

This variant is ours. Z_t still holds the uniform points of Algorithm 1, so that the maximum is over
a larger set and the covering argument of the paper still applies to it. In addition, each round has
subspaces on the segment from the best observed point to the center of the box, and the searched
coordinates may be drawn anew in each round.
"""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.agents.search.subspaces import Growth, SubspaceSearch
from gpbandits_env.arrays import Array, leading, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import one_of
from gpbandits_env.posterior import BoxPosterior, Subspaces
from gpbandits_env.seeding import Streams

# The names of the streams of a round; `SubspaceSearch` has 0 to 2.
COORDINATES, SEGMENT = 3, 4


@dataclass(frozen=True)
class Freedom:
    """How subspaces differ from those of Algorithm 1.

    Args:
        rays: the number of further subspaces in each round, at least 0. They go through points
            c + a (x - c) for the best observed point x and the center c of the box: a = 1 for the
            first, and uniform in [0, 1] for the others.
        coordinates: "last" as in Algorithm 1, or "random" to search d random coordinates in each
            round; the other coordinates are then those of the points in Z_t.
    Raises:
        InvalidInput: rays is out of range.
        UnknownName: there is no such kind of coordinates.
    """

    rays: int
    coordinates: str

    def __post_init__(self) -> None:
        whole(self.rays, "rays", 0)
        one_of(self.coordinates, ("last", "random"), "kind of searched coordinates")

    @property
    def none(self) -> bool:
        """Whether the subspaces are those of Algorithm 1."""
        return not self.rays and self.coordinates == "last"


class FreeSubspaceSearch(SubspaceSearch):
    """Searches the uniform points Z_t and the subspaces that `Freedom` adds.

    The subspaces of a round are made anew from the data, so that a round costs O(S t D) for S
    subspaces. The draws depend only on the streams and the round, as in `SubspaceSearch`.
    """

    def __init__(
        self, box: Box, d: int, streams: Streams, growth: Growth, freedom: Freedom
    ) -> None:
        self._freedom = freedom
        super().__init__(box, d, streams, growth)

    def restart(self) -> None:
        self._uniform = np.empty((0, self._box.dim))
        self._made_for: tuple[int, object, int] | None = None
        self.round = 0
        self.reach(1)

    def reach(self, t: int, posterior: BoxPosterior | None = None) -> None:
        """Go to round t >= 1, with the subspaces of that round for the data of the posterior."""
        if t < self.round:
            self.restart()
        for now in range(self.round + 1, t + 1):
            count = self._growth.added(now, len(self._uniform))
            drawn = self._box.sample(self._streams.at(now, 0), count)
            self._uniform = np.concatenate([self._uniform, drawn])
        self.round = t
        if posterior is None:
            self._make(self._uniform)
        elif self._made_for != (t, posterior, posterior.version):
            self._make(np.concatenate([self._uniform, self._on_the_ray(posterior)]))
            self.subspaces.follow(posterior)
            self._made_for = (t, posterior, posterior.version)

    def _make(self, points: Array) -> None:
        """Make the subspaces of this round through points (S, D)."""
        if self._freedom.coordinates == "random":
            rng, d = self._streams.at(self.round, COORDINATES), len(self._active)
            self._active = np.sort(rng.choice(self._box.dim, d, replace=False))
            self._low, self._high = self._box.low[self._active], self._box.high[self._active]
        self.subspaces = Subspaces(self._box, self._active)
        self.subspaces.add(points[:, self.subspaces.inactive])

    def _on_the_ray(self, posterior: BoxPosterior) -> Array:
        """Points between the best observed point and the center of the box, (rays, D)."""
        observed, box = posterior.observed, self._box
        if not len(observed) or not self._freedom.rays:
            return np.empty((0, box.dim))
        best = observed[leading(posterior.mean_at_observed())]
        share = self._streams.at(self.round, SEGMENT).uniform(size=(self._freedom.rays, 1))
        share[0] = 1.0
        center = 0.5 * (box.low + box.high)
        return np.clip(center + share * (best - center), box.low, box.high)

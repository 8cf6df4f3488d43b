"""The search of a cube in which some coordinates stand for whole numbers or choices.

An acquisition maximized anywhere and rounded afterwards can ask for one and the same value for
ever, because its maximum lies between two. Here only points that stand for values are looked at,
and climbs move the continuous coordinates alone. (Agents that search somewhere else, in the small
box of an embedding or along a line, are rounded afterwards: on a line the point played is learned
and the next line is another; for an embedding see `Asked`.)

Departures from Garrido-Merchan & Hernandez-Lobato (2020), who round inside the kernel: 1. the
candidates are rounded instead, and the kernel sees only rounded points, which is the same belief.
"""

from typing import Any

import numpy as np

from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.arrays import Array, IntArray


class SnappedSearch(BoxSearch):
    """A `BoxSearch` over the points that stand for values of a space.

    Args:
        like: the search whose box, generator and settings it takes over.
        space: which points those are.
    """

    def __init__(self, like: BoxSearch, space: Space) -> None:
        super().__init__(like.box, like.rng, **vars(like.settings))
        self._space, self._free = space, space.free

    def _draw(self, posterior: Any) -> Array:
        return np.unique(self._admitted(super()._draw(posterior)), axis=0)

    def _admitted(self, points: Array) -> Array:
        return self._space.snap(points)

    def _climb(self, surface: Any, starts: Array, budget: int) -> tuple[Array, Array]:
        def along_free(x: Array, rows: IntArray) -> tuple[Array, Array]:
            values, gradients = surface(x, rows)
            return values, gradients * self._free

        return super()._climb(along_free, starts, budget)

    def sampled(self, posterior: Any, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        points, values = super().sampled(posterior, rng, size)
        return self._admitted(points), values

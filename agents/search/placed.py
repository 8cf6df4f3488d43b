"""The search over arms whose posterior is in a box, because their contexts are."""

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition, leader
from gpbandits_env.agents.search.base import Search, Within
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import BoxPosterior


class PlacedArmSearch(Search):
    """The exact search over n arms in one context of a box, O(n t (d + t)) per call.

    Args:
        arms: the arms; the other coordinates are fixed by `fix` before the first call.
    """

    def __init__(self, arms: Arms) -> None:
        self._coordinates = self._points = arms.coordinates

    def fix(self, domain: Domain, point: Array | None) -> None:
        if point is None:
            raise InvalidInput("arms cannot be searched without a context")
        fixed = point[self._coordinates.shape[1] :]
        rows = np.broadcast_to(fixed, (len(self._coordinates), len(fixed)))
        self._points = np.hstack([self._coordinates, rows])

    def best(
        self,
        acquisition: Acquisition,
        posterior: BoxPosterior,
        allowed: NDArray[np.bool_] | None = None,
    ) -> Array:
        mean, var = posterior.moments(self._points)
        score = acquisition.score(mean, var)
        if allowed is not None:
            if not allowed.any():
                raise InvalidInput("the region to search contains no arm")
            score[~allowed] = -np.inf
        return self._points[leader(score, mean, allowed)]

    def region(self, posterior: BoxPosterior, within: Within) -> NDArray[np.bool_]:
        return within(*posterior.moments(self._points))

    def sampled(
        self, posterior: BoxPosterior, rng: np.random.Generator, size: int
    ) -> tuple[Array, Array]:
        values = posterior.sample(rng, size, self._points)
        values = self._scaled(values, posterior.mean_at(self._points))
        top = values.argmax(axis=1)
        return self._points[top], values[np.arange(size), top]

    def options(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        return self._points.copy(), *posterior.moments(self._points)

    def here(self, posterior: BoxPosterior) -> Array:
        moved, d = posterior.observed, self._coordinates.shape[1]
        moved[:, d:] = self._points[0, d:]
        return moved

"""The maximum of a smooth random function in a box."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import cKDTree

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Box
from gpbandits_env.samplers import BoxSampler, sobol

# At most this many feature values are stored for the quasi-random points (128 MB).
KEPT = 16 * 2**20


class BoxMaximum:
    """Finds the maximum of f(x) = phi(x) . xi over a box, for one xi after another.

    L-BFGS-B with analytic gradients starts from the points of a Sobol set that exceed their
    neighbors. It ends at a local maximum, to within `accuracy`. This is the global maximum if the
    Sobol set is dense enough: for functions that vary over a twentieth of the box in one or two
    dimensions, or a fifth in three.

    Args:
        sampler: the features phi.
        box: the domain.
        starts: the largest number of local searches.
    """

    def __init__(self, sampler: BoxSampler, box: Box, starts: int = 16) -> None:
        self._sampler = sampler
        self._low, self._width = box.low, box.high - box.low
        self._starts = starts
        power = min(13, 9 + 2 * box.dim)
        unit = sobol(box.dim, power)
        self._points: Array = self._low + self._width * unit
        # A point is a local maximum of the set if none of its nearest neighbors is higher.
        near = min(len(unit), 2 * box.dim + 3)
        self._neighbours: IntArray = np.asarray(cKDTree(unit).query(unit, k=near)[1])
        kept = len(unit) * sampler.rank <= KEPT
        self._features = sampler.features(self._points) if kept else None

    def accuracy(self, coefficients: Array) -> float:
        """A bound on how far the value found is below the true (local) maximum.

        The bound is the rounding error of the features. Features of a squared exponential kernel
        cancel, which leaves up to 2e-9 of the largest coefficient (measured in 1 to 3 dimensions).
        """
        return 1e-8 * max(1.0, float(np.abs(coefficients).max()))

    def __call__(self, coefficients: Array) -> tuple[Array, float]:
        """The maximizer (d,) and its accuracy."""
        values = self._scan(coefficients)
        tops = np.flatnonzero(values >= values[self._neighbours].max(axis=1))
        starts = tops[np.argsort(-values[tops], kind="stable")[: self._starts]]
        best, best_value = self._points[starts[0]], values[starts[0]]
        for start in starts:
            point = self._climb(self._points[start], coefficients)
            value = float((self._sampler.features(point[None]) @ coefficients)[0])
            if value > best_value:
                best, best_value = point, value
        return np.array(best), self.accuracy(coefficients)

    def _scan(self, coefficients: Array) -> Array:
        if self._features is not None:
            return self._features @ coefficients
        rows = max(1, KEPT // (8 * self._sampler.rank))
        chunks = [self._points[i : i + rows] for i in range(0, len(self._points), rows)]
        return np.concatenate([self._sampler.features(c) @ coefficients for c in chunks])

    def _climb(self, start: Array, coefficients: Array) -> Array:
        def fall(unit: Any) -> Any:
            point = (self._low + self._width * unit)[None]
            value = float((self._sampler.features(point) @ coefficients)[0])
            slope = coefficients @ self._sampler.gradient(point)[0]
            return -value, -slope * self._width

        begin = (start - self._low) / self._width
        bounds = [(0.0, 1.0)] * len(start)
        end = minimize(
            fall,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 200, "ftol": 1e-15, "gtol": 1e-8},
        )
        top = self._low + self._width * end.x
        return np.clip(top, self._low, self._low + self._width)

"""Stationary kernels against fixed points, by matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

from gpbandits_env.arrays import Array
from gpbandits_env.kernels.columns import Columns, Pulled
from gpbandits_env.kernels.distances import FEW, distances

if TYPE_CHECKING:
    from gpbandits_env.kernels.stationary import Stationary

# Pairs closer than this fraction of their squared size are computed anew by differences: others
# have lost at most four digits of sixteen.
CLOSE = 1e-4
# With more such pairs than this fraction, all are computed by differences.
MANY_CLOSE = 0.05


class StationaryColumns(Columns):
    r"""v p(\|x - z_j\| / ell): |x|^2 - 2 x.z + |z|^2, exactly 0 at equal points.

    With weights w the gradients contract to a matrix product: sum_j w_j dk(x, z_j)/dx
    = -v (x sum_j w_j s_j - sum_j w_j s_j z_j) / ell^2, s_j the slope. Cost O(n m d), no (n, m, d).

    Args:
        kernel: the kernel.
        z: (m, d) the fixed points.
        centre: (d,) subtracted from all points, against cancellation.
    """

    def __init__(self, kernel: Stationary, z: Array, centre: Array) -> None:
        self._kernel, self._z, self._centre = kernel, z, centre
        self._inverse = 1.0 / np.asarray(kernel.lengthscale)
        self._scaled = self._in_units(z)
        self._norms = np.einsum("ij,ij->i", self._scaled, self._scaled)

    def __call__(self, x: Array) -> Array:
        k = self._kernel.profile(self._distances(x, None))
        if self._kernel.variance != 1.0:
            k *= self._kernel.variance
        return k

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        scaled = self._in_units(x)
        k, slope = self._kernel.profile_and_slope(self._distances(x, scaled))
        variance = self._kernel.variance
        if variance != 1.0:
            k *= variance

        def pulled(weights: Array) -> Array:
            steep = slope * weights
            out: Array = steep @ self._scaled
            out -= steep.sum(axis=1)[:, None] * scaled
            out *= variance * self._inverse
            return out

        return k, pulled

    def _in_units(self, x: Array) -> Array:
        scaled: Array = x - self._centre
        scaled *= self._inverse
        return scaled

    def _distances(self, x: Array, scaled: Array | None) -> Array:
        """(n, m) scaled distances; ``scaled`` is x in units of ell if it is at hand."""
        if x.shape[1] <= FEW:
            return distances(x, self._z, self._kernel.scale)
        scaled = self._in_units(x) if scaled is None else scaled
        square = squares(scaled, self._scaled, self._norms)
        np.sqrt(square, out=square)
        return square


def squares(x: Array, z: Array, norms: Array) -> Array:
    """|x_i - z_j|^2, fresh (n, m), by a matrix product; exactly 0 at equal points.

    Args:
        x: (n, d).
        z: (m, d).
        norms: (m,) |z_j|^2.
    """
    own = np.einsum("ij,ij->i", x, x)
    square: Array = (-2.0 * x) @ z.T
    square += norms
    square += own[:, None]
    if not square.size or square.min() >= CLOSE * (own.max() + norms.max()):
        return square
    close = np.flatnonzero(square < CLOSE * np.add.outer(own, norms))
    if len(close) > MANY_CLOSE * square.size + 64:
        return np.asarray(cdist(x, z, "sqeuclidean"))
    i, j = np.divmod(close, len(z))
    difference = x[i] - z[j]
    square.ravel()[close] = np.einsum("ij,ij->i", difference, difference)
    return square

"""Product kernels in a box: products of exact one-dimensional low-rank features."""

from functools import reduce

import numpy as np
from scipy.linalg import solve_triangular

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import pivoted_cholesky
from gpbandits_env.samplers.base import BoxSampler

# Pivots are picked from this many even points an axis.
LINE = 400
TOLERANCE = 1e-13
MOST_RANK = 100


class AxisFeatures:
    """phi(x) = L_P^-1 k(P, x) on pivots P of one axis.

    Args:
        kernel: one-dimensional.
        low: the axis's lower end.
        high: its upper end.
    Raises:
        InvalidInput: the kernel's rank on the axis is above 100.
    """

    def __init__(self, kernel: Kernel, low: float, high: float) -> None:
        line = np.linspace(low, high, LINE)[:, None]
        found = pivoted_cholesky(
            lambda i: kernel(line[i : i + 1], line)[0], kernel.diagonal(line), TOLERANCE, MOST_RANK
        )
        if found is None:
            raise InvalidInput(
                f"the kernel {kernel.type_name!r} has a rank above {MOST_RANK} on "
                f"[{low:g}, {high:g}]; use random Fourier features"
            )
        factor, pivots, self.error = found
        self.kernel, self.pivots, self.rank = kernel, line[pivots], len(pivots)
        # The factor's rows at the pivots are their Cholesky factor.
        self._lower = np.tril(factor[pivots])

    def features(self, x: Array) -> Array:
        """The features phi at x (n, 1): (n, rank)."""
        return solve_triangular(self._lower, self.kernel(self.pivots, x), lower=True).T

    def slopes(self, x: Array) -> Array:
        """Their derivatives d phi / dx at x (n, 1): (n, rank)."""
        slope = self.kernel.gradient(x, self.pivots)[:, :, 0]
        return solve_triangular(self._lower, slope.T, lower=True).T


class ProductFeatures(BoxSampler):
    """The outer product of the axes' features; for the squared exponential in few dimensions.

    `error` bounds the covariance at the points the pivots were picked from, 400 even ones an
    axis; between them it is of the same size (about 1e-12), gradients to about 1e-9.

    Cost: O(rank) a point, rank the product of the axes' ranks.

    Args:
        box: where; outside of it the features are not accurate.
        kernel: a product over axes.
    Raises:
        InvalidInput: the kernel is no product over axes, or too rough for its box.
    """

    def __init__(self, box: Box, kernel: Kernel) -> None:
        kernels = kernel.axis_kernels(box.dim)
        if kernels is None:
            raise InvalidInput(
                f"the kernel {kernel.type_name!r} is no product over axes; use 'fourier'"
            )
        ends = zip(kernels, box.low, box.high, strict=True)
        self.axes = tuple(AxisFeatures(k, float(a), float(b)) for k, a, b in ends)
        self.rank = int(np.prod([axis.rank for axis in self.axes]))
        variance = float(kernel.diagonal(box.low[None, :])[0])
        self.error = variance * sum(axis.error for axis in self.axes)

    @staticmethod
    def fits(box: Box, kernel: Kernel, most_features: int) -> bool:
        """Whether the exact features exist and are at most so many."""
        kernels = kernel.axis_kernels(box.dim)
        if kernels is None or not kernel.is_stationary:
            return False
        try:
            return ProductFeatures(box, kernel).rank <= most_features
        except InvalidInput:
            return False

    def features(self, x: Array) -> Array:  # noqa: D102
        return reduce(_outer, (a.features(x[:, i : i + 1]) for i, a in enumerate(self.axes)))

    def gradient(self, x: Array) -> Array:  # noqa: D102
        columns = [x[:, i : i + 1] for i in range(len(self.axes))]
        plain = [a.features(c) for a, c in zip(self.axes, columns, strict=True)]
        by_axis = []
        for i, axis in enumerate(self.axes):
            slope = axis.slopes(columns[i])
            by_axis.append(reduce(_outer, [*plain[:i], slope, *plain[i + 1 :]]))
        return np.stack(by_axis, axis=2)


def _outer(a: Array, b: Array) -> Array:
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)

"""Product kernels in a box: products of exact one-dimensional low-rank features."""

from functools import reduce

import numpy as np
from scipy.linalg import solve_triangular

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import EPS, pivoted_cholesky
from gpbandits_env.samplers.base import BoxSampler, row_products

# Pivots are picked from this many even points an axis, and tried on so many times more.
LINE, FINER = 400, 4
TOLERANCE = 1e-13
# Of an axis. At rank 100 the line has but four points a pivot, and no longer stands for the axis.
MOST_RANK = 100
MOST_FEATURES = 20000
# Relative to the variance; an axis that is worse between the points of its line is refused.
ACCURATE = 1e-11


class AxisFeatures:
    """phi(x) = L_P^-1 k(P, x) on pivots P of one axis.

    Args:
        kernel: one-dimensional.
        low: the axis's lower end.
        high: its upper end.

    Attributes:
        top: the largest variance on the axis.
        error: the largest |k(x, x) - phi(x)^T phi(x)| found on 1600 even points; since what is
            missing is itself a covariance function, no pair of these points errs by more.

    Raises:
        InvalidInput: the kernel is too rough for the axis.
    """

    def __init__(self, kernel: Kernel, low: float, high: float) -> None:
        line = np.linspace(low, high, LINE)[:, None]
        found = pivoted_cholesky(
            lambda i: kernel(line[i : i + 1], line)[0], kernel.diagonal(line), TOLERANCE, MOST_RANK
        )
        if found is None:
            raise InvalidInput(_rough(kernel, low, high, f"its rank is above {MOST_RANK}"))
        factor, pivots, _ = found
        self.kernel, self.pivots, self.rank = kernel, line[pivots], len(pivots)
        # The factor's rows at the pivots are their Cholesky factor.
        self._lower = np.tril(factor[pivots])
        between = np.linspace(low, high, FINER * LINE)[:, None]
        missing = kernel.diagonal(between) - np.square(self.features(between)).sum(axis=1)
        self.error = float(np.abs(missing).max())
        self.top = float(kernel.diagonal(between).max())
        if self.error > ACCURATE * self.top:
            raise InvalidInput(_rough(kernel, low, high, f"its error is {self.error:.2g}"))

    def features(self, x: Array) -> Array:
        """The features phi at x (n, 1): (n, rank)."""
        return solve_triangular(self._lower, self.kernel(self.pivots, x), lower=True).T

    def slopes(self, x: Array) -> Array:
        """Their derivatives d phi / dx at x (n, 1): (n, rank)."""
        slope = self.kernel.gradient(x, self.pivots)[:, :, 0]
        return solve_triangular(self._lower, slope.T, lower=True).T


class ProductFeatures(BoxSampler):
    """The outer product of the axes' features; for the squared exponential in few dimensions.

    `error` bounds the covariance's error on a grid of 1600 even points an axis; it is of the size
    of 1e-12, and that of gradients 1e-9. Outside the box the features are not accurate.

    Cost: O(rank) a point, rank the product of the axes' ranks.

    Args:
        box: where.
        kernel: a product over axes.
        most_features: the largest rank wanted.

    Raises:
        InvalidInput: the kernel is no product over axes, too rough for its box, or needs more
            features than wanted.
    """

    def __init__(self, box: Box, kernel: Kernel, most_features: int = MOST_FEATURES) -> None:
        kernels = kernel.axis_kernels(box.dim)
        if kernels is None:
            raise InvalidInput(
                f"the kernel {kernel.type_name!r} is no product over axes in {box.dim} "
                "dimensions, as the squared exponential is; use 'fourier'"
            )
        axes: list[AxisFeatures] = []
        self.rank = 1
        for own, low, high in zip(kernels, box.low.tolist(), box.high.tolist(), strict=True):
            axes.append(AxisFeatures(own, low, high))
            self.rank *= axes[-1].rank
            if self.rank > most_features:
                raise InvalidInput(
                    f"exact features of the kernel {kernel.type_name!r} on {box.dim} axes are "
                    f"more than {most_features}; use 'fourier'"
                )
        self.axes = tuple(axes)
        tops = np.array([axis.top for axis in axes])
        errors = np.array([axis.error for axis in axes])
        # Of a product of covariances, each within an error of a variance.
        self.error = float(np.prod(tops + errors) - np.prod(tops)) + 8.0 * EPS * float(tops.prod())

    def features(self, x: Array) -> Array:
        return reduce(row_products, (a.features(x[:, i : i + 1]) for i, a in enumerate(self.axes)))

    def gradient(self, x: Array) -> Array:
        columns = [x[:, i : i + 1] for i in range(len(self.axes))]
        plain = [a.features(c) for a, c in zip(self.axes, columns, strict=True)]
        by_axis = []
        for i, axis in enumerate(self.axes):
            slope = axis.slopes(columns[i])
            by_axis.append(reduce(row_products, [*plain[:i], slope, *plain[i + 1 :]]))
        return np.stack(by_axis, axis=2)


def _rough(kernel: Kernel, low: float, high: float, why: str) -> str:
    return (
        f"the kernel {kernel.type_name!r} is too rough for exact features on [{low:g}, {high:g}]: "
        f"{why}; use 'fourier'"
    )

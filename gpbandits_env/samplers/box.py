"""Draws in a box: random Fourier features, or exact products of one-dimensional features."""

from functools import reduce

import numpy as np
from scipy.linalg import solve_triangular

from gpbandits_env.arrays import Array, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import EPS, pivoted_cholesky
from gpbandits_env.samplers.base import BoxSampler, row_products

# Angles are computed in pieces of so many (1 MB in single precision), which stay in cache.
STRIP = 1 << 18
# Amplitudes whose multiples single precision holds with all its digits.
SINGLE = (1e-30, 1e30)
# Pivots are picked from this many even points of an axis, and checked on so many times more.
LINE, FINER = 400, 4
TOLERANCE = 1e-13
# Of an axis: at rank 100 there are only four points per pivot.
MOST_RANK = 100
MOST_FEATURES = 20000
# Relative to the variance; an axis with a larger error between the points is refused.
ACCURATE = 1e-11


class FourierFeatures(BoxSampler):
    r"""phi(x) = sqrt(2 v / m) [cos(W x), sin(W x)], the m/2 rows of W from the kernel's spectrum.

    Cost: O(m d) per point. `error` is two standard errors of the covariance at one pair of points,
    2 v / sqrt(m): 0.06 for 1024 features and v = 1; it is no bound.

    Raises:
        InvalidInput: a kernel without a known spectral density, or an odd number m of features.
    Source: Rahimi and Recht (2007).
    """

    def __init__(self, kernel: Kernel, dim: int, features: int, rng: np.random.Generator) -> None:
        if whole(features, "features", 2) % 2:
            raise InvalidInput(f"features must be even (a cosine and a sine each), got {features}")
        self.frequencies = kernel.frequencies(rng, features // 2, dim)
        self.rank = features
        variance = float(kernel.diagonal(np.zeros((1, dim)))[0])
        self._scale = np.sqrt(2.0 * variance / features)
        self.error = 2.0 * variance / np.sqrt(features)

    def features(self, x: Array) -> Array:
        angles = x @ self.frequencies.T
        return self._scale * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)

    def gradient(self, x: Array) -> Array:
        angles = x @ self.frequencies.T
        slopes = self._scale * np.concatenate([-np.sin(angles), np.cos(angles)], axis=1)
        return slopes[:, :, None] * np.concatenate([self.frequencies, self.frequencies])

    def values(self, x: Array, xi: Array) -> Array:
        """The functions phi(x)^T xi at x (n, d) for xi (size, rank): (size, n).

        In single precision, several times faster than `features`; the error is about 1e-7 of the
        standard deviation times the largest angle W x.
        """
        half = self.rank // 2
        # What single precision may not hold is multiplied in afterwards.
        held = SINGLE[0] < self._scale < SINGLE[1]
        weights = (self._scale * xi if held else xi).astype(np.float32)
        frequencies = self.frequencies.astype(np.float32)
        out = np.empty((len(xi), len(x)))
        step = max(1, STRIP // half)
        for start in range(0, len(x), step):
            part = slice(start, start + step)
            angles = frequencies @ x[part].astype(np.float32).T
            waves = np.cos(angles)
            out[:, part] = weights[:, :half] @ waves
            np.sin(angles, out=waves)
            out[:, part] += weights[:, half:] @ waves
        if not held:
            out *= self._scale
        return out

    def pull(self, x: Array, xi: Array) -> tuple[Array, Array]:
        angles = x @ self.frequencies.T
        cosine, sine = np.cos(angles), np.sin(angles)
        even, odd = np.split(self._scale * xi, 2, axis=1)
        values = np.einsum("ij,ij->i", cosine, even) + np.einsum("ij,ij->i", sine, odd)
        return values, (cosine * odd - sine * even) @ self.frequencies


class ProductFeatures(BoxSampler):
    """The outer product of the axes' features; for the squared exponential in few dimensions.

    `error` bounds the covariance's error on a grid of 1600 even points per axis; it is about 1e-12,
    and that of gradients 1e-9. Outside the box the features are not accurate.

    Cost: O(rank) per point; the rank is the product of the axes' ranks.

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
        axes: list[_Axis] = []
        self.rank = 1
        for own, low, high in zip(kernels, box.low.tolist(), box.high.tolist(), strict=True):
            axes.append(_Axis(own, low, high))
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
        columns = [(axis, x[:, i : i + 1]) for i, axis in enumerate(self.axes)]
        plain = [axis.features(column) for axis, column in columns]
        by_axis = [
            reduce(row_products, [*plain[:i], axis.slopes(column), *plain[i + 1 :]])
            for i, (axis, column) in enumerate(columns)
        ]
        return np.stack(by_axis, axis=2)


class _Axis:
    """phi(x) = L_P^-1 k(P, x) on pivots P of one axis [low, high], for a kernel of one dimension.

    ``top`` is the largest variance, ``error`` the largest |k(x, x) - phi(x)^T phi(x)|, on 1600 even
    points; what is missing is itself a covariance, so no pair of these points errs by more.
    """

    def __init__(self, kernel: Kernel, low: float, high: float) -> None:
        line = np.linspace(low, high, LINE)[:, None]
        found = pivoted_cholesky(
            lambda i: kernel(line[i : i + 1], line)[0], kernel.diagonal(line), TOLERANCE, MOST_RANK
        )
        why = f"its rank is above {MOST_RANK}"
        if found is not None:
            factor, pivots, _ = found
            self.kernel, self.pivots, self.rank = kernel, line[pivots], len(pivots)
            # The factor's rows at the pivots are their Cholesky factor.
            self._lower = np.tril(factor[pivots])
            between = np.linspace(low, high, FINER * LINE)[:, None]
            missing = kernel.diagonal(between) - np.square(self.features(between)).sum(axis=1)
            self.error = float(np.abs(missing).max())
            self.top = float(kernel.diagonal(between).max())
            why = f"its error is {self.error:.2g}" if self.error > ACCURATE * self.top else ""
        if why:
            raise InvalidInput(
                f"the kernel {kernel.type_name!r} is too rough for exact features on "
                f"[{low:g}, {high:g}]: {why}; use 'fourier'"
            )

    def features(self, x: Array) -> Array:
        return solve_triangular(self._lower, self.kernel(self.pivots, x), lower=True).T

    def slopes(self, x: Array) -> Array:
        slope = self.kernel.gradient(x, self.pivots)[:, :, 0]
        return solve_triangular(self._lower, slope.T, lower=True).T

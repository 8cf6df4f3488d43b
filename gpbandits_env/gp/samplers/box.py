"""Draws in a box: random Fourier features, or exact products of one-dimensional features."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from scipy.linalg import solve_triangular

from gpbandits_env.arrays import Array, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.linalg import EPS, pivoted_cholesky
from gpbandits_env.gp.samplers.sampler import BoxSampler, row_products

# Angles are computed in blocks of this many (1 MB in single precision), which stay in cache.
STRIP = 1 << 18
# Within these amplitudes, single precision keeps all of its digits.
SINGLE = (1e-30, 1e30)
# Pivots are chosen among this many even points of an axis, and checked on this many times more.
LINE, FINER = 400, 4
TOLERANCE = 1e-13
# The largest rank of an axis: at rank 100 there are only four points per pivot.
MOST_RANK = 100
# Each evaluation of a point reads all features.
MOST_FEATURES = 4096
# Relative to the variance: an axis with a larger error between the points is refused.
ACCURATE = 1e-11
# Features smaller than this, relative to the largest, do not count as waves of an axis.
SEEN = 1e-2


class FourierFeatures(BoxSampler):
    r"""Random Fourier features, with the m/2 rows of W drawn from the spectral density.

    .. math:: \phi(x) = \sqrt{2 v / m}\, [\cos(W x), \sin(W x)]

    Cost: O(m d) per point. `error` is two standard errors of the covariance at one pair of points,
    2 v / sqrt(m), which is 0.06 for 1024 features and v = 1. It is not a bound.

    Raises:
        InvalidInput: the kernel has no known spectral density, or the number m of features is odd.
    Source: Rahimi and Recht (2007).
    """

    def __init__(self, kernel: Kernel, dim: int, features: int, rng: np.random.Generator) -> None:
        if whole(features, "features", 2) % 2:
            raise InvalidInput(f"features must be even (pairs of cosine and sine), got {features}")
        self.frequencies = kernel.frequencies(rng, features // 2, dim)
        self.rank, self.fastest = features, np.abs(self.frequencies).max(axis=0)
        variance = float(kernel.diagonal(np.zeros((1, dim)))[0])
        self._scale = np.sqrt(2.0 * variance / features)
        self.error = 2.0 * variance / np.sqrt(features)

    def _waves(self, x: Array) -> tuple[Array, Array]:
        angles = x @ self.frequencies.T
        return np.cos(angles), np.sin(angles)

    def features(self, x: Array) -> Array:
        return self._scale * np.concatenate(self._waves(x), axis=1)

    def gradient(self, x: Array) -> Array:
        cosine, sine = self._waves(x)
        slopes = self._scale * np.concatenate([-sine, cosine], axis=1)
        return slopes[:, :, None] * np.concatenate([self.frequencies, self.frequencies])

    def values(self, x: Array, xi: Array) -> Array:
        """The values phi(x)^T xi (size, n) at points x (n, d), for coefficients xi (size, rank).

        Single precision makes this several times faster than `features`; the error is about 1e-7 of
        the standard deviation times the largest angle W x.
        """
        half = self.rank // 2
        # A factor that single precision may not represent is multiplied in afterwards.
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

    def sums(self, x: Array, steps: Array, xi: Array) -> Array:
        """See `BoxSampler.sums`. Cost: (n + m) rank waves and a matrix product."""
        even, odd = np.split(self._scale * xi, 2)
        (cosine, sine), (along, across) = self._waves(x), self._waves(steps)
        values: Array = (even * cosine + odd * sine) @ along.T
        values += (odd * cosine - even * sine) @ across.T
        return values

    def pull(self, x: Array, xi: Array) -> tuple[Array, Array]:
        cosine, sine = self._waves(x)
        even, odd = np.split(self._scale * xi, 2, axis=1)
        values = np.einsum("ij,ij->i", cosine, even) + np.einsum("ij,ij->i", sine, odd)
        return values, (cosine * odd - sine * even) @ self.frequencies


class ProductFeatures(BoxSampler):
    """Outer products of one-dimensional features, for the squared exponential in few dimensions.

    `error` bounds the error of the covariance on a grid of 1600 even points per axis. It is mostly
    below 1e-12; that of gradients is about 1e-9. The features are not accurate outside the box.

    Cost: O(rank) per point; the rank is the product of the ranks of the axes.

    Raises:
        InvalidInput: the kernel is not a product over axes, is too rough for the box, or needs more
            than 4096 features.
    """

    def __init__(self, box: Box, kernel: Kernel) -> None:
        kernels = kernel.axis_kernels(box.dim)
        if kernels is None:
            raise InvalidInput(f"the kernel {kernel.type_name!r} is not a product over axes")
        axes: list[_Axis] = []
        self.rank = 1
        for own, low, high in zip(kernels, box.low.tolist(), box.high.tolist(), strict=True):
            axes.append(_Axis(own, low, high))
            self.rank *= axes[-1].rank
            if self.rank > MOST_FEATURES:
                raise InvalidInput(f"more than {MOST_FEATURES} exact features are needed")
        self.axes = tuple(axes)
        self.fastest = np.array([axis.fastest for axis in axes])
        tops = np.array([axis.top for axis in axes])
        errors = np.array([axis.error for axis in axes])
        # The error of a product of covariances, where each factor has its own error and variance.
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


class JoinedFeatures(BoxSampler):
    """The features of a sum of independent functions, term after term.

    Args:
        parts: the features of each term.
    """

    def __init__(self, parts: Sequence[BoxSampler]) -> None:
        self._parts, self.rank = tuple(parts), sum(part.rank for part in parts)
        self.error = sum(part.error for part in parts)
        self.fastest = np.max([part.fastest for part in parts], axis=0)

    @property
    def parts(self) -> tuple[BoxSampler, ...]:
        return self._parts

    def features(self, x: Array) -> Array:
        return np.concatenate([part.features(x) for part in self.parts], axis=1)

    def gradient(self, x: Array) -> Array:
        return np.concatenate([part.gradient(x) for part in self.parts], axis=1)

    def values(self, x: Array, xi: Array) -> Array:
        pairs = zip(self.parts, self.split(xi), strict=True)
        return reduce(np.add, [part.values(x, own) for part, own in pairs])

    def pull(self, x: Array, xi: Array) -> tuple[Array, Array]:
        pairs = zip(self.parts, self.split(xi), strict=True)
        values, slopes = zip(*(part.pull(x, own) for part, own in pairs), strict=True)
        return reduce(np.add, values), reduce(np.add, slopes)


def joined_features(parts: Sequence[BoxSampler]) -> BoxSampler:
    """The features of a sum; those of a single term are unchanged."""
    return parts[0] if len(parts) == 1 else JoinedFeatures(parts)


class _Axis:
    """phi(x) = L_P^-1 k(P, x) on pivots P of one axis [low, high], for a one-dimensional kernel.

    ``top`` is the largest variance and ``error`` the largest |k(x, x) - phi(x)^T phi(x)| on 1600
    even points. The remainder is itself a covariance, so this bounds the error of all pairs.
    """

    def __init__(self, kernel: Kernel, low: float, high: float) -> None:
        line = np.linspace(low, high, LINE)[:, None]
        found = pivoted_cholesky(
            lambda i: kernel(line[i : i + 1], line)[0], kernel.diagonal(line), TOLERANCE, MOST_RANK
        )
        why = f"its rank is above {MOST_RANK}, or it is no covariance function"
        if found is not None:
            factor, pivots, _ = found
            self.kernel, self.pivots, self.rank = kernel, line[pivots], len(pivots)
            # The rows of the factor at the pivots are the Cholesky factor of the pivots.
            self._lower = np.tril(factor[pivots])
            between = np.linspace(low, high, FINER * LINE)[:, None]
            missing = kernel.diagonal(between) - np.square(self.features(between)).sum(axis=1)
            self.error = float(np.abs(missing).max())
            self.top = float(kernel.diagonal(between).max())
            sizes = np.linalg.norm(self.features(line), axis=0)
            seen = sizes > SEEN * sizes.max()
            slopes = np.linalg.norm(self.slopes(line), axis=0)
            self.fastest = float((slopes[seen] / sizes[seen]).max())
            why = f"its error is {self.error:.2g}" if self.error > ACCURATE * self.top else ""
        if why:
            raise InvalidInput(f"the kernel is too rough on [{low:g}, {high:g}]: {why}")

    def features(self, x: Array) -> Array:
        return solve_triangular(self._lower, self.kernel(self.pivots, x), lower=True).T

    def slopes(self, x: Array) -> Array:
        slope = self.kernel.gradient(x, self.pivots)[:, :, 0]
        return solve_triangular(self._lower, slope.T, lower=True).T

"""The inverse Cholesky factor W of a covariance matrix, extended by rows and applied to points.

With K + s^2 I = L L^T, W = L^-1 is stored instead of L. Then W k_t(x) for many x is a matrix
product, which is several times faster than a triangular solve, and appending k points costs
O(k t^2). Rounding grows with the condition number of K + s^2 I. If it exceeds the noise, no block
can be appended, and all points are factorized anew.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.gp.kernels.columns import Pulled
from gpbandits_env.gp.threads import OneThread

# The number of observations that are processed together.
BLOCK = 64
# Cross-covariances (n, t) are processed in pieces of this many numbers (half a MB), which fit the
# cache, and of at least FEWEST points, because otherwise reading W dominates the products.
PIECE, FEWEST = 1 << 16, 96
# Triangular products are computed in strips of this many columns.
STRIP = 64
# The number of quantities stored for each point of a box.
COLUMNS = 4


class Whitening:
    """The lower triangular W = L^-1, (t, t), in storage that doubles; t is ``count``."""

    def __init__(self, matrix: Array | None = None, reserved: int = 16) -> None:
        self.count = 0 if matrix is None else len(matrix)
        self._block = np.zeros((max(reserved, self.count),) * 2)
        if matrix is not None:
            self._block[: self.count, : self.count] = matrix

    @property
    def matrix(self) -> Array:
        """W, (t, t), a view that is valid until the next change."""
        return self._block[: self.count, : self.count]

    @property
    def reserved(self) -> int:
        """The number of points that fit the storage; rounding depends on the memory layout."""
        return len(self._block)

    def extend(self, cross: Array, gram: Array, floor: float) -> tuple[Array, Array, Array]:
        """Append k points with covariances ``cross`` (k, t) and ``gram`` (k, k), both overwritten.

        Returns:
            The new rows of L left of the diagonal block, (k, t), and the results of `whitener`.
        Raises:
            LinAlgError: see there; nothing is appended.
        """
        old, new = self.count, self.count + len(gram)
        white = self.matrix
        left = _triangular(cross, white.T, upper=True)
        gram -= left @ left.T
        corner, pivots = whitener(gram, floor)
        corner = np.tril(corner)  # removes rounding above the diagonal, which is never cleared
        if new > len(self._block):
            self._block = np.pad(white, (0, max(new, 2 * len(self._block)) - old))
        self._block[old:new, :old] = _triangular(-corner @ left, white, upper=False)
        self._block[old:new, old:new] = corner
        self.count = new
        return left, corner, pivots

    def remove(self, i: int) -> None:
        """Remove a point, O(t^2) by a rotation of each later row with one that collects column i.

        The last row then has no other entries, and is left out with the column. The rotations of
        `STRIP` rows are one product.
        """
        for start in range(i, self.count - 1, STRIP):
            rows = self.matrix[start : start + STRIP + 1, : start + STRIP + 1]
            turned = rotations(rows[:, i]) @ rows
            rows[:-1, :i], rows[:-1, i:-1] = turned[:-1, :i], turned[:-1, i + 1 :]
            rows[:-1, -1], rows[-1] = 0.0, turned[-1]
        self.count -= 1


def rotations(b: Array) -> Array:
    """The orthogonal matrix (k, k) of which k - 1 rotations of two rows map b to (0, ..., 0, |b|).

    After those with the rows up to j, the collected row is sum_k b_k W_k / sqrt(sum_k b_k^2).
    """
    squares = np.cumsum(b * b)
    turn = np.tril(np.outer(np.append(-b[1:], squares[-1] ** 0.5), b))
    turn[:-1].flat[1 :: len(b) + 1] = squares[:-1]
    turn[:-1] /= np.sqrt(squares[:-1] * squares[1:])[:, None]
    turn[-1] /= squares[-1]
    return turn


def _column(row: int) -> Any:
    return property(lambda data: data._columns[row, : data.count])


class BoxData:
    """Observed points, rewards, times and whitened residuals, in storage that doubles.

    Attributes:
        rewards: the rewards, a view (t,), as are all columns.
        stamps: the clock at each observation.
        noise: the variance of the noise of each reward.
        beta: W (y - m), with 0 for hallucinated points.
    """

    def __init__(self, dim: int) -> None:
        self._points, self._columns = np.empty((16, dim)), np.zeros((COLUMNS, 16))
        self.count, self.clock = 0, 0.0

    @property
    def points(self) -> Array:
        """The points, a view (t, d)."""
        return self._points[: self.count]

    rewards, stamps, noise, beta = (_column(row) for row in range(COLUMNS))

    def extend(self, points: Array, rewards: Array | float, noise: Array | float) -> None:
        """Append observations at the present clock, with 0 for beta."""
        start, end = self.count, self.count + len(points)
        if end > len(self._points):
            more = max(end, 2 * len(self._points)) - len(self._points)
            self._points = np.pad(self._points, ((0, more), (0, 0)))
            self._columns = np.pad(self._columns, ((0, 0), (0, more)))
        self._points[start:end] = points
        new = (rewards, self.clock, noise, 0.0)
        for row, values in zip(self._columns, new, strict=True):
            row[start:end] = values
        self.count = end

    def remove(self, i: int) -> None:
        """Remove an observation."""
        for column in (self._points, *self._columns):
            column[i : self.count - 1] = column[i + 1 : self.count].copy()
        self.count -= 1

    def drop(self, oldest: int, start: float) -> None:
        """Drop the oldest points, and count time from ``start`` on."""
        kept = self.count - oldest
        self._points[:kept] = self._points[oldest : self.count].copy()
        self._columns[:, :kept] = self._columns[:, oldest : self.count].copy()
        self._columns[1, :kept] -= start
        self.count, self.clock = kept, self.clock - start


class Predictor:
    r"""Posterior moments from prior moments and covariances k (n, t) with the t observations.

    With v = W (k o decay), the mean increases by v^T beta, and the variance decreases by |v|^2.
    These are matrix products, O(n t^2). W (t, t) is the inverse Cholesky factor of the data's
    covariance, beta (t,) is W (y - m), and decay (t,) are the factors of the covariances by the
    times of the observations, None if all are 1.
    """

    def __init__(self, white: Array, beta: Array, decay: Array | None) -> None:
        self.white = white if decay is None else white * decay
        self.beta = beta

    @cached_property
    def alpha(self) -> Array:
        """The weights of the covariances in the mean, (t,)."""
        return self.beta @ self.white

    def moments(self, mean: Array, var: Array, columns: Callable[[slice], Array]) -> None:
        """Convert the prior mean and variance (n,) to the posterior's, in place and in pieces.

        ``columns`` returns the covariances (k, t) of a range of points with the data.
        """
        with OneThread():
            for part in pieces(len(mean), len(self.beta)):
                v = _triangular(columns(part), self.white.T, upper=True)
                mean[part] += v @ self.beta
                var[part] -= np.einsum("ij,ij->i", v, v)
                del v  # Its memory is warm, and taken again for the next part.
        np.maximum(var, 0.0, out=var)

    def gradients(
        self,
        moments: tuple[Array, Array, Array, Array],
        pull: Callable[[slice], tuple[Array, Pulled]],
    ) -> tuple[Array, Array, Array, Array]:
        """The same for mean and variance (n,) and for their gradients (n, d), which are returned.

        ``pull`` returns the covariances (k, t) of a range and the contraction of their gradients.
        """
        mean, var, mean_slope, var_slope = moments
        with OneThread():
            for part in pieces(len(mean), len(self.beta)):
                k, pulled = pull(part)
                v = _triangular(k, self.white.T, upper=True)
                mean[part] += v @ self.beta
                var[part] -= np.einsum("ij,ij->i", v, v)
                v *= 2.0
                mean_slope[part] += pulled(self.alpha)
                var_slope[part] -= pulled(_triangular(v, self.white, upper=False))
                del k, pulled, v  # Their memory is warm, and taken again for the next part.
        np.maximum(var, 0.0, out=var)
        return moments


def _triangular(rows: Array, matrix: Array, upper: bool) -> Array:
    """The product of rows (n, t) with a triangular matrix (t, t), without its zeros."""
    t = len(matrix)
    if t <= STRIP or len(rows) == 1:  # one row costs little beside the reading of the matrix
        return rows @ matrix
    out = np.empty(rows.shape)
    for start in range(0, t, STRIP):
        strip = slice(start, start + STRIP)
        part = slice(strip.stop) if upper else slice(start, t)
        np.matmul(rows[:, part], matrix[part, strip], out=out[:, strip])
    return out


def pieces(points: int, columns: int) -> list[slice]:
    """Ranges of points whose covariances with ``columns`` data fit the cache; none without data."""
    step = max(FEWEST, PIECE // max(columns, 1))
    return [slice(start, start + step) for start in range(0, points if columns else 0, step)]


def whitener(gram: Array, floor: float) -> tuple[Array, Array]:
    """L^-1 (k, k) for the Cholesky factor L of ``gram`` (k, k), and L's squared pivots (k,).

    Raises:
        LinAlgError: a squared pivot is below the floor, which only rounding can cause.
    """
    lower: NDArray[Any] = np.linalg.cholesky(gram)
    pivots = lower.diagonal() ** 2
    if pivots.min() < floor:
        raise np.linalg.LinAlgError(f"a squared pivot is below {floor:g}")
    return np.linalg.inv(lower), pivots


def each_noise(noise_var: Array | None, usual: float, count: int) -> Array:
    """The noise variance of each observation, (count,): the usual one for NaN and for None."""
    if noise_var is None:
        return np.full(count, usual)
    return np.where(np.isnan(noise_var), usual, noise_var)


def observed_gain(var: float, noise_var: float) -> float:
    """1/2 log(1 + var / noise_var), the information of one observation; infinite without noise.

    A variance below 0 is rounding.
    """
    if noise_var > 0.0:
        return 0.5 * math.log1p(max(var, 0.0) / noise_var)
    return math.inf if var > 0.0 else 0.0

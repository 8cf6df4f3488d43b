"""Factors of posterior covariances: W, the inverse of a Cholesky factor, grown by rows and applied.

With K + s^2 I = L L^T, W = L^-1 is kept instead of L: W k_t(x) for many x is then a matrix product,
several times faster than a triangular solve, and appending k points costs O(k t^2). Its rounding is
that of a solve: cond(L) times 1e-16. Covariances may be singular to rounding.
"""

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.errors import NotPositiveDefinite
from gpbandits_env.kernels.columns import Pulled
from gpbandits_env.linalg import cholesky, symmetric_root
from gpbandits_env.posterior.base import Layout, Stateful, amount
from gpbandits_env.posterior.threads import OneThread

# The least squared pivot of a factor, as a part of the largest prior variance.
FLOOR = 1e-12
# So many observations are taken in together.
BLOCK = 64
# Cross-covariances (n, t) are worked on in pieces of so many numbers (half a MB), which stay in
# cache; but of no fewer points, or the products would wait for W.
PIECE, FEWEST = 1 << 16, 96
# Triangular products go by strips of so many columns.
STRIP = 128
# What is kept of each point of a box.
COLUMNS = ("rewards", "stamps", "beta")


class Whitening:
    """W = L^-1, (t, t) and lower triangular, in storage that doubles; t is ``count``."""

    def __init__(self, matrix: Array | None = None, reserved: int = 16) -> None:
        self.count = 0 if matrix is None else len(matrix)
        self._block = np.zeros((max(reserved, self.count),) * 2)
        if matrix is not None:
            self._block[: self.count, : self.count] = matrix

    @property
    def matrix(self) -> Array:
        """W (t, t): a view, good until the next change."""
        return self._block[: self.count, : self.count]

    @property
    def reserved(self) -> int:
        """How many points there is room for; products round by how rows are laid out."""
        return len(self._block)

    def extend(self, cross: Array, gram: Array, floor: float) -> tuple[Array, Array, Array, float]:
        """Append k points of covariances ``cross`` (k, t) and ``gram`` (k, k), overwritten.

        Returns:
            The new rows of L left of its diagonal block (k, t), then what `whitener` says of it.
        """
        old, new = self.count, self.count + len(gram)
        white = self.matrix
        left = cross @ white.T
        gram -= left @ left.T
        corner, pivots, jitter = whitener(gram, floor)
        corner = np.tril(corner)  # No dust of rounding above: those entries of W are never cleared.
        if new > len(self._block):
            block = np.zeros((max(new, 2 * len(self._block)),) * 2)
            block[:old, :old] = white
            self._block = block
        np.matmul(-corner @ left, white, out=self._block[old:new, :old])
        self._block[old:new, old:new] = corner
        self.count = new
        return left, corner, pivots, jitter

    def truncate(self, count: int) -> None:
        """Drop all points but the first ``count``; what is left is as it was, to the bit."""
        self.count = count
        if count == 0:  # The storage too is as at first.
            self._block = np.zeros((16, 16))


class BoxData(Stateful):
    """Observed points, rewards, times and whitened surprises, in storage that doubles.

    Time is counted in lost correlation: an observation at clock c' is correlated with the present,
    clock c, by exp(c' - c) of what it was then. Only differences count, so nothing underflows.
    """

    STATE: ClassVar[Mapping[str, Layout]] = {"clock": amount}
    GROWN: ClassVar[Mapping[str, Layout]] = {"points": ("t", "d"), **dict.fromkeys(COLUMNS, ("t",))}

    def __init__(self, dim: int) -> None:
        self._points, self._columns = np.empty((16, dim)), np.zeros((len(COLUMNS), 16))
        self.count, self.clock = 0, 0.0

    @property
    def points(self) -> Array:
        """(t, d), a view."""
        return self._points[: self.count]

    @property
    def rewards(self) -> Array:
        """(t,), a view."""
        return self._columns[0, : self.count]

    @property
    def stamps(self) -> Array:
        """(t,) the clock when each was observed, a view."""
        return self._columns[1, : self.count]

    @property
    def beta(self) -> Array:
        """(t,) W (y - m), 0 for hallucinated points, a view."""
        return self._columns[2, : self.count]

    def extend(self, points: Array, rewards: Array | float, beta: Array | float) -> None:
        """Append observations of the present clock."""
        start, end = self.count, self.count + len(points)
        if end > len(self._points):
            size = max(end, 2 * len(self._points))
            old, columns = self.points, self._columns[:, :start]
            self._points = np.empty((size, points.shape[1]))
            self._columns = np.zeros((len(COLUMNS), size))
            self._points[:start], self._columns[:, :start] = old, columns
        self._points[start:end] = points
        for row, values in zip(self._columns, (rewards, self.clock, beta), strict=True):
            row[start:end] = values
        self.count = end

    def fade(self) -> Array | None:
        """(t,) what is left of each point's correlation; None if all is."""
        if not self.count or self.stamps[0] == self.clock:  # The first is the oldest.
            return None
        return np.exp(self.stamps - self.clock)

    def faded(self, tolerance: float) -> int:
        """How many points, the oldest, have shrunk below the tolerance."""
        return int(np.searchsorted(self.stamps, self.clock + np.log(tolerance)))

    def drop(self, oldest: int) -> None:
        """Drop the oldest points, and set the clock to 0."""
        kept = self.count - oldest
        self._points[:kept] = self._points[oldest : self.count].copy()
        self._columns[:, :kept] = self._columns[:, oldest : self.count].copy()
        self._columns[1, :kept] -= self.clock
        self.count, self.clock = kept, 0.0

    def snapshot(self) -> dict[str, Any]:
        return {**super().snapshot(), **{key: getattr(self, key).copy() for key in self.GROWN}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot that was checked."""
        self.count = 0
        self.extend(state["points"], state["rewards"], state["beta"])
        self.stamps[:] = state["stamps"]
        self.put(state)


class Predictor:
    r"""From prior to posterior moments at points of known covariances k (n, t) with t observations.

    With v = W (k o fade): the mean grows by v^T beta, the variance shrinks by |v|^2. All in matrix
    products, O(n t^2). W (t, t) is the inverse of the Cholesky factor of the data's covariance,
    beta (t,) is W (y - m), fade (t,) the correlation of each observation with now, None if all 1.
    """

    def __init__(self, white: Array, beta: Array, fade: Array | None) -> None:
        self.white = white if fade is None else white * fade
        self.beta = beta

    @cached_property
    def alpha(self) -> Array:
        """(t,) weights of the covariances in the mean."""
        return self.beta @ self.white

    def moments(self, mean: Array, var: Array, columns: Callable[[slice], Array]) -> None:
        """Turn the prior's mean and variance (n,) into the posterior's, in place and in pieces.

        ``columns`` gives the covariances (k, t) of a range of points with the data.
        """
        if len(self.beta):
            with OneThread():
                for part in pieces(len(mean), len(self.beta)):
                    v = self._whitened(columns(part))
                    mean[part] += v @ self.beta
                    var[part] -= np.einsum("ij,ij->i", v, v)
                    del v  # Its memory is warm, and taken again for the next part.
            np.maximum(var, 0.0, out=var)

    def gradients(
        self,
        moments: tuple[Array, Array, Array, Array],
        pull: Callable[[slice], tuple[Array, Pulled]],
    ) -> tuple[Array, Array, Array, Array]:
        """The same for mean and variance (n,) and the gradients of both (n, d); returns them.

        ``pull`` gives a range's covariances (k, t) and the contraction of their gradients.
        """
        mean, var, mean_slope, var_slope = moments
        if len(self.beta):
            with OneThread():
                for part in pieces(len(mean), len(self.beta)):
                    k, pulled = pull(part)
                    v = self._whitened(k)
                    mean[part] += v @ self.beta
                    var[part] -= np.einsum("ij,ij->i", v, v)
                    v *= 2.0
                    mean_slope[part] += pulled(self.alpha)
                    var_slope[part] -= pulled(self._unwhitened(v))
                    del k, pulled, v  # Their memory is warm, and taken again for the next part.
            np.maximum(var, 0.0, out=var)
        return moments

    def _whitened(self, k: Array) -> Array:
        """The product k W^T, without the zeros above the diagonal of W."""
        t = len(self.white)
        if t <= STRIP:
            return k @ self.white.T
        v = np.empty(k.shape)
        for start in range(0, t, STRIP):
            stop = min(start + STRIP, t)
            np.matmul(k[:, :stop], self.white[start:stop, :stop].T, out=v[:, start:stop])
        return v

    def _unwhitened(self, v: Array) -> Array:
        """The product v W, likewise."""
        t = len(self.white)
        if t <= STRIP:
            return v @ self.white
        k = np.empty(v.shape)
        for start in range(0, t, STRIP):
            stop = min(start + STRIP, t)
            np.matmul(v[:, start:], self.white[start:, start:stop], out=k[:, start:stop])
        return k


def pieces(points: int, columns: int) -> list[slice]:
    """Ranges of points whose covariances with so many columns fit the cache."""
    step = max(FEWEST, PIECE // max(columns, 1))
    return [slice(start, start + step) for start in range(0, points, step)]


def whitener(gram: Array, floor: float) -> tuple[Array, Array, float]:
    """L^-1 for the Cholesky factor L of ``gram`` (k, k), no squared pivot of L below ``floor``.

    A pivot is lifted only when it must be: repeated arms without noise make ``gram`` singular.

    Returns:
        L^-1 (k, k), the squared pivots (k,), and the largest amount added to one. Cost O(k^3).
    """
    try:
        lower: NDArray[Any] = np.linalg.cholesky(gram)
        pivots = lower.diagonal() ** 2
        if pivots.min() >= floor:
            return np.linalg.inv(lower), pivots, 0.0
    except np.linalg.LinAlgError:
        pass
    lower, jitter = _floored_cholesky(gram, floor)
    inverse = np.eye(len(gram))
    for j in range(len(gram)):
        inverse[j] -= lower[j, :j] @ inverse[:j]
        inverse[j] /= lower[j, j]
    return inverse, lower.diagonal() ** 2, jitter


def _floored_cholesky(gram: Array, floor: float) -> tuple[Array, float]:
    lower = np.zeros_like(gram)
    jitter = 0.0
    for j in range(len(gram)):
        column = gram[j:, j] - lower[j:, :j] @ lower[j, :j]
        pivot = column.item(0)
        if pivot < floor:
            jitter = max(jitter, floor - pivot)
            pivot = floor
        lower[j:, j] = column / math.sqrt(pivot)
        lower[j, j] = math.sqrt(pivot)
    return lower, jitter


def root(covariance: Array) -> Array:
    """A square root R, R R^T = covariance, for drawing; what rounding made negative counts as 0."""
    try:
        return cholesky(covariance, "posterior covariance")[0]
    except NotPositiveDefinite:
        return symmetric_root(covariance)


def observed_gain(var: float, noise_var: float) -> float:
    """1/2 log(1 + var / noise_var), the information of one observation; infinite without noise."""
    if noise_var > 0.0:
        return 0.5 * math.log1p(var / noise_var)
    return math.inf if var > 0.0 else 0.0

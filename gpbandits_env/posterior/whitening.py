"""Factors of posterior covariances, which may be singular to rounding; and W, grown by rows.

With K + s^2 I = L L^T, W = L^-1 is kept instead of L: W k_t(x) for many x is then a matrix product,
several times faster than a triangular solve, and appending k points costs O(k t^2). Its rounding is
that of a solve: cond(L) times 1e-16.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.errors import NotPositiveDefinite
from gpbandits_env.linalg import cholesky, symmetric_root

# The least squared pivot of a factor, as a part of the largest prior variance.
FLOOR = 1e-12
# So many observations are taken in together.
BLOCK = 64


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

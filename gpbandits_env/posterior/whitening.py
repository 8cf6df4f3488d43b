"""The inverse of a Cholesky factor, grown by rows.

With K + s^2 I = L L^T, W = L^-1 is kept instead of L: W k_t(x) for many x is then a matrix product,
which runs several times faster than a triangular solve, and appending k points costs O(k t^2), with
no factorisation but a k x k one. Its rounding is that of a solve: cond(L) times 1e-16.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, whole
from gpbandits_env.posterior.elimination import whitener
from gpbandits_env.posterior.state import check_shape

# A snapshot that reserves room for more points than this (34 GB) is none of ours.
MOST_RESERVED = 2**16


class Whitening:
    """W = L^-1, (t, t) and lower triangular, in storage that doubles.

    Attributes:
        count: t.
    """

    def __init__(self) -> None:
        self._block = np.zeros((16, 16))
        self.count = 0

    @property
    def matrix(self) -> Array:
        """W (t, t): a view, good until the next change."""
        return self._block[: self.count, : self.count]

    def extend(self, cross: Array, gram: Array, floor: float) -> tuple[Array, Array, Array, float]:
        """Append k points.

        Args:
            cross: (k, t) covariance of the new points with the old.
            gram: (k, k) that of the new points, noise included; is overwritten.
            floor: the smallest squared pivot; smaller ones are lifted to it.

        Returns:
            The new rows of L left of its diagonal block (k, t), the inverse of that block (k, k),
            the squared pivots (k,), and the largest amount by which one was lifted.
        """
        old, k = self.count, len(gram)
        white = self.matrix
        left = cross @ white.T
        gram -= left @ left.T
        corner, pivots, jitter = whitener(gram, floor)
        corner = np.tril(corner)  # No dust of rounding above: those entries of W are never cleared.
        self._reserve(old + k)
        np.matmul(-corner @ left, white, out=self._block[old : old + k, :old])
        self._block[old : old + k, old : old + k] = corner
        self.count = old + k
        return left, corner, pivots, jitter

    def truncate(self, count: int) -> None:
        """Drop all points but the first ``count``; what is left is as it was, to the bit."""
        self.count = count
        if count == 0:
            # The storage too is as at first: products round by how rows are laid out.
            self._block = np.zeros((16, 16))

    def _reserve(self, count: int) -> None:
        if count > len(self._block):
            size = max(count, 2 * len(self._block))
            block = np.zeros((size, size))
            block[: self.count, : self.count] = self.matrix
            self._block = block

    def snapshot(self) -> dict[str, Any]:
        """A copy of the state."""
        return {"white": self.matrix.copy(), "reserved": len(self._block)}

    @staticmethod
    def check(state: Mapping[str, Any], count: int) -> None:
        """Nothing, if `restore` can take the snapshot as one of ``count`` points.

        Raises:
            InvalidInput: it cannot.
        """
        check_shape(state, "white", (count, count))
        whole(state["reserved"], "snapshot entry 'reserved'", 0, max(count, MOST_RESERVED))

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot that was checked."""
        count = len(state["white"])
        self._block = np.zeros((max(int(state["reserved"]), count),) * 2)
        self._block[:count, :count] = state["white"]
        self.count = count

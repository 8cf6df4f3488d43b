"""Rows of the prior covariance of all arms, computed when first asked for and shared."""

from functools import lru_cache
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import Kernel

MATRIX_BYTES = 64 * 2**20
"""The largest n x n matrix that is kept: n up to 2896."""


class PriorCovariance:
    """K(arms, arms), row by row.

    While n x n doubles fit into `MATRIX_BYTES`, a row is computed once and kept; beyond, each time.
    A row is always computed by itself, so that its last bits do not depend on what was asked before
    (the object is shared, and results must not depend on who else runs in this process).

    Args:
        arms: the n arms.
        kernel: their covariance.
    """

    def __init__(self, arms: Arms, kernel: Kernel) -> None:
        self.arms, self.kernel = arms, kernel
        n = arms.size
        self.fits = 8 * n * n <= MATRIX_BYTES
        # Memory that is never touched costs nothing: few arms are ever pulled.
        self._matrix = np.empty((n, n)) if self.fits else None
        self._known = [False] * n
        self._unknown = n
        self.diagonal = kernel.diagonal(self.arms.coordinates)

    def row(self, arm: int) -> Array:
        """(n,) covariance of one arm with all; not to be written to."""
        if self._matrix is None:
            return self._computed(arm)
        row: Array = self._matrix[arm]
        if not self._known[arm]:
            row[:] = self._computed(arm)
            self._known[arm] = True
            self._unknown -= 1
        return row

    def rows(self, arms: IntArray) -> Array:
        """(k, n) fresh covariances of some arms with all."""
        return np.stack([self.row(arm) for arm in arms.tolist()])

    def matrix(self) -> Array:
        """(n, n) the whole matrix; not to be written to. Only when it `fits`."""
        assert self._matrix is not None
        if self._unknown:
            for arm in range(len(self._known)):
                self.row(arm)
        return self._matrix

    def __reduce__(self) -> tuple[Any, ...]:
        return prior_covariance, (self.arms, self.kernel)

    def _computed(self, arm: int) -> Array:
        row: Array = self.kernel(self.arms.coordinates[arm : arm + 1], self.arms.coordinates)[0]
        return row


@lru_cache(maxsize=2)
def prior_covariance(arms: Arms, kernel: Kernel) -> PriorCovariance:
    """The shared `PriorCovariance` of these arms and this kernel."""
    return PriorCovariance(arms, kernel)

"""Rows of the prior covariance of all arms, computed when they are first needed and shared."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, finite_array, frozen
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.kernels import Kernel

MATRIX_BYTES = 64 * 2**20
"""The largest n x n matrix that is kept: n up to 2896."""
STRIP_ENTRIES = 2**14
"""How many entries are computed at a time."""


def check_prior(arms: Arms, kernel: Kernel) -> None:
    """Check that there is a Gaussian process with this kernel on these arms.

    Raises:
        InvalidInput: no arms, no kernel, or one for other points.
    """
    if not isinstance(arms, Arms) or not isinstance(kernel, Kernel):
        raise InvalidInput(f"arms and a kernel are needed, got {shown(arms)} and {shown(kernel)}")
    kernel.check_points(arms.coordinates)


class PriorCovariance:
    """K(arms, arms), row by row.

    While n x n doubles fit into `MATRIX_BYTES`, rows are computed in fixed strips, once; beyond,
    one at a time, each time. The object is shared, and fixed strips make the last bits of a row
    independent of what else ran in this process.
    """

    def __init__(self, arms: Arms, kernel: Kernel) -> None:
        n = arms.size
        self.arms, self.kernel = arms, kernel
        self.diagonal = kernel.diagonal(arms.coordinates)
        self.fits = 8 * n * n <= MATRIX_BYTES
        self._strip = max(1, STRIP_ENTRIES // n)
        # Memory that is never touched costs nothing: few arms are ever pulled.
        self._matrix = np.empty((n, n) if self.fits else (0, 0))
        self._known = [False] * n

    def row(self, arm: int) -> Array:
        """(n,) covariance of one arm with all; not to be written to."""
        if not self.fits:
            return self._computed(arm, arm + 1)[0]
        if not self._known[arm]:
            start = arm - arm % self._strip
            strip = self._computed(start, start + self._strip)
            end = start + len(strip)
            self._matrix[start:end] = strip
            self._known[start:end] = [True] * len(strip)
        return self._matrix[arm]

    def rows(self, arms: IntArray) -> Array:
        """(k, n) fresh covariances of some arms with all."""
        rows = np.empty((len(arms), len(self._known)))
        for row, arm in zip(rows, arms.tolist(), strict=True):
            row[:] = self.row(arm)
        return rows

    def matrix(self) -> Array:
        """(n, n) the whole matrix; not to be written to. Only when it `fits`."""
        assert self.fits
        for start in range(0, len(self._known), self._strip):
            self.row(start)
        return self._matrix

    def __reduce__(self) -> tuple[Any, ...]:
        return prior_covariance, (self.arms, self.kernel)

    def _computed(self, start: int, end: int) -> Array:
        return self.kernel(self.arms.coordinates[start:end], self.arms.coordinates)


@lru_cache(maxsize=2)
def prior_covariance(arms: Arms, kernel: Kernel) -> PriorCovariance:
    """The shared `PriorCovariance` of these arms and this kernel."""
    return PriorCovariance(arms, kernel)


def one_per_arm(value: ArrayLike, n: int) -> Array:
    """A prior mean as (n,) numbers, fresh and read-only, from one number or one per arm.

    Raises:
        InvalidInput: another shape, or not finite.
    """
    mean = finite_array(value, "prior_mean")
    if mean.shape not in ((), (n,)):
        raise InvalidInput(f"prior_mean must be a number or have shape ({n},), got {mean.shape}")
    return frozen(np.array(np.broadcast_to(mean, (n,))))

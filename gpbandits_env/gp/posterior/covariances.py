"""Rows of the prior covariance of all arms, computed on first use and shared."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, finite_array, frozen
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.kernels.kernel import check_on, undefined
from gpbandits_env.gp.threads import OneThread

MATRIX_BYTES = 64 * 2**20
"""The size of the largest n x n matrix that is kept (n up to 2896)."""
STRIP_ENTRIES = 2**14
"""The number of entries computed at a time."""


def check_prior(arms: Arms, kernel: Kernel) -> None:
    """Check that the kernel defines a Gaussian process on the arms.

    Raises:
        InvalidInput: an argument is not arms or not a kernel, or as for `check_on`.
    """
    if not isinstance(arms, Arms) or not isinstance(kernel, Kernel):
        raise InvalidInput(f"expected Arms and a kernel, got {shown(arms)} and {shown(kernel)}")
    check_on(kernel, arms.coordinates)


class PriorCovariance:
    """The matrix K(arms, arms), computed row by row.

    If n x n doubles fit into `MATRIX_BYTES`, rows are computed once, in fixed strips. Otherwise
    each row is computed at every use. The object is shared; fixed strips and one BLAS thread make
    the last bits of a row independent of other work in the process.
    """

    def __init__(self, arms: Arms, kernel: Kernel) -> None:
        n = arms.size
        self.arms, self.kernel = arms, kernel
        self.diagonal = kernel.diagonal(arms.coordinates)
        self.fits = 8 * n * n <= MATRIX_BYTES
        self._strip = max(1, STRIP_ENTRIES // n)
        # Memory that is never written costs nothing, and usually few arms are pulled.
        self._matrix = np.empty((n, n) if self.fits else (0, 0))
        self._known = [False] * n

    def row(self, arm: int) -> Array:
        """The covariance of one arm with all arms, (n,); do not write to it."""
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
        """The covariances of some arms with all arms, a new array (k, n)."""
        rows = np.empty((len(arms), len(self._known)))
        for row, arm in zip(rows, arms.tolist(), strict=True):
            row[:] = self.row(arm)
        return rows

    def matrix(self) -> Array:
        """The whole matrix, (n, n), if it `fits`; do not write to it."""
        assert self.fits
        for start in range(0, len(self._known), self._strip):
            self.row(start)
        return self._matrix

    def __reduce__(self) -> tuple[object, ...]:
        return prior_covariance, (self.arms, self.kernel)

    def _computed(self, start: int, end: int) -> Array:
        points = self.arms.coordinates
        with OneThread():
            found = self.kernel(points[start:end], points)
        if not np.isfinite(found).all():
            raise undefined(self.kernel)
        return found


@lru_cache(maxsize=2)
def prior_covariance(arms: Arms, kernel: Kernel) -> PriorCovariance:
    """The shared `PriorCovariance` of these arms and this kernel."""
    return PriorCovariance(arms, kernel)


def one_per_arm(value: ArrayLike, n: int) -> Array:
    """A prior mean as a new read-only array (n,), from one number or one per arm.

    Raises:
        InvalidInput: the shape is wrong, or a number is not finite.
    """
    mean = finite_array(value, "prior_mean")
    if mean.shape not in ((), (n,)):
        raise InvalidInput(f"prior_mean must be a number or have shape ({n},), got {mean.shape}")
    return frozen(np.array(np.broadcast_to(mean, (n,))))

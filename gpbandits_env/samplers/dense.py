"""Phi as a plain matrix: a full Cholesky factor, or a pivoted one of low rank."""

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import pivoted_cholesky, symmetric_root
from gpbandits_env.samplers.base import Factor


class MatrixFactor(Factor):
    """A factor given by its matrix.

    Args:
        matrix: Phi, (n, rank).
        error: a bound on the entries of |K - Phi Phi^T|.
    """

    def __init__(self, matrix: Array, error: float) -> None:
        # Column major: a product with one vector then reads along columns, which BLAS threads
        # and prefetches best, and a row is still one strided read of a few hundred bytes.
        self.matrix = np.asfortranarray(matrix)
        self._by_row = np.ascontiguousarray(matrix)
        self.size, self.rank = matrix.shape
        self.error = error

    def __call__(self, xi: Array) -> Array:  # noqa: D102
        return self.matrix @ xi if xi.ndim == 1 else xi @ self.matrix.T

    def row(self, arm: int) -> Array:  # noqa: D102
        return self._by_row[arm]

    def rows(self, arms: IntArray) -> Array:  # noqa: D102
        return self._by_row[arms]

    def transpose(self, values: Array) -> Array:  # noqa: D102
        return values @ self._by_row

    def squared_norms(self) -> Array:  # noqa: D102
        return np.einsum("ij,ij->i", self._by_row, self._by_row)


def dense_factor(arms: Arms, kernel: Kernel) -> MatrixFactor:
    """The Cholesky factor of all arms, or the symmetric root where that fails: O(n^3), once.

    Exact to rounding: the error stated is what its own product shows.
    """
    kernel.check_points(arms.coordinates)
    gram = kernel(arms.coordinates)
    try:
        matrix: Array = np.linalg.cholesky(gram).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        matrix = symmetric_root(gram)
    return MatrixFactor(matrix, float(np.abs(matrix @ matrix.T - gram).max()))


def low_rank_factor(
    arms: Arms, kernel: Kernel, max_rank: int, tolerance: float = 1e-12
) -> MatrixFactor | None:
    """The pivoted Cholesky factor, or None where the numerical rank exceeds ``max_rank``.

    The rank of the squared exponential of lengthscale 0.2 on 1000 points of [0, 1] is 19.
    """
    points = arms.coordinates
    kernel.check_points(points)
    found = pivoted_cholesky(
        lambda i: kernel(points[i : i + 1], points)[0],
        kernel.diagonal(points),
        tolerance,
        max_rank,
    )
    return None if found is None else MatrixFactor(found[0], found[2])


def need_low_rank(factor: MatrixFactor | None, kernel: Kernel, max_rank: int) -> MatrixFactor:
    """The factor, or the error of a user who asked for one that does not exist."""
    if factor is None:
        raise InvalidInput(
            f"the kernel {kernel.type_name!r} has a numerical rank above {max_rank} on these arms; "
            "use the sampler 'dense', or 'circulant' on an even grid"
        )
    return factor

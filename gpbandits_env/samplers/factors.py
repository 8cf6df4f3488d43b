"""Phi as one stored matrix: a full Cholesky factor, or a pivoted one with few columns."""

import numpy as np
from scipy.linalg.lapack import dpstrf

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import EPS, least_missing, pivoted_cholesky
from gpbandits_env.samplers.base import MatrixFactor

# Rows per block: at n = 2048, fewer than 1/16 of the numbers read are zeros above the diagonal.
BLOCK = 128
# The error of kernels that rounding may make indefinite is measured on at most this many arms.
MOST_MEASURED = 3000
# A subset of the arms is tried first if there are this many times more arms.
MANY_TIMES = 6


class LowRankFactor(MatrixFactor):
    """A factor Phi (n, rank) with a rank well below n. A draw costs n rank multiplications."""


class DenseFactor(MatrixFactor):
    """A lower triangular factor Phi (n, n); a draw skips most zeros above the diagonal.

    Cost of a draw: n^2 / 2 numbers are read, in 0.9 ms at n = 2500.
    """

    def __call__(self, xi: Array) -> Array:
        values = np.empty((*xi.shape[:-1], self.size))
        for start in range(0, self.size, BLOCK):
            end = start + BLOCK
            rows = self.matrix[start:end, :end]
            if xi.ndim == 1:
                np.matmul(rows, xi[:end], out=values[start:end])
            else:
                values[..., start:end] = xi[..., :end] @ rows.T
        return values


def dense_factor(arms: Arms, kernel: Kernel) -> MatrixFactor:
    """The Cholesky factor of all arms; for a singular covariance, a factor of its rank.

    Cost: O(n^3) once, 0.3 s at n = 2500. Memory: two n x n matrices during construction. The error
    of a full factor is bounded by (n + 1) units of rounding of the largest variance (Higham 2002,
    Theorem 10.3). The error of a singular factor is measured.
    """
    kernel.check_points(arms.coordinates)
    gram = kernel(arms.coordinates)
    try:
        full: Array = np.linalg.cholesky(gram).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        # Complete pivoting in blocks, which stops when the remainder is rounding.
        lower, order, rank, _ = dpstrf(gram, lower=1)
        factor = np.empty((len(gram), rank))
        factor[order - 1] = np.tril(lower)[:, :rank]
        return LowRankFactor(factor, _measured_error(factor, gram))
    return DenseFactor(full, (arms.size + 1) * EPS * float(gram.diagonal().max()))


def low_rank_factor(
    arms: Arms, kernel: Kernel, max_rank: int, tolerance: float = 1e-12
) -> LowRankFactor | None:
    """The pivoted Cholesky factor, or None where the numerical rank exceeds ``max_rank``.

    The rank of the squared exponential of lengthscale 0.2 is 19 on 1000 points of [0, 1] and 266
    on a 50 x 50 grid of the unit square. The rank of a Matern kernel is about n. The missing
    variance is at most ``tolerance`` of the largest variance.

    Cost: O(n rank^2). If there are many arms, a subset is tried first: if its rank alone is too
    large, as with most Matern kernels, the cost is O(max_rank^3).
    """
    points = arms.coordinates
    kernel.check_points(points)
    if _rank_exceeds(points, kernel, max_rank, tolerance):
        return None
    found = pivoted_cholesky(
        lambda i: kernel(points[i : i + 1], points)[0], kernel.diagonal(points), tolerance, max_rank
    )
    if found is None:
        return None
    factor, _, error = found
    if not kernel.is_stationary and arms.size <= MOST_MEASURED:
        error = max(error, _measured_error(factor, kernel(points)))
    return LowRankFactor(factor, error)


def _rank_exceeds(points: Array, kernel: Kernel, max_rank: int, tolerance: float) -> bool:
    """Whether a subset of the points proves that no factor of this rank meets the tolerance."""
    few = max_rank + max_rank // 2 + 1
    if len(points) < MANY_TIMES * few:
        return False
    some = points[np.arange(few) * len(points) // few]
    enough = max(tolerance, 4.0 * EPS) * float(kernel.diagonal(points).max())
    return least_missing(kernel(some), max_rank) > enough


def _measured_error(factor: Array, covariance: Array) -> float:
    """The largest entry of |F F^T - K|, in O(n^2 r)."""
    gap = factor @ factor.T
    gap -= covariance
    return float(np.abs(gap, out=gap).max())

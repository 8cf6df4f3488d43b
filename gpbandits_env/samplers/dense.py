"""Phi as the full Cholesky factor: any kernel on any arms, up to a few thousand."""

import numpy as np
from scipy.linalg.lapack import dpstrf

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import EPS
from gpbandits_env.samplers.base import MatrixFactor
from gpbandits_env.samplers.lowrank import LowRankFactor, measured_error

# Rows a block: the zeros read above the diagonal stay below 1/16 of n = 2048.
BLOCK = 128


class DenseFactor(MatrixFactor):
    """Phi lower triangular, (n, n): a draw hardly reads the zeros above the diagonal.

    Cost of a draw: n^2 / 2 numbers read; 0.9 ms at n = 2500.
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

    def transpose(self, values: Array) -> Array:
        xi = np.zeros((*values.shape[:-1], self.size))
        for start in range(0, self.size, BLOCK):
            end = start + BLOCK
            xi[..., :end] += values[..., start:end] @ self.matrix[start:end, :end]
        return xi


def dense_factor(arms: Arms, kernel: Kernel) -> MatrixFactor:
    """The Cholesky factor of all arms; where that is singular, one of all the rank there is.

    Cost: O(n^3), once; 0.3 s at n = 2500. Memory: two n x n matrices while it is made.

    The error of a full factor is (n + 1) units of rounding of the largest variance, a bound
    (Higham 2002, Theorem 10.3); that of a singular one is measured.
    """
    kernel.check_points(arms.coordinates)
    gram = kernel(arms.coordinates)
    try:
        lower: Array = np.linalg.cholesky(gram).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return _singular_factor(gram)
    return DenseFactor(lower, (arms.size + 1) * EPS * float(gram.diagonal().max()))


def _singular_factor(gram: Array) -> LowRankFactor:
    """Cholesky with complete pivoting, in blocks; stops when what is left is rounding."""
    lower, order, rank, _ = dpstrf(gram, lower=1)
    factor = np.empty((len(gram), rank))
    factor[order - 1] = np.tril(lower)[:, :rank]
    return LowRankFactor(factor, measured_error(factor, gram))

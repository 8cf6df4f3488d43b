"""Phi as one stored matrix, full or with few columns, or as a Kronecker product of such."""

import math
from functools import reduce

import numpy as np
from scipy.linalg.lapack import dpocon

from gpbandits_env.arrays import SMALLEST, Array, IntArray, descending
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.kernels.kernel import covariance
from gpbandits_env.gp.linalg import EPS, cholesky, least_missing, pivoted_cholesky
from gpbandits_env.gp.samplers.sampler import Factor, MatrixFactor, held, row_products

# Rows per block: at n = 2048, fewer than 1/16 of the numbers read are zeros above the diagonal.
BLOCK = 128
# The error of kernels that rounding may make indefinite is measured on at most this many arms.
MOST_MEASURED = 3000
# A subset of the arms is tried first if there are this many times more arms.
MANY_TIMES = 6
# A batch is processed in blocks of this many numbers (512 kB), which stay in the cache.
NUMBERS = 1 << 16
# A covariance is nearly singular if its smallest eigenvalue is below this part of a variance.
NEARLY_SINGULAR = 1e-9
# The symmetric root of more arms than this takes longer than ten seconds.
MOST_SYMMETRIC = 3000
# Columns are omitted only if they are at least this fraction: placing coefficients costs a call.
SPARED = 0.1


class DenseFactor(MatrixFactor):
    """A lower triangular factor Phi (n, n); a draw skips most zeros above the diagonal.

    Cost of a draw: n^2 / 2 numbers are read, in 0.9 ms at n = 2500.
    """

    def __call__(self, xi: Array) -> Array:
        values = np.empty((*xi.shape[:-1], self.size))
        for start in range(0, self.size, BLOCK):
            end = start + BLOCK
            values[..., start:end] = xi[..., :end] @ self.matrix[start:end, :end].T
        return values


def dense_factor(arms: Arms, kernel: Kernel) -> MatrixFactor:
    """The Cholesky factor of all arms; for a nearly singular covariance, its symmetric root.

    Rounding, which differs between processors, changes a Cholesky factor by about 1e-16 times the
    condition number, but a symmetric root by less than 1e-6. Above 3000 arms, which take too long,
    the factor is a Cholesky factor, if need be with jitter.

    Cost: O(n^3) once; at n = 2500 0.3 s, and 4 s for a symmetric root. Memory: three to five n x n
    matrices during construction, which depends on the kernel; for a symmetric root, six. The error
    of a Cholesky factor is bounded by (n + 1) units of rounding of the largest variance (Higham
    2002, Theorem 10.3). That of a symmetric root is measured.

    Raises:
        NotPositiveDefinite: the kernel is no covariance function.
        InvalidInput: the kernel gives NaN or infinity.
    """
    gram = covariance(kernel, arms.coordinates)
    top = float(gram.diagonal().max())
    lower, jitter = cholesky(gram, f"the kernel {kernel.type_name!r} on these arms")
    smallest, _ = dpocon(lower.T, 1.0)  # about the smallest eigenvalue or less
    regular = not jitter and smallest > NEARLY_SINGULAR * top
    if regular or arms.size > MOST_SYMMETRIC:
        return DenseFactor(lower, (arms.size + 1) * EPS * top + jitter)
    values, vectors = np.linalg.eigh(gram)
    matrix = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return MatrixFactor(matrix, _measured_error(matrix, gram))


def low_rank_factor(
    arms: Arms, kernel: Kernel, max_rank: int, tolerance: float = 1e-12
) -> MatrixFactor | None:
    """The pivoted Cholesky factor; None if its rank exceeds ``max_rank`` or K is no covariance.

    The rank of the squared exponential of lengthscale 0.2 is 19 on 1000 points of [0, 1] and 266
    on a 50 x 50 grid of the unit square. The rank of a Matern kernel is about n. The missing
    variance is at most ``tolerance`` of the largest variance.

    Cost: O(n rank^2). If there are many arms, a subset is tried first: if its rank alone is too
    large, as with most Matern kernels, the cost is O(max_rank^3).
    """
    points, few = arms.coordinates, max_rank + max_rank // 2 + 1
    if len(points) >= MANY_TIMES * few:
        some = points[np.arange(few) * len(points) // few]
        enough = max(tolerance, 4.0 * EPS) * float(kernel.diagonal(points).max())
        if least_missing(covariance(kernel, some), max_rank) > enough:
            return None

    def row(i: int) -> Array:
        return covariance(kernel, points[i : i + 1], points)[0]

    found = pivoted_cholesky(row, kernel.diagonal(points), tolerance, max_rank)
    if found is None:
        return None
    factor, _, error = found
    if not kernel.is_stationary and arms.size <= MOST_MEASURED:
        error = max(error, _measured_error(factor, kernel(points)))
    return MatrixFactor(factor, error)


def _measured_error(factor: Array, covariance: Array) -> float:
    """The largest entry of |F F^T - K|, in O(n^2 r)."""
    gap = factor @ factor.T
    gap -= covariance
    return float(np.abs(gap, out=gap).max())


class KroneckerFactor(Factor):
    r"""A Kronecker product of (low-rank) factors A_i, one per axis i.

    .. math:: \Phi = A_1 \otimes \dots \otimes A_d

    Applying Phi costs sum_i of (elements so far) * r_i instead of n * rank: about 10 microseconds
    on a 50 x 50 grid of the squared exponential, with about 20 columns per axis.

    The last axis of the grid runs fastest. Products of two late columns are tiny. If ``kept`` is
    given, only those columns of the product have a coefficient, in that order. The cost of a
    posterior grows with the square of their number; the cost of a draw does not.
    """

    def __init__(
        self, factors: tuple[Array, ...], error: float, kept: IntArray | None = None
    ) -> None:
        self.factors = tuple(held(a) for a in factors)
        self._transposed = tuple(held(a.T) for a in factors)
        self.shape = tuple(len(a) for a in factors)
        self.ranks = tuple(a.shape[1] for a in factors)
        self.size, self._columns = int(np.prod(self.shape)), int(np.prod(self.ranks))
        self.kept = kept
        self.rank = self._columns if kept is None else len(kept)
        self.error = error

    def __call__(self, xi: Array) -> Array:
        return _apply(self._spread(xi), self.ranks, self.factors, self._transposed, self.size)

    def row(self, arm: int) -> Array:
        if len(self.factors) != 2:
            return self.rows(np.array([arm]))[0]
        i, j = divmod(arm, self.shape[1])
        # The outer product; `np.multiply.outer` takes half as long again.
        columns = self.factors[0][i, :, None].dot(self.factors[1][j, None]).ravel()
        return columns if self.kept is None else columns.take(self.kept)

    def rows(self, arms: IntArray) -> Array:
        places = np.unravel_index(arms, self.shape)
        product = self.factors[0][places[0]]
        for a, i in zip(self.factors[1:], places[1:], strict=True):
            product = row_products(product, a[i])
        return product if self.kept is None else product[:, self.kept]

    def squared_norms(self) -> Array:
        squares = tuple(a * a for a in self.factors)
        turned = tuple(held(a.T) for a in squares)
        return _apply(self._spread(np.ones(self.rank)), self.ranks, squares, turned, self.size)

    def thinned(self, budget: float) -> "KroneckerFactor":
        """The factor without columns that together change no entry of K by more than ``budget``.

        A column c changes an entry by at most max_x c(x)^2, the product of the maxima per axis. The
        omitted columns add to the error. If they are less than a tenth of all, none is omitted.
        """
        heights = reduce(np.multiply.outer, (np.max(a * a, axis=0) for a in self.factors)).ravel()
        # Columns that differ in the order of the axes are tied.
        order = descending(-np.log(np.maximum(heights, SMALLEST)))
        lost = np.cumsum(heights[order])
        few = int(np.searchsorted(lost, budget, side="right"))
        if few < SPARED * len(heights):
            return self
        error = self.error + float(lost[few - 1])
        return KroneckerFactor(self.factors, error, np.sort(order[few:]))

    def _spread(self, xi: Array) -> Array:
        """The coefficients (..., rank) at their positions among all columns, with 0 elsewhere."""
        if self.kept is None:
            return xi
        columns = np.zeros((*xi.shape[:-1], self._columns))
        columns[self.kept if xi.ndim == 1 else (..., self.kept)] = xi
        return columns


def _apply(
    values: Array, shape: tuple[int, ...], left: tuple[Array, ...], right: tuple[Array, ...], n: int
) -> Array:
    """The Kronecker product of ``left`` times values (..., prod shape); right = left^T."""
    if values.ndim == 1 and len(shape) == 2:
        product: Array = left[0].dot(values.reshape(shape).dot(right[1]))
        return product.ravel()
    batch = values.reshape(math.prod(values.shape[:-1]), math.prod(shape))
    out = np.empty((len(batch), n))
    step = max(1, NUMBERS // max(n, batch.shape[1], 1))
    for start in range(0, len(batch), step):
        part, some = out[start : start + step], batch[start : start + step]
        # The axes are applied from the last to the first; the first writes directly to the result.
        first = part if len(shape) == 1 else None
        tensor = np.matmul(some.reshape(-1, shape[-1]), right[-1], out=first)
        done = right[-1].shape[1]
        for axis in range(len(shape) - 2, -1, -1):
            before, a = len(some) * math.prod(shape[:axis]), left[axis]
            last = part.reshape(before, len(a), done) if axis == 0 else None
            tensor = np.matmul(a, tensor.reshape(before, shape[axis], done), out=last)
            done *= len(a)
    return out.reshape(*values.shape[:-1], n)


def kronecker_factor(
    arms: Arms, kernel: Kernel, tolerance: float = 1e-12
) -> KroneckerFactor | None:
    """The factor of a product kernel on a grid of two or more axes; None for others.

    Each axis gets a low-rank factor, or a full one if its rank is full. If factor i has error e_i
    and variance v_i, the error of the product is at most sum_i e_i prod_(j not i) v_j.
    """
    kernels = kernel.axis_kernels(arms.dim)
    if arms.axes is None or arms.dim == 1 or kernels is None:
        return None
    parts: list[MatrixFactor] = []
    for axis, own in zip(arms.axes, kernels, strict=True):
        line = Arms(axis)
        low = low_rank_factor(line, own, max_rank=max(1, line.size - 1), tolerance=tolerance)
        parts.append(low if low is not None else dense_factor(line, own))
    tops = [float(p.squared_norms().max()) + p.error for p in parts]
    top = float(np.prod(tops))
    error = sum(p.error * top / own for p, own in zip(parts, tops, strict=True) if own > 0)
    return KroneckerFactor(tuple(p.matrix for p in parts), float(error) + 8.0 * EPS * top)

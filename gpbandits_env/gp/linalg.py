"""Factorizations of covariance matrices that also work for singular ones."""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from gpbandits_env.arrays import TIE, Array, IntArray, leading
from gpbandits_env.errors import NotPositiveDefinite

EPS = float(np.finfo(np.float64).eps)
LAST_JITTER = 1e-6
# Storage starts with this many columns and doubles when they are full.
FIRST_COLUMNS = 64


def cholesky(matrix: Array, name: str) -> tuple[Array, float]:
    """The lower factor L (n, n) of a symmetric covariance, L L^T = matrix + jitter I, and jitter.

    Jitter is added only if the factorization fails without it: first 1e-14 of the mean diagonal,
    then ten times as much at each attempt, up to 1e-6. The name appears in the error.

    Raises:
        NotPositiveDefinite: the factorization fails even with the largest jitter.
    """
    scale = abs(float(np.trace(matrix))) / max(len(matrix), 1) or 1.0
    for jitter in (0.0, *(scale * 10.0**power for power in range(-14, -5))):
        try:
            lifted = matrix + jitter * np.eye(len(matrix)) if jitter else matrix
            return np.linalg.cholesky(lifted).astype(np.float64, copy=False), jitter
        except np.linalg.LinAlgError:
            pass
    raise NotPositiveDefinite(
        f"{name} is not positive definite: its factorization fails even with {LAST_JITTER:g} of "
        "its mean diagonal added; check that the kernel is a covariance function, drop repeated "
        "arms, or add noise"
    )


def spectral_root(matrix: Array) -> Array:
    """The root R = V sqrt(L) of a matrix V L V^T, so that R R^T is the matrix; O(n^3).

    Negative eigenvalues, which are rounding, count as 0.
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def root(covariance: Array) -> Array:
    """A root R with R R^T = covariance, for draws: with the jitter of `cholesky`, if need be.

    Where the largest jitter is too small, negative eigenvalues count as 0.
    """
    try:
        return cholesky(covariance, "posterior covariance")[0]
    except NotPositiveDefinite:
        return spectral_root(covariance)


def inverse(covariance: Array) -> Array:
    """The inverse of a positive definite matrix (n, n), a new symmetric array; O(n^3).

    Where rounding made it indefinite, negative eigenvalues count as 0 and all are raised by 1e-13,
    which is enough for matrices with a norm of about 1.
    """
    lower, failed = dpotrf(covariance, lower=1)
    if failed:
        half = spectral_root(covariance)
        lower, _ = dpotrf(half @ half.T + 1e-13 * np.eye(len(half)), lower=1)
    found, _ = dpotri(lower, lower=1, overwrite_c=1)  # above the diagonal are the zeros of `lower`
    return found + np.tril(found, -1).T


def pivoted_cholesky(
    row: Callable[[int], Array], diagonal: Array, tolerance: float, max_rank: int
) -> tuple[Array, IntArray, float] | None:
    """A low-rank factor F of a covariance matrix, K = F F^T + E with |E_ij| <= error.

    The choice is greedy: the next pivot is the largest remaining diagonal entry, the first of a
    tie. The remainder E is positive semidefinite, so its largest entry is on its diagonal. The
    error is that entry plus rank + 4 units of rounding of the largest entry of K. Cost: O(n r^2)
    and r rows of K; O(n r) memory.

    Args:
        row: row(i) gives K[i], (n,).
        diagonal: diag K, (n,).
        tolerance: the largest entry of E relative to that of K; at least four units of rounding.
        max_rank: the largest allowed rank.
    Returns:
        F (n, r), the pivots (r,) in the order chosen, and the error; None if the rank exceeds
        ``max_rank``, or if K is not positive semidefinite, so that diag F F^T exceeds diag K.
    Source: Harbrecht, Peters and Schneider (2012), Algorithm 1.
    """
    left = np.array(diagonal, dtype=np.float64)
    n, top = len(left), float(left.max(initial=0.0))
    enough = max(tolerance, 4.0 * EPS) * top
    columns = np.empty((min(max_rank, n, FIRST_COLUMNS), n))
    pivots: list[int] = []
    while (most := float(left.max())) > enough:
        r = len(pivots)
        rounding = min((r + 4) * EPS * top, 0.5 * most)
        pivot = int(leading(left, most + rounding / TIE))
        if r >= max_rank:
            return None
        if r == len(columns):
            columns = np.concatenate([columns, np.empty((min(r, max_rank - r, n - r), n))])
        column = np.subtract(row(pivot), columns[:r, pivot] @ columns[:r], out=columns[r])
        column /= np.sqrt(left[pivot])
        left -= column * column
        np.maximum(left, 0.0, out=left)
        left[pivot] = 0.0
        pivots.append(pivot)
    factor = np.ascontiguousarray(columns[: len(pivots)].T)
    if (np.einsum("ij,ij->i", factor, factor) - diagonal).max() > LAST_JITTER * top:
        return None
    return factor, np.array(pivots, dtype=np.int64), most + (len(pivots) + 4) * EPS * top


def least_missing(matrix: Array, rank: int) -> float:
    """A lower bound on the error of any factor F of K (n, n) with rank < n columns; O(n^3).

    If K - F F^T is positive semidefinite, its trace is at least the sum of the n - rank smallest
    eigenvalues of K, so its largest diagonal entry is at least that sum over n. The bound also
    holds for any larger set that contains these arms. Its rounding error is subtracted.
    """
    n = len(matrix)
    eigenvalues = np.linalg.eigvalsh(matrix)
    rounding = n * EPS * float(np.abs(eigenvalues).max())
    return float(np.maximum(eigenvalues[: n - rank], 0.0).sum()) / n - rounding

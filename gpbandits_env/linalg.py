"""Factorisations of covariance matrices, that bear with singular ones."""

from collections.abc import Callable

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.errors import NotPositiveDefinite

FIRST_JITTER = 1e-14
LAST_JITTER = 1e-6


def cholesky(matrix: Array, name: str) -> tuple[Array, float]:
    """The lower factor L of a covariance matrix, L L^T = matrix + jitter I.

    Jitter is added only when the factorisation fails without, and then no more than needed: from
    1e-14 of the mean diagonal, tenfold a try, up to 1e-6.

    Args:
        matrix: (n, n), symmetric; not changed.
        name: what it is, for the error.
    Returns:
        L, (n, n) lower triangular, and the jitter, 0.0 where none was needed.
    Raises:
        NotPositiveDefinite: even the largest jitter did not help.
    """
    scale = float(np.mean(np.diag(matrix))) or 1.0
    for jitter in (0.0, *(scale * 10.0**power for power in range(-14, -5))):
        try:
            lifted = matrix + jitter * np.eye(len(matrix)) if jitter else matrix
            return np.linalg.cholesky(lifted).astype(np.float64, copy=False), jitter
        except np.linalg.LinAlgError:
            continue
    raise NotPositiveDefinite(
        f"{name} is not positive definite: its factorisation fails even with {LAST_JITTER:g} of "
        "its mean diagonal added; check that the kernel is a covariance function, drop arms that "
        "repeat, or add noise"
    )


def symmetric_root(matrix: Array) -> Array:
    """A square root R of a positive semidefinite matrix, R R^T = matrix; eigenvalues below 0 are 0.

    For covariances too close to singular for `cholesky`; O(n^3), about ten times its cost.
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def pivoted_cholesky(
    row: Callable[[int], Array], diagonal: Array, tolerance: float, max_rank: int
) -> tuple[Array, IntArray, float] | None:
    """A low-rank factor F of a covariance matrix, K = F F^T + E with 0 <= E <= error.

    Greedy: the next pivot is the largest remaining diagonal. The remainder E is itself positive
    semidefinite, so its largest entry stands on its diagonal: the bound is exact.

    Cost: O(n r^2), and r rows of K; O(n r) memory.

    Args:
        row: row(i) gives K[i], (n,).
        diagonal: diag K, (n,).
        tolerance: stop when no diagonal entry of E exceeds this times the largest of K.
        max_rank: the largest rank wanted.
    Returns:
        F (n, r), the pivots (r,), and the error; None as soon as the rank is seen to exceed
        ``max_rank``.
    """
    left = np.array(diagonal, dtype=np.float64)
    n, top = len(left), float(left.max(initial=0.0))
    columns = np.empty((min(max_rank, n), n))
    pivots: list[int] = []
    while left.max(initial=0.0) > tolerance * top:
        r = len(pivots)
        if r >= n:
            break
        if r >= max_rank or _hopeless(r, max_rank, float(left.max()) / top, tolerance):
            return None
        pivot = int(np.argmax(left))
        column = row(pivot) - columns[:r, pivot] @ columns[:r]
        column /= np.sqrt(left[pivot])
        columns[r] = column
        left -= column * column
        left[pivot] = 0.0
        np.maximum(left, 0.0, out=left)
        pivots.append(pivot)
    factor = np.ascontiguousarray(columns[: len(pivots)].T)
    return factor, np.array(pivots, dtype=np.int64), float(left.max(initial=0.0))


def _hopeless(rank: int, max_rank: int, left: float, tolerance: float) -> bool:
    """Whether the remainder falls too slowly to reach the tolerance by ``max_rank``.

    Analytic kernels lose decades geometrically, and faster later; a Matern kernel falls as a
    power of the rank. At a quarter of the way less than an eighth of the decades is a power law.
    """
    if rank < 32 or 4 * rank < max_rank:
        return False
    return np.log(left) / np.log(tolerance) < 0.5 * rank / max_rank

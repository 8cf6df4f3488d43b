"""Cholesky elimination of a small block of observations, with a floor under the pivots."""

import math

import numpy as np

from gpbandits_env.arrays import Array


def floored_cholesky(gram: Array, floor: float) -> tuple[Array, float]:
    """L with L L^T = ``gram`` + D, D diagonal, no squared pivot of L below ``floor``.

    D is zero unless a pivot needs lifting: repeated arms without noise make ``gram`` singular.

    Args:
        gram: (k, k) covariance of the new observations given the old ones.
        floor: the smallest squared pivot, above 0.

    Returns:
        L (k, k) and the largest entry of D. Cost O(k^3), in k steps.
    """
    lower = np.zeros_like(gram)
    jitter = 0.0
    for j in range(len(gram)):
        column = gram[j:, j] - lower[j:, :j] @ lower[j, :j]
        pivot = column.item(0)
        if pivot < floor:
            jitter = max(jitter, floor - pivot)
            pivot = floor
        lower[j:, j] = column / math.sqrt(pivot)
        lower[j, j] = math.sqrt(pivot)
    return lower, jitter


def substitute(lower: Array, rows: Array) -> None:
    """``rows`` <- L^-1 ``rows``, in place.

    Args:
        lower: (k, k) lower triangular.
        rows: (k, ...) right-hand sides.
    """
    for j in range(len(lower)):
        if j:
            rows[j] -= lower[j, :j] @ rows[:j]
        rows[j] /= lower[j, j]

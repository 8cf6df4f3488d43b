"""Whitening of a small block of observations, with a floor under the pivots."""

import math

import numpy as np

from gpbandits_env.arrays import Array


def whitener(gram: Array, floor: float) -> tuple[Array, Array, float]:
    """L^-1 for the Cholesky factor L of ``gram``, with no squared pivot of L below ``floor``.

    A pivot is lifted only when it must be: repeated arms without noise make ``gram`` singular.

    Args:
        gram: (k, k) covariance of new observations given the old ones, noise included.
        floor: the smallest squared pivot, above 0.

    Returns:
        L^-1 (k, k), the squared pivots (k,), and the largest amount added to one. Cost O(k^3).
    """
    try:
        lower = np.linalg.cholesky(gram)
        pivots = lower.diagonal() ** 2
        if pivots.min() >= floor:
            return np.linalg.inv(lower), pivots, 0.0
    except np.linalg.LinAlgError:
        pass
    lower, jitter = _floored_cholesky(gram, floor)
    inverse = np.eye(len(gram))
    for j in range(len(gram)):
        inverse[j] -= lower[j, :j] @ inverse[:j]
        inverse[j] /= lower[j, j]
    return inverse, lower.diagonal() ** 2, jitter


def _floored_cholesky(gram: Array, floor: float) -> tuple[Array, float]:
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

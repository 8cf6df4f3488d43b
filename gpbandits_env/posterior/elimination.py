"""Factorisations of posterior covariances, which may be singular to rounding."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.errors import NotPositiveDefinite
from gpbandits_env.linalg import cholesky, symmetric_root


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
        lower: NDArray[Any] = np.linalg.cholesky(gram)
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


def root(covariance: Array) -> Array:
    """A square root R, R R^T = covariance, for drawing; what rounding made negative counts as 0."""
    try:
        return cholesky(covariance, "posterior covariance")[0]
    except NotPositiveDefinite:
        return symmetric_root(covariance)

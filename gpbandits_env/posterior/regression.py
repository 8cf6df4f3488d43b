"""Posterior mean and variance as functions of the covariances with the data."""

from functools import cached_property

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.kernels.columns import Pulled

# Cross-covariances (n, t) are worked on in pieces of so many numbers (2 MB), which stay in cache.
PIECE = 1 << 18


class Regression:
    r"""What t observations say at points whose prior covariances with them are k (n, t).

    With v = W (k o fade): the mean grows by v^T beta, the variance shrinks by |v|^2. All in matrix
    products, O(n t^2).

    Args:
        white: (t, t) W, the inverse of the Cholesky factor of the data's covariance.
        beta: (t,) W (y - m).
        fade: (t,) what is left of each observation's correlation with now; None if all is.
    """

    def __init__(self, white: Array, beta: Array, fade: Array | None) -> None:
        self.white = white if fade is None else white * fade
        self.beta = beta

    @cached_property
    def alpha(self) -> Array:
        """(t,) weights of the covariances in the mean."""
        return self.beta @ self.white

    def moments(self, k: Array) -> tuple[Array, Array]:
        """By how much the mean is above and the variance below the prior's, (n,) each."""
        v = k @ self.white.T
        return v @ self.beta, np.einsum("ij,ij->i", v, v)

    def gradients(self, k: Array, pulled: Pulled) -> tuple[Array, Array, Array, Array]:
        """The same, and the gradients of both (n, d), given the contraction of those of k."""
        v = k @ self.white.T
        mean, known = v @ self.beta, np.einsum("ij,ij->i", v, v)
        v *= 2.0
        return mean, known, pulled(self.alpha), pulled(v @ self.white)


def pieces(points: int, columns: int) -> list[slice]:
    """Ranges of points whose covariances with so many columns fit the cache."""
    step = max(1, PIECE // max(columns, 1))
    return [slice(start, start + step) for start in range(0, points, step)]

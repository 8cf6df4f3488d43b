"""Posterior mean and variance as functions of the covariances with the data."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.kernels.columns import Pulled
from gpbandits_env.posterior.threads import OneThread

# Cross-covariances (n, t) are worked on in pieces of so many numbers (half a MB), which stay in
# cache; but of no fewer points, or the products would wait for W.
PIECE, FEWEST = 1 << 16, 96
# Triangular products go by strips of so many columns.
STRIP = 128


class Predictor:
    r"""From prior to posterior moments at points of known covariances k (n, t) with t observations.

    With v = W (k o fade): the mean grows by v^T beta, the variance shrinks by |v|^2. All in matrix
    products, O(n t^2). W (t, t) is the inverse of the Cholesky factor of the data's covariance,
    beta (t,) is W (y - m), fade (t,) the correlation of each observation with now, None if all 1.
    """

    def __init__(self, white: Array, beta: Array, fade: Array | None) -> None:
        self.white = white if fade is None else white * fade
        self.beta = beta

    @cached_property
    def alpha(self) -> Array:
        """(t,) weights of the covariances in the mean."""
        return self.beta @ self.white

    def moments(self, mean: Array, var: Array, columns: Callable[[slice], Array]) -> None:
        """Turn the prior's mean and variance (n,) into the posterior's, in place and in pieces.

        ``columns`` gives the covariances (k, t) of a range of points with the data.
        """
        if len(self.beta):
            with OneThread():
                for part in pieces(len(mean), len(self.beta)):
                    v = self._whitened(columns(part))
                    mean[part] += v @ self.beta
                    var[part] -= np.einsum("ij,ij->i", v, v)
                    del v  # Its memory is warm, and taken again for the next part.
            np.maximum(var, 0.0, out=var)

    def gradients(
        self,
        moments: tuple[Array, Array, Array, Array],
        pull: Callable[[slice], tuple[Array, Pulled]],
    ) -> tuple[Array, Array, Array, Array]:
        """The same for mean and variance (n,) and the gradients of both (n, d); returns them.

        ``pull`` gives a range's covariances (k, t) and the contraction of their gradients.
        """
        mean, var, mean_slope, var_slope = moments
        if len(self.beta):
            with OneThread():
                for part in pieces(len(mean), len(self.beta)):
                    k, pulled = pull(part)
                    v = self._whitened(k)
                    mean[part] += v @ self.beta
                    var[part] -= np.einsum("ij,ij->i", v, v)
                    v *= 2.0
                    mean_slope[part] += pulled(self.alpha)
                    var_slope[part] -= pulled(self._unwhitened(v))
                    del k, pulled, v  # Their memory is warm, and taken again for the next part.
            np.maximum(var, 0.0, out=var)
        return moments

    def _whitened(self, k: Array) -> Array:
        """The product k W^T, without the zeros above the diagonal of W."""
        t = len(self.white)
        if t <= STRIP:
            return k @ self.white.T
        v = np.empty(k.shape)
        for start in range(0, t, STRIP):
            stop = min(start + STRIP, t)
            np.matmul(k[:, :stop], self.white[start:stop, :stop].T, out=v[:, start:stop])
        return v

    def _unwhitened(self, v: Array) -> Array:
        """The product v W, likewise."""
        t = len(self.white)
        if t <= STRIP:
            return v @ self.white
        k = np.empty(v.shape)
        for start in range(0, t, STRIP):
            stop = min(start + STRIP, t)
            np.matmul(v[:, start:], self.white[start:, start:stop], out=k[:, start:stop])
        return k


def pieces(points: int, columns: int) -> list[slice]:
    """Ranges of points whose covariances with so many columns fit the cache."""
    step = max(FEWEST, PIECE // max(columns, 1))
    return [slice(start, start + step) for start in range(0, points, step)]

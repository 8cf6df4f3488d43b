"""Posterior functions that can be called anywhere: Matheron's rule over features.

A function from the prior is corrected by what it would have shown at the observed points:

    f | data  =  m + f_0 + k~_t^T (K o D + s^2 I)^-1 (y - m - f_0(X) - noise)

with noise drawn anew. f_0 = phi^T xi on exact or random Fourier features; the correction uses the
kernel itself. Under drift f_0(X) is the path of the prior function at the times of the
observations, and f_0 the present function: given f_0, the former have mean d_i f_0(x_i) and
covariance phi_i . phi_j (D_ij - d_i d_j), which is drawn at the t points at once.

Source: Wilson et al. (2020), "Efficiently sampling functions from Gaussian process posteriors",
eq. (12), with the drift of bogunovic2016, eqs. (3)-(4).
Departures: 1. all functions of one draw share their features (not their coefficients).
"""

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.kernels.columns import Columns
from gpbandits_env.posterior.threads import OneThread
from gpbandits_env.posterior.whitening import pieces, root
from gpbandits_env.samplers import BoxSampler


class Paths:
    """Functions f_1..f_size drawn from a posterior; they stay as they are when it learns more.

    Each is a prior function of coefficients xi (size, rank), plus the kernel's columns at the
    observed points, if any, times weights (size, t). Made by `BoxPosterior.paths`.

    Attributes:
        size: the number of functions.
        error: of the prior functions' covariance, in the units of f squared; see `BoxSampler`.
    """

    def __init__(
        self,
        prior_mean: float,
        features: BoxSampler,
        xi: Array,
        columns: Columns | None,
        weights: Array,
    ) -> None:
        self._prior_mean, self._features, self._xi = prior_mean, features, xi
        self._columns, self._weights = columns, weights
        self.size, self.error = len(xi), features.error

    def __call__(self, x: Array) -> Array:
        """The values of all functions at points: (n, d) -> (size, n).

        O(n (rank + t) (d + size)); random features in single precision, which errs by about 1e-6 of
        the standard deviation. Memory O(n size).
        """
        with OneThread():
            values = self._features.values(x, self._xi)
            values += self._prior_mean
            if self._columns is not None:
                for part in pieces(len(x), self._weights.shape[1]):
                    values[:, part] += self._weights @ self._columns(x[part]).T
        return values

    def climb(self, x: Array, which: IntArray) -> tuple[Array, Array]:
        """Values (n,) and gradients (n, d) at points x (n, d), each of function ``which`` (n,)."""
        with OneThread():
            values, gradients = self._features.pull(x, self._xi[which])
            values += self._prior_mean
            if self._columns is not None:
                k, pulled = self._columns.pull(x)
                weights = self._weights[which]
                values += np.einsum("ij,ij->i", k, weights)
                gradients += pulled(weights)
        return values, gradients


def seen_by(
    rng: np.random.Generator,
    features: Array,
    xi: Array,
    noise_var: float,
    fade: Array | None,
    stamps: Array,
) -> Array:
    """(size, t) noisy observations of prior functions xi (size, rank) at points (t, rank).

    Each observation's time has correlation ``fade`` (t,) with now, None if all are 1; ``stamps``
    are these times, as logarithms of correlation.
    """
    now = xi @ features.T
    white = rng.standard_normal(now.shape)
    if fade is None:
        white *= np.sqrt(noise_var)
        now += white
        return now
    left = np.exp(-np.abs(stamps[:, None] - stamps)) - np.outer(fade, fade)
    covariance = (features @ features.T) * left
    covariance.flat[:: len(covariance) + 1] += noise_var
    then: Array = now * fade
    then += white @ root(covariance).T
    return then

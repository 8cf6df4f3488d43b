r"""Posterior functions that can be evaluated anywhere: Matheron's rule over features.

A function from the prior is corrected by its own noisy values at the observed points:

.. math::
    f \mid y = m + f_0 + \tilde k_t^T (K \circ D + s^2 I)^{-1} (y - m - f_0(X) - \eta)

The noise eta is drawn for each function. f_0 = phi^T xi uses exact or random Fourier features, and
the correction uses the kernel itself. Under drift, f_0(X) stands for the values of the prior
function at the times of the observations, and f_0 is the present function. Given f_0, these values
have mean d_i f_0(x_i) and covariance phi_i . phi_j (T_ij - v d_i d_j), where v is the present T and
d_i that with the present over v, and are drawn jointly.

Source: Wilson et al. (2020), "Efficiently sampling functions from Gaussian process posteriors",
eq. (12), with the drift of bogunovic2016, eqs. (3)-(4).
Departures: 1. all functions of one draw share their features (not their coefficients).
"""

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.kernels.columns import Columns
from gpbandits_env.gp.posterior.whitening import pieces
from gpbandits_env.gp.samplers import BoxSampler
from gpbandits_env.gp.threads import OneThread


class Paths:
    """Functions f_1..f_size drawn from a posterior; later observations do not change them.

    Each is a prior function with coefficients xi (size, rank), plus the kernel's columns at the
    observed points times weights (size, t). `BoxPosterior.paths` draws them.

    Attributes:
        size: the number of functions.
        error: the error of the prior covariance, in units of f squared; see `BoxSampler`.
    """

    def __init__(
        self,
        prior_mean: float,
        features: BoxSampler,
        xi: Array,
        columns: Columns,
        weights: Array,
    ) -> None:
        self._prior_mean, self._features, self._xi = prior_mean, features, xi
        self._columns, self._weights = columns, weights
        self.size, self.error = len(xi), features.error

    def __call__(self, x: Array) -> Array:
        """The values of all functions at points: (n, d) -> (size, n).

        Cost: O(n (rank + t) (d + size)), and memory O(n size). Random features are in single
        precision, with an error of about 1e-6 of the standard deviation.
        """
        with OneThread():
            values = self._features.values(x, self._xi)
            values += self._prior_mean
            for part in pieces(len(x), self._weights.shape[1]):
                values[:, part] += self._weights @ self._columns(x[part]).T
        return values

    def climb(self, x: Array, which: IntArray) -> tuple[Array, Array]:
        """Values (n,) and gradients (n, d) at points x (n, d), each of function ``which`` (n,)."""
        with OneThread():
            values, gradients = self._features.pull(x, self._xi[which])
            values += self._prior_mean
            if self._weights.size:
                k, pulled = self._columns.pull(x)
                weights = self._weights[which]
                values += np.einsum("ij,ij->i", k, weights)
                gradients += pulled(weights)
        return values, gradients

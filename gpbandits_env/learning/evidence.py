r"""The log marginal likelihood of a stationary kernel at points, and its gradient, fast.

.. math:: \log p(y) = -\tfrac12 (y - m)^T \Sigma^{-1} (y - m) - \tfrac12 \log\det\Sigma
    - \tfrac n2 \log 2\pi, \quad \Sigma = v P(\ell) + s^2 I

Source: Rasmussen & Williams (2006), eqs. (5.8)-(5.9); with its best mean m(theta) in the place of
m the gradient keeps its form (envelope theorem).
"""

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from gpbandits_env.arrays import Array
from gpbandits_env.kernels import Stationary
from gpbandits_env.kernels.distances import distances


class Evidence(ABC):
    """log p(y) and its gradient as a function of u = (log lengthscales, log variance, log noise).

    Args:
        kernel: whose family it is; its numbers do not matter.
        points: (n, d).
        rewards: (n,).
        mean: the prior mean; the best one at every u when not given.
    """

    def __init__(
        self, kernel: Stationary, points: Array, rewards: Array, mean: float | None = None
    ) -> None:
        self.family = replace(kernel, lengthscale=1.0, variance=1.0)
        self.points, self._mean = points, mean
        n = len(points)
        self._i, self._j = np.triu_indices(n, 1)
        self._pairs = self._i * n + self._j
        self._right = np.asfortranarray(np.column_stack([rewards, np.ones(n)]))

    @abstractmethod
    def _scaled(self, lengthscales: Array) -> Array:
        """The scaled distances of all pairs i < j, (n (n - 1) / 2,)."""

    @abstractmethod
    def _lengthscale_slopes(self, weights: Array, r: Array, lengthscales: Array) -> Array:
        """Sum over pairs of weights * dr^2/dlog(ell), one number a lengthscale, times -1/2."""

    def __call__(self, u: Array) -> tuple[float, Array]:
        """Log p(y) in nats, -inf where the matrix cannot be factorised, and its gradient.

        Cost: O(n^3) with a small constant: one factorisation and one inverse, half of a matrix of
        kernel values and slopes.
        """
        lengthscales, (variance, noise) = np.exp(u[:-2]), np.exp(u[-2:]).tolist()
        r = self._scaled(lengthscales)
        k = self.family.profile(r)
        factor, info = self._factor(variance * k, variance + noise)
        if info:
            return -np.inf, np.zeros(len(u))
        value, alpha = self._value(factor)
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        trace = float(alpha @ alpha) - float(np.trace(inverse))
        # alpha alpha^T - Sigma^-1 over the pairs i < j: every derivative is its product with dSigma
        outer = alpha[self._i]
        outer *= alpha[self._j]
        outer -= inverse.T.ravel()[self._pairs]
        in_variance = variance * (0.5 * trace + float(outer @ k))
        outer *= self.family.slope(r)
        outer *= variance
        in_scales = self._lengthscale_slopes(outer, r, lengthscales)
        return value, np.array([*in_scales, in_variance, 0.5 * noise * trace])

    def mean(self, u: Array) -> float:
        """The prior mean at u: as given, or the best one."""
        variance, noise = np.exp(u[-2:]).tolist()
        k = self.family.profile(self._scaled(np.exp(u[:-2])))
        factor, info = self._factor(variance * k, variance + noise)
        return np.nan if info else self._best_mean(*dpotrs(factor, self._right, lower=1)[0].T)

    def _factor(self, covariances: Array, diagonal: float) -> tuple[Array, int]:
        n = len(self.points)
        sigma = np.empty((n, n))
        flat = sigma.reshape(-1)
        flat[self._pairs] = covariances
        flat[:: n + 1] = diagonal
        # The upper triangle of rows is LAPACK's lower one of columns: nothing is copied.
        factor, info = dpotrf(sigma.T, lower=1, overwrite_a=1, clean=0)
        return factor, int(info)

    def _value(self, factor: Array) -> tuple[float, Array]:
        solved, _ = dpotrs(factor, self._right, lower=1)
        mean = self._best_mean(solved[:, 0], solved[:, 1])
        alpha = solved[:, 0] - mean * solved[:, 1]
        fit = float((self._right[:, 0] - mean) @ alpha)
        half_log_det = float(np.log(np.diag(factor)).sum())
        value = -0.5 * fit - half_log_det - 0.5 * len(alpha) * float(np.log(2.0 * np.pi))
        return value, alpha

    def _best_mean(self, of_rewards: Array, of_ones: Array) -> float:
        if self._mean is not None:
            return self._mean
        return float(of_rewards.sum() / of_ones.sum())


class Isotropic(Evidence):
    """One lengthscale: the distances are computed once for all evaluations."""

    def __init__(
        self, kernel: Stationary, points: Array, rewards: Array, mean: float | None = None
    ) -> None:
        super().__init__(kernel, points, rewards, mean)
        self._distances = distances(points, points, 1.0).reshape(-1)[self._pairs]

    def _scaled(self, lengthscales: Array) -> Array:
        return np.asarray(self._distances / lengthscales[0])

    def _lengthscale_slopes(self, weights: Array, r: Array, lengthscales: Array) -> Array:
        weights *= r
        return np.array([weights @ r])


class Anisotropic(Evidence):
    """A lengthscale per coordinate; a matrix product of (n, n) and (n, d) per evaluation."""

    def _scaled(self, lengthscales: Array) -> Array:
        scaled = distances(self.points, self.points, lengthscales)
        return scaled.reshape(-1)[self._pairs]

    def _lengthscale_slopes(self, weights: Array, r: Array, lengthscales: Array) -> Array:
        # sum_{i<j} w_ij (x_i - x_j)^2 = sum_i (W 1)_i x_i^2 - x^T W x, W symmetric with diagonal 0
        n, x = len(self.points), self.points / lengthscales
        full = np.zeros((n, n))
        full.reshape(-1)[self._pairs] = weights
        full += full.T
        return np.asarray(full.sum(axis=1) @ x**2 - np.einsum("ij,ij->j", x, full @ x))

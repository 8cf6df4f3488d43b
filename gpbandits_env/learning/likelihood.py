r"""The log marginal likelihood of a (drifting) Gaussian process, with its gradient.

.. math:: \log p(y) = -\tfrac12 y^T \Sigma^{-1} y - \tfrac12 \log\det\Sigma - \tfrac n2 \log 2\pi,
    \quad \Sigma = K \circ D + s^2 I, \quad D_{ij} = (1 - \epsilon)^{|t_i - t_j| / 2}

Source: bogunovic2016, Appendix B, eqs. (24)-(25); Rasmussen & Williams (2006), eq. (5.9).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gpbandits_env.arrays import Array
from gpbandits_env.errors import NotPositiveDefinite
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning.data import Observations, Panel


@dataclass(frozen=True)
class Likelihood:
    """A log marginal likelihood and its partial derivatives.

    Attributes:
        value: log p(y), in nats.
        epsilon: its derivative in epsilon.
        noise_var: its derivative in the log of the noise variance.
        kernel: its derivatives in the logs of the kernel's parameters, by name.
    """

    value: float
    epsilon: float
    noise_var: float
    kernel: dict[str, float]

    def __add__(self, other: "Likelihood") -> "Likelihood":
        """Independent data: logarithms add."""
        return Likelihood(
            self.value + other.value,
            self.epsilon + other.epsilon,
            self.noise_var + other.noise_var,
            {name: g + other.kernel.get(name, 0.0) for name, g in self.kernel.items()},
        )


def time_decay(lags: Array, epsilon: float) -> tuple[Array, Array]:
    """D = (1 - epsilon)^v and its derivative in epsilon, -v (1 - epsilon)^(v - 1), v = lag / 2.

    Args:
        lags: |t_i - t_j| >= 0, any shape.
        epsilon: in [0, 1); at 1 the derivative is infinite for lags below 2.
    Source: bogunovic2016, eqs. (24)-(25).
    """
    v = 0.5 * lags
    keep = 1.0 - epsilon
    return keep**v, -v * keep ** (v - 1.0)


def log_marginal_likelihood(
    kernel: Kernel, noise_var: float, epsilon: float, data: Observations
) -> Likelihood:
    """Of readings anywhere at any times.

    Cost: O(n^3) for n readings, and one n x n matrix per kernel parameter.

    Args:
        kernel: the covariance in space.
        noise_var: s^2 > 0.
        epsilon: in [0, 1).
        data: the readings.
    Raises:
        NotPositiveDefinite: the covariance of the readings cannot be factorised.
    """
    gram = kernel(data.points)
    decay, slope = time_decay(np.abs(data.times[:, None] - data.times), epsilon)
    value, outer = _value_and_outer(gram * decay, noise_var, data.rewards)
    in_space = outer * decay
    return Likelihood(
        value,
        0.5 * float(np.sum(outer * gram * slope)),
        0.5 * noise_var * float(np.trace(outer)),
        {
            name: 0.5 * float(np.sum(in_space * g))
            for name, g in kernel.parameter_gradients(data.points).items()
        },
    )


class PanelLikelihood:
    """The likelihood of panels, in epsilon and the noise, for a fixed covariance of the arms.

    With K = U diag(lam) U^T the rotated series (Y U)_i are independent first-order Markov
    processes of variance lam_i, seen in noise: a scalar Kalman filter each, all run at once.

    Cost: O(n T) a call for T times of n arms, after one eigendecomposition.

    Args:
        covariance: (n, n) of the arms.
        panels: independent panels, e.g. one a day; times in increasing order.
    """

    def __init__(self, covariance: Array, panels: Sequence[Panel]) -> None:
        eigenvalues, vectors = np.linalg.eigh(covariance)
        self.eigenvalues = np.maximum(eigenvalues, 0.0)
        self._gaps = [np.diff(p.times, prepend=p.times[0]) for p in panels]
        self._series = [p.values @ vectors for p in panels]

    def __call__(self, noise_var: float, epsilon: float) -> Likelihood:
        """The likelihood and its derivatives in epsilon and log noise_var."""
        total = np.zeros(3)
        for gaps, series in zip(self._gaps, self._series, strict=True):
            total += self._filter(gaps, series, noise_var, epsilon)
        value, epsilon_slope, noise_slope = map(float, total)
        return Likelihood(value, epsilon_slope, noise_slope, {})

    def _filter(self, gaps: Array, series: Array, noise_var: float, epsilon: float) -> Array:
        """The filter's log likelihood, and its derivatives carried forward through every step.

        Rows of the derivative arrays: in epsilon, in log noise_var.
        """
        lam, n = self.eigenvalues, len(self.eigenvalues)
        carry, slope = time_decay(gaps, epsilon)
        mean, var = np.zeros(n), lam.copy()
        d_mean, d_var = np.zeros((2, n)), np.zeros((2, n))
        d_noise = np.array([[0.0], [noise_var]])
        value, gradient = -0.5 * series.size * np.log(2.0 * np.pi), np.zeros(2)
        for a, da, y in zip(carry, slope, series, strict=True):
            d_a = np.array([[da], [0.0]])
            d_mean = d_a * mean + a * d_mean
            d_var = 2.0 * a * d_a * (var - lam) + a**2 * d_var
            mean, var = a * mean, a**2 * var + (1.0 - a**2) * lam
            total, d_total = var + noise_var, d_var + d_noise
            gap = (y - mean) / total
            value -= 0.5 * float(np.sum(np.log(total)) + gap @ (y - mean))
            gradient -= 0.5 * np.sum(d_total / total - 2 * gap * d_mean - gap**2 * d_total, axis=1)
            d_gain = (d_var - var / total * d_total) / total
            d_mean = d_mean * (noise_var / total) + d_gain * (y - mean)
            mean = mean + var * gap
            d_var = (d_var * noise_var + var * d_noise - var * noise_var / total * d_total) / total
            var = var * noise_var / total
        return np.array([value, *gradient])


def _value_and_outer(covariance: Array, noise_var: float, y: Array) -> tuple[float, Array]:
    """The log likelihood, and alpha alpha^T - Sigma^-1, of which every derivative is a trace."""
    sigma = covariance + noise_var * np.eye(len(y))
    try:
        factor = cho_factor(sigma, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError:
        raise NotPositiveDefinite(
            "the covariance of the readings is not positive definite; "
            f"try a larger noise_var than {noise_var:g}"
        ) from None
    alpha = cho_solve(factor, y)
    log_det = 2.0 * float(np.sum(np.log(np.diag(factor[0]))))
    value = -0.5 * float(y @ alpha) - 0.5 * log_det - 0.5 * len(y) * np.log(2.0 * np.pi)
    return value, np.outer(alpha, alpha) - cho_solve(factor, np.eye(len(y)))

"""Acquisitions: plain functions of (mean, variance) that score points, with their derivatives."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr

from gpbandits_env.arrays import Array

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
# Below this z the two terms of log h cancel; from there on its expansion is exact to rounding.
FAR = -1.0 / math.sqrt(np.finfo(np.float64).eps)
# Between the plain formula and the cancelling one.
NEAR = -1.0


class Acquisition(ABC):
    """A score for every point; larger is better. Variances are at least 0."""

    @abstractmethod
    def score(self, mean: Array, var: Array) -> Array:
        """The scores, of the common shape of mean and variance."""

    @abstractmethod
    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        """The derivatives of the score in the mean and in the variance, where it is above 0."""


@dataclass(frozen=True)
class UCB(Acquisition):
    """The upper confidence bound mu + sqrt(beta) sigma.

    Args:
        beta: at least 0; it multiplies the variance under the root.
    Source: srinivas2010, eq. (6).
    """

    beta: float

    def score(self, mean: Array, var: Array) -> Array:  # noqa: D102
        bound = np.sqrt(var)
        bound *= math.sqrt(self.beta)
        bound += mean
        return bound

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:  # noqa: D102
        return np.ones_like(mean), 0.5 * math.sqrt(self.beta) / np.sqrt(var)


@dataclass(frozen=True)
class LogEI(Acquisition):
    """The logarithm of the expected improvement E max(f - incumbent - margin, 0).

    In logarithms, because the improvement itself underflows to 0 at most arms most of the time.

    Args:
        incumbent: the value to improve on.
        margin: by how much.
    Source: Mockus et al. (1978); the stable form is Ament et al. (2023), eq. (9).
    """

    incumbent: float
    margin: float = 0.0

    def score(self, mean: Array, var: Array) -> Array:  # noqa: D102
        gap, sd = mean - (self.incumbent + self.margin), np.sqrt(var)
        with np.errstate(divide="ignore", invalid="ignore"):
            certain = np.log(np.maximum(gap, 0.0))
            return np.where(sd > 0, log_h(gap / np.where(sd > 0, sd, 1.0)) + np.log(sd), certain)

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:  # noqa: D102
        # EI = sd h(z), h' = Phi: d EI/d mean = Phi(z), d EI/d var = phi(z) / (2 sd).
        sd = np.sqrt(var)
        z = (mean - (self.incumbent + self.margin)) / sd
        log_ei = log_h(z) + np.log(sd)
        in_var = np.exp(-0.5 * z**2 - LOG_SQRT_2PI - np.log(2.0 * sd) - log_ei)
        return np.exp(log_ndtr(z) - log_ei), in_var


@dataclass(frozen=True)
class LogPI(Acquisition):
    """The logarithm of the probability of improvement P(f > incumbent + margin).

    Args:
        incumbent: the value to improve on.
        margin: by how much.
    Source: Mockus (1989).
    """

    incumbent: float
    margin: float = 0.0

    def score(self, mean: Array, var: Array) -> Array:  # noqa: D102
        gap, sd = mean - (self.incumbent + self.margin), np.sqrt(var)
        certain = np.where(gap > 0, 0.0, -np.inf)
        return np.where(sd > 0, log_ndtr(gap / np.where(sd > 0, sd, 1.0)), certain)

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:  # noqa: D102
        sd = np.sqrt(var)
        z = (mean - (self.incumbent + self.margin)) / sd
        hazard = np.exp(-0.5 * z**2 - LOG_SQRT_2PI - log_ndtr(z))
        return hazard / sd, -0.5 * hazard * z / var


@dataclass(frozen=True)
class Mean(Acquisition):
    """The posterior mean alone."""

    def score(self, mean: Array, var: Array) -> Array:  # noqa: D102
        return mean.copy()

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:  # noqa: D102
        return np.ones_like(mean), np.zeros_like(var)


@dataclass(frozen=True)
class Variance(Acquisition):
    """The posterior variance alone: the greedy experimental design of srinivas2010, eq. (4)."""

    def score(self, mean: Array, var: Array) -> Array:  # noqa: D102
        return var.copy()

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:  # noqa: D102
        return np.zeros_like(mean), np.ones_like(var)


def log_h(z: Array) -> Array:
    """log(phi(z) + z Phi(z)), accurate to rounding for every z; -inf only at -inf.

    With R(z) = Phi(z)/phi(z) the Mills ratio, h = phi (1 + z R). For z < -1 the bracket cancels
    and log1p of -|z| R is taken, down to -6.7e7, from where 1 + z R = 1/z^2 to rounding.

    Source: Ament et al. (2023), eq. (9).
    """
    z = np.asarray(z, dtype=np.float64)
    plain = np.maximum(z, NEAR)
    near = np.log(np.exp(-0.5 * plain**2 - LOG_SQRT_2PI) + plain * np.exp(log_ndtr(plain)))
    far = np.clip(z, FAR, NEAR)
    ratio = math.sqrt(0.5 * math.pi) * erfcx(-far / math.sqrt(2.0)) * far
    middle = np.log(_one_plus(ratio, far)) - 0.5 * far**2 - LOG_SQRT_2PI
    beyond = np.minimum(z, FAR)
    tail = -2.0 * np.log(-beyond) - 0.5 * beyond**2 - LOG_SQRT_2PI
    return np.where(z > NEAR, near, np.where(z > FAR, middle, tail))


def _one_plus(ratio: Array, z: Array) -> Array:
    """1 + z R(z), z <= -1: by its asymptotic series where the sum would lose digits."""
    w = 1.0 / np.minimum(z, -1.0) ** 2
    # 1 - (1 - 1/z^2 + 3/z^4 - ...): alternating odd factorials, exact to 1e-16 for z < -40.
    series = w * (1 - 3 * w * (1 - 5 * w * (1 - 7 * w * (1 - 9 * w * (1 - 11 * w * (1 - 13 * w))))))
    return np.where(z < -40.0, series, 1.0 + ratio)

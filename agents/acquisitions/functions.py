"""Acquisitions: plain functions of (mean, variance) that score points, with their derivatives."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from gpbandits_env.agents.acquisitions.improvement_logs import hazard, log_h, log_h_and_slopes
from gpbandits_env.arrays import Array

# A variance below this counts as none, so that nothing overflows.
KNOWN = 1e-100

# The reciprocal of a smaller gap overflows.
SMALLEST_GAP = float(np.finfo(float).tiny)


class Acquisition(ABC):
    """A score for every point; larger is better.

    Means and variances are arrays of one shape, variances at least 0. A point without variance is
    known: its score is the limit, and infinite derivatives there are given as 0.

    Attributes:
        logarithmic: whether the score is the logarithm of what the field calls the acquisition.
    """

    logarithmic: ClassVar[bool] = False

    @abstractmethod
    def score(self, mean: Array, var: Array) -> Array:
        """The scores, fresh, of the shape of mean and variance."""

    @abstractmethod
    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        """The derivatives of the score in the mean and in the variance, finite everywhere."""

    def score_and_gradient(self, mean: Array, var: Array) -> tuple[Array, Array, Array]:
        """Both, for climbs; cheaper than one after the other where they share."""
        return self.score(mean, var), *self.gradient(mean, var)


@dataclass(frozen=True)
class UCB(Acquisition):
    """The upper confidence bound mu + sqrt(beta) sigma.

    Args:
        beta: at least 0; it multiplies the variance under the root.
    Source: srinivas2010, eq. (6).
    """

    beta: float

    def score(self, mean: Array, var: Array) -> Array:
        bound = np.sqrt(var)
        bound *= math.sqrt(self.beta)
        bound += mean
        return bound

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        in_var = 0.5 * math.sqrt(self.beta) / np.sqrt(np.maximum(var, KNOWN))
        return np.ones_like(mean), np.where(var < KNOWN, 0.0, in_var)


@dataclass(frozen=True)
class LCB(Acquisition):
    """The lower confidence bound mu - sqrt(beta) sigma.

    Args:
        beta: at least 0; it multiplies the variance under the root.
    """

    beta: float

    def score(self, mean: Array, var: Array) -> Array:
        return mean - math.sqrt(self.beta) * np.sqrt(var)

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        in_mean, in_var = UCB(self.beta).gradient(mean, var)
        return in_mean, -in_var


@dataclass(frozen=True)
class RegretToSigma(Acquisition):
    """Minus the ratio (level - mu) / sigma; a known point below the level has -inf.

    Args:
        level: above all means, the maximum that a sample promises.
    Source: ren2024, Algorithm 1, line 7.
    """

    level: float

    def score(self, mean: Array, var: Array) -> Array:
        gap, sd, known = _standard(mean, var, self.level)
        ratio: Array = gap / sd
        if known.any():
            ratio[known] = np.where(gap[known] > 0, np.inf, -np.inf)
        return ratio

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        gap, sd, known = _standard(mean, var, self.level)
        return np.where(known, 0.0, 1.0 / sd), np.where(known, 0.0, -0.5 * gap / sd / sd**2)


@dataclass(frozen=True)
class LogEI(Acquisition):
    """The logarithm of the expected improvement E max(f - incumbent - margin, 0).

    The improvement itself underflows to 0 at most arms most of the time. The score of a known point
    is log max(mu - incumbent - margin, 0), which may be -inf.

    Args:
        incumbent: the value to improve on.
        margin: by how much.
    Source: Mockus et al. (1978); the stable form is Ament et al. (2023), eq. (9).
    """

    logarithmic: ClassVar[bool] = True

    incumbent: float
    margin: float = 0.0

    def score(self, mean: Array, var: Array) -> Array:
        gap, sd, known = _standard(mean, var, self.incumbent + self.margin)
        score = log_h(gap / sd)
        score += np.log(sd)
        if known.any():
            with np.errstate(divide="ignore"):
                score[known] = np.log(np.maximum(gap[known], 0.0))
        return score

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return self.score_and_gradient(mean, var)[1:]

    def score_and_gradient(self, mean: Array, var: Array) -> tuple[Array, Array, Array]:
        # EI = sd h(z), h' = Phi: d EI/d mean = Phi(z), d EI/d var = phi(z) / (2 sd).
        gap, sd, known = _standard(mean, var, self.incumbent + self.margin)
        score, in_mean, in_var = log_h_and_slopes(gap / sd)
        score += np.log(sd)
        in_mean /= sd
        in_var /= 2 * sd**2
        if known.any():
            with np.errstate(divide="ignore"):
                score[known] = np.log(np.maximum(gap[known], 0.0))
            certain = np.divide(1.0, gap, out=np.zeros_like(gap), where=gap > SMALLEST_GAP)
            in_mean, in_var = np.where(known, certain, in_mean), np.where(known, 0.0, in_var)
        return score, in_mean, in_var


@dataclass(frozen=True)
class LogPI(Acquisition):
    """The logarithm of the probability of improvement P(f > incumbent + margin).

    The score of a known point is 0 or -inf.

    Args:
        incumbent: the value to improve on.
        margin: by how much.
    Source: Mockus (1989).
    """

    logarithmic: ClassVar[bool] = True

    incumbent: float
    margin: float = 0.0

    def score(self, mean: Array, var: Array) -> Array:
        gap, sd, known = _standard(mean, var, self.incumbent + self.margin)
        score: Array = log_ndtr(gap / sd)
        if known.any():
            score[known] = np.where(gap[known] > 0, 0.0, -np.inf)
        return score

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        gap, sd, known = _standard(mean, var, self.incumbent + self.margin)
        slope = np.where(known, 0.0, hazard(gap / sd) / sd)
        return slope, -0.5 * slope * gap / sd**2


@dataclass(frozen=True)
class Mean(Acquisition):
    """The posterior mean alone."""

    def score(self, mean: Array, var: Array) -> Array:
        return mean.copy()

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return np.ones_like(mean), np.zeros_like(var)


@dataclass(frozen=True)
class Variance(Acquisition):
    """The posterior variance alone: the greedy experimental design of srinivas2010, eq. (4)."""

    def score(self, mean: Array, var: Array) -> Array:
        return var.copy()

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return np.zeros_like(mean), np.ones_like(var)


def _standard(mean: Array, var: Array, level: float) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The mean above a level, the standard deviation (never 0), and which points are known."""
    return mean - level, np.sqrt(np.maximum(var, KNOWN)), var < KNOWN

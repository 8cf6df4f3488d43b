"""Acquisitions: functions of (mean, variance) that score points, with their derivatives.

Log-EI and log-PI are accurate in both tails. With R(z) = Phi(z) / phi(z) the Mills ratio and
h(z) = phi(z) + z Phi(z) = phi(z) (1 + z R(z)), h times sigma is the expected improvement at
z = (mu - incumbent) / sigma.

Source: Ament et al. (2023), "Unexpected Improvements to Expected Improvement", eq. (9).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtr

from gpbandits_env.arrays import TIE, Array, IntArray, leading, positive
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.problem import Problem

# A smaller variance counts as 0, which avoids overflow.
KNOWN = 1e-100

# The reciprocal of a smaller gap overflows.
SMALLEST_GAP = float(np.finfo(float).tiny)

# The least gap in the ratio of regret to sigma under constraints, relative to sigma.
LEAST_GAP = 0.1

# Scores that do not distinguish between actions.
UNDECIDED = (-math.inf, 0.0)
SQRT_2 = math.sqrt(2.0)
SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
# Below NEAR, phi + z Phi loses digits to cancellation. Below FAR, 1 + z R does too, but there its
# series has converged.
NEAR, FAR = -1.0, -40.0


class AcquisitionRule(ABC):
    """Makes the acquisition of each round from the round and the data."""

    def prepared(self, problem: Problem, arms: int | None) -> Self:
        """The rule with the constants that it takes from the problem.

        Args:
            problem: the problem of the agent.
            arms: the number of arms of the posterior; None in a box.
        """
        return self

    @abstractmethod
    def at(self, now: Any) -> "Acquisition":
        """The acquisition of a `rules.Round`."""


class Acquisition(AcquisitionRule):
    """A score for every point; larger is better. As a rule, it is the same in every round.

    Means and variances are arrays of the same shape; variances are at least 0. The value of a point
    with variance 0 is known: its score is the limit, and infinite derivatives there are set to 0.

    A score that compares the mean with a level has the attribute ``level``.

    Attributes:
        logarithmic: whether the score is the logarithm of the usual acquisition.
    """

    logarithmic: ClassVar[bool] = False

    @abstractmethod
    def score(self, mean: Array, var: Array) -> Array:
        """The scores, a new array of the shape of mean and variance."""

    @abstractmethod
    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        """The derivatives of the score by the mean and by the variance, finite everywhere."""

    def at(self, now: Any) -> "Acquisition":
        return self

    def score_and_gradient(self, mean: Array, var: Array) -> tuple[Array, Array, Array]:
        """The score and its two derivatives; cheaper than two calls where they share terms."""
        return self.score(mean, var), *self.gradient(mean, var)

    def size(self, mean: Array, var: Array, at: int) -> float:
        """The size of the terms of the score at one point, whose rounding the score inherits.

        That is how much the score changes to first order if the mean, the level with which it is
        compared and the variance change by as much as they are.
        """
        mean, var = mean[at : at + 1], var[at : at + 1]
        in_mean, in_var = self.gradient(mean, var)
        level = abs(getattr(self, "level", 0.0))
        terms = np.abs(in_mean) * (np.abs(mean) + level) + np.abs(in_var) * var
        return float(terms.item())

    def in_logarithms(self, floor: float, incumbent: float = -math.inf) -> "Acquisition":
        """A logarithmic acquisition with the same order, to which log-probabilities are added.

        Args:
            floor: the score that counts as 0; -inf stands for any lower score. It is not used if
                the acquisition is logarithmic or has a natural zero.
            incumbent: the largest mean of an observed point; an upper bound counts from there.
        """
        return self if self.logarithmic else LogExcess(self, floor)


@dataclass(frozen=True)
class LogExcess(Acquisition):
    """The logarithm of another score minus a level; -inf at and below the level.

    Args:
        inner: the other score.
        level: the score that counts as 0.
    """

    logarithmic: ClassVar[bool] = True

    inner: Acquisition
    level: float

    def score(self, mean: Array, var: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(self.inner.score(mean, var) - self.level, 0.0))

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        score, in_mean, in_var = self.inner.score_and_gradient(mean, var)
        excess = score - self.level
        factor = np.divide(1.0, excess, out=np.zeros_like(excess), where=excess > SMALLEST_GAP)
        return factor * in_mean, factor * in_var


@dataclass(slots=True, unsafe_hash=True)  # a frozen one takes twice the time to make, each round
class UCB(Acquisition):
    """The upper confidence bound mu + sqrt(beta) sigma.

    Args:
        beta: at least 0; it multiplies the variance under the root.
    Source: srinivas2010, eq. (6).
    """

    side: ClassVar[float] = 1.0

    beta: float

    def prepared(self, problem: Problem, arms: int | None) -> Self:
        positive(self.beta, "beta", zero=True)  # not when it is made, which is in every round
        return self

    def score(self, mean: Array, var: Array) -> Array:
        bound = np.sqrt(var)
        bound *= self.side * math.sqrt(self.beta)
        bound += mean
        return bound

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        in_var = 0.5 * self.side * math.sqrt(self.beta) / np.sqrt(np.maximum(var, KNOWN))
        return np.ones_like(mean), np.where(var < KNOWN, 0.0, in_var)

    def size(self, mean: Array, var: Array, at: int) -> float:
        return abs(mean.item(at)) + math.sqrt(self.beta * var.item(at))

    def in_logarithms(self, floor: float, incumbent: float = -math.inf) -> Acquisition:
        return LogExcess(self, max(floor, incumbent))


@dataclass(slots=True, unsafe_hash=True)
class LCB(UCB):
    """The lower confidence bound mu - sqrt(beta) sigma; see `UCB`."""

    side: ClassVar[float] = -1.0

    def in_logarithms(self, floor: float, incumbent: float = -math.inf) -> Acquisition:
        return LogExcess(self, floor)


@dataclass(frozen=True)
class RegretToSigma(Acquisition):
    """The negative ratio -(level - mu) / sigma; -inf at known points below the level.

    Args:
        level: the maximum of a posterior sample, above all means.
    Source: ren2024, Algorithm 1, line 4.
    """

    level: float

    def score(self, mean: Array, var: Array) -> Array:
        return self.score_and_gradient(mean, var)[0]

    def score_and_gradient(self, mean: Array, var: Array) -> tuple[Array, Array, Array]:
        gap, sd, known = _standard(mean, var, self.level)
        ratio = gap / sd
        in_mean, in_var = 1.0 / sd, -0.5 * ratio / sd**2
        if known.any():
            ratio[known] = np.where(gap[known] > 0, np.inf, -np.inf)
            in_mean[known], in_var[known] = 0.0, 0.0
        return ratio, in_mean, in_var

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return self.score_and_gradient(mean, var)[1:]

    def in_logarithms(self, floor: float, incumbent: float = -math.inf) -> "Acquisition":
        return LogSigmaToRegret(self.level)


@dataclass(frozen=True)
class LogSigmaToRegret(Acquisition):
    """The logarithm of sigma / (level - mu), which orders points as `RegretToSigma` does.

    **CHOICE**: a gap below a tenth of sigma counts as that much. Under constraints the level is the
    maximum over the feasible points, and means of points that are hardly feasible may be above it.

    Args:
        level: the maximum of a posterior sample over its feasible points.
    """

    logarithmic: ClassVar[bool] = True

    level: float

    def score(self, mean: Array, var: Array) -> Array:
        gap, sd, known = _standard(mean, var, self.level)
        score: Array = np.log(sd) - np.log(np.maximum(-gap, LEAST_GAP * sd))
        score[known] = -np.inf
        return score

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        gap, sd, known = _standard(mean, var, self.level)
        flat = known | (-gap <= LEAST_GAP * sd)
        in_mean = np.divide(-1.0, gap, out=np.zeros_like(gap), where=~flat)
        return in_mean, np.where(flat, 0.0, 0.5 / sd**2)


@dataclass(frozen=True)
class LogEI(Acquisition):
    """The logarithm of the expected improvement E max(f - level - margin, 0).

    The expected improvement itself often underflows to 0 at most arms. The score of a known point
    is log max(mu - level - margin, 0), which may be -inf.

    Args:
        level: the incumbent, the value to improve on.
        margin: by how much.
    Source: Mockus et al. (1978); the stable form is Ament et al. (2023), eq. (9).
    """

    logarithmic: ClassVar[bool] = True

    level: float
    margin: float = 0.0

    def score(self, mean: Array, var: Array) -> Array:
        gap, sd, known = _standard(mean, var, self.level + self.margin)
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
        gap, sd, known = _standard(mean, var, self.level + self.margin)
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
class Augmented(Acquisition):
    r"""The logarithm of an acquisition times a factor that is small where noise hides what is new.

    .. math:: 1 - s / \sqrt{\sigma^2(x) + s^2}

    for noise of variance s^2: a noisy value at a point whose standard deviation is far below s says
    little, so that points are not evaluated again and again. Without noise the factor is 1.

    Args:
        inner: the logarithmic acquisition.
        noise_var: s^2, at least 0.
    Source: Huang, Allen, Notz & Zeng (2006), eq. (12).
    """

    logarithmic: ClassVar[bool] = True

    inner: "LogEI | LogPI"
    noise_var: float

    def score(self, mean: Array, var: Array) -> Array:
        return self.inner.score(mean, var) + self._factor(var)[0]

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return self.score_and_gradient(mean, var)[1:]

    def score_and_gradient(self, mean: Array, var: Array) -> tuple[Array, Array, Array]:
        score, in_mean, in_var = self.inner.score_and_gradient(mean, var)
        factor, slope = self._factor(var)
        return score + factor, in_mean, in_var + np.where(var < KNOWN, 0.0, slope)

    @property
    def level(self) -> float:
        """The level of the acquisition."""
        return self.inner.level

    def _factor(self, var: Array) -> tuple[Array, Array]:
        """The logarithm of the factor, as v / (r (r + s)) with r^2 = v + s^2, and its slope."""
        known, s = np.maximum(var, KNOWN), math.sqrt(self.noise_var)
        total = np.sqrt(known + self.noise_var)
        factor = np.log(known) - np.log(total) - np.log(total + s)
        return factor, 1.0 / known - 0.5 / total**2 - 0.5 / (total * (total + s))


@dataclass(frozen=True)
class LogPI(Acquisition):
    """The logarithm of the probability of improvement P(f > level + margin).

    The score of a known point is 0 or -inf.

    Args:
        level: the incumbent, the value to improve on.
        margin: by how much.
    Source: Mockus (1989).
    """

    logarithmic: ClassVar[bool] = True

    level: float
    margin: float = 0.0

    def score(self, mean: Array, var: Array) -> Array:
        gap, sd, known = _standard(mean, var, self.level + self.margin)
        score: Array = log_ndtr(gap / sd)
        if known.any():
            score[known] = np.where(gap[known] > 0, 0.0, -np.inf)
        return score

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        gap, sd, known = _standard(mean, var, self.level + self.margin)
        # The derivative of log Phi is phi / Phi.
        slope = np.where(known, 0.0, 1.0 / mills(gap / sd) / sd)
        return slope, -0.5 * slope * gap / sd**2


@dataclass(frozen=True)
class Indifferent(Acquisition):
    """The score 0 everywhere, in logarithms; under constraints only the feasibility counts."""

    logarithmic: ClassVar[bool] = True

    def score(self, mean: Array, var: Array) -> Array:
        return np.zeros_like(mean)

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return np.zeros_like(mean), np.zeros_like(var)


@dataclass(frozen=True)
class Mean(Acquisition):
    """The posterior mean."""

    def score(self, mean: Array, var: Array) -> Array:
        return mean.copy()

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return np.ones_like(mean), np.zeros_like(var)

    def size(self, mean: Array, var: Array, at: int) -> float:
        return float(np.abs(mean).max())  # the covariances with all observations are rounded


@dataclass(frozen=True)
class Variance(Acquisition):
    """The posterior variance: the greedy experimental design of srinivas2010, eq. (4)."""

    def score(self, mean: Array, var: Array) -> Array:
        return var.copy()

    def gradient(self, mean: Array, var: Array) -> tuple[Array, Array]:
        return np.zeros_like(mean), np.ones_like(var)


def _standard(mean: Array, var: Array, level: float) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The mean minus a level, the standard deviation (never 0), and which points are known."""
    return mean - level, np.sqrt(np.maximum(var, KNOWN)), var < KNOWN


def leader(
    acquisition: Acquisition,
    score: Array,
    mean: Array,
    var: Array,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[IntArray, float]:
    """The index of the largest score, a new array (1,), and the difference that still is a tie.

    The lowest index of a tie leads. If the largest score is -inf (no action can improve) or several
    are 0 (all of them improve almost surely), the logarithms do not distinguish actions, and the
    largest mean decides.

    Args:
        acquisition: whose scores they are; logarithms of probabilities may have been added.
        score: (n,).
        mean: (n,).
        var: (n,).
        allowed: (n,) if given, only these may lead; the scores of the others are -inf.
    Raises:
        InvalidInput: a score is NaN or inf, or there is not one score per mean.
    """
    try:
        first = score.argmax(axis=-1, keepdims=True)  # the first NaN, if there is one
        at, fits = first.item(), len(score) == len(mean)
        top = score.item(at)
    except (AttributeError, TypeError, ValueError):  # asking for the type and shape costs more
        fits = False
    if not fits:
        raise InvalidInput(
            f"{type(acquisition).__name__}.score must return an array of shape {mean.shape}, one "
            f"score per mean, got {shown(score)}"
        )
    if not top < math.inf:
        raise InvalidInput(
            f"{type(acquisition).__name__} scores an action of mean {mean[at]:g} and variance "
            f"{var[at]:g} as {top}: a score must be finite, or -inf for an action that cannot lead"
        )
    if top in UNDECIDED:
        tied = np.flatnonzero(score == top if allowed is None else (score == top) & allowed)
        return tied[leading(mean[tied], np.abs(mean).max())[None]], 0.0
    tolerance = TIE * acquisition.size(mean, var, at)
    before = score[:at]
    if at and before.item(before.argmax()) >= top - tolerance:
        first = (before >= top - tolerance).argmax(axis=0, keepdims=True)
    return first, tolerance


def log_h(z: Array) -> Array:
    """log(phi(z) + z Phi(z)), a new array, accurate to 1e-12; -inf at -inf."""
    return log_h_and_slopes(z)[0]


def log_h_and_slopes(z: Array) -> tuple[Array, Array, Array]:
    """`log_h`, its derivative Phi(z) / h(z), and phi(z) / h(z), new arrays; z > -1e150."""
    z = np.asarray(z, dtype=np.float64)
    near = z > NEAR
    count = int(np.count_nonzero(near))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if count in (0, z.size):
            return _near(z) if count else _far(z)
        value, cumulative, density = np.empty_like(z), np.empty_like(z), np.empty_like(z)
        high, low = near.nonzero(), (~near).nonzero()
        value[high], cumulative[high], density[high] = _near(z[high])
        value[low], cumulative[low], density[low] = _far(z[low])
    return value, cumulative, density


def _near(z: Array) -> tuple[Array, Array, Array]:
    cumulative, density = ndtr(z), np.exp(-0.5 * z**2 - LOG_SQRT_2PI)
    h = density + z * cumulative
    return np.log(h), cumulative / h, density / h


def _far(z: Array) -> tuple[Array, Array, Array]:
    ratio = mills(z)
    bracket = _log_bracket(z, ratio)
    density = np.exp(-bracket)
    return bracket - (0.5 * z**2 + LOG_SQRT_2PI), density * ratio, density


def mills(z: Array) -> Array:
    """The Mills ratio R(z) = Phi(z) / phi(z); inf where it is above 1e308 (z > 37)."""
    with np.errstate(over="ignore"):
        return SQRT_HALF_PI * erfcx(-z / SQRT_2)


def _log_bracket(z: Array, ratio: Array) -> Array:
    """log(1 + z R(z)) for z <= -1 and R(z), where h = phi (1 + z R)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log(1.0 + z * ratio)
    if not (z < FAR).any():
        return middle
    # 1 + z R = w (1 - 3 w + 3 5 w^2 - ...), w = 1 / z^2: exact to 1e-16 below FAR.
    w = 1.0 / z**2
    tail = 3 * w * (1 - 5 * w * (1 - 7 * w * (1 - 9 * w * (1 - 11 * w * (1 - 13 * w)))))
    return np.where(z < FAR, np.log1p(-np.where(z < FAR, tail, 0.0)) - 2.0 * np.log(-z), middle)

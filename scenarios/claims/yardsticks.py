"""The yardsticks by which the claims of all papers are judged; smaller values are better.

Values are those of independent units: the trials that replay the same thing are averaged first.
Intervals have a coverage of 90% and Student's quantiles. An outcome is "holds", "in part", "fails"
or "undecided".
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binomtest

from gpbandits_env.arrays import TIE, Array
from gpbandits_env.scenarios.results.report import mean_and_error

HOLDS, PART, FAILS, UNDECIDED = OUTCOMES = ("holds", "in part", "fails", "undecided")
COVERAGE = 0.9
# A ratio of means lies below the factor of its yardstick, or between it and its inverse.
LEVEL = 1.5
FACTORS = {"level": LEVEL, "best": 1.25, "published": 2.0}

Judged = tuple[str, dict[str, float]]


@dataclass(frozen=True)
class Limits:
    """What a check may set beside its yardstick; see `Check` for the meaning."""

    one_sided: bool = False
    clearly: bool = False
    strict: bool = False
    logarithmic: bool = False
    factor: float | None = None
    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    def ends(self, yardstick: str) -> tuple[float | None, float | None]:
        """The limits between which the interval of a yardstick should lie; None if there is none.

        "better" has no interval, but a ratio below 1 says the same.
        """
        if yardstick in FACTORS:
            common = LEVEL if yardstick == "best" and self.logarithmic else FACTORS[yardstick]
            most = self.factor or common
            return None if self.one_sided or yardstick == "best" else 1 / most, most
        if yardstick == "better":
            return None, 1.0
        if yardstick in ("share", "limit"):
            return self.at_least, self.at_most
        return self.above, self.below


def error(values: Array) -> float:
    """The standard error of the mean; NaN for one unit, 0 for values without spread."""
    return float(mean_and_error(values)[1])


def interval(mean: float, se: float, units: int) -> tuple[float, float]:
    """The interval of a mean with this standard error."""
    half = float(stdtrit(units - 1, 0.5 + COVERAGE / 2)) * se if units > 1 else float("nan")
    return mean - half, mean + half


def ratio(a: Array, b: Array, logarithmic: bool = False) -> tuple[float, float, float]:
    """The ratio of the means of a and b, paired by unit, and its interval (delta method).

    Values that are ``logarithmic`` are log10 of what is compared.
    """
    if logarithmic:
        difference = a - b
        ends = interval(float(difference.mean()), error(difference), len(a))
        low, high = (10.0**end for end in ends)
        return 10.0 ** float(difference.mean()), low, high
    mean_a, mean_b = float(a.mean()), float(b.mean())
    if mean_a <= 0.0 or mean_b <= 0.0:
        value = 1.0 if mean_a == mean_b else float("inf") if mean_b <= 0.0 else 0.0
        return value, value, value
    ends = interval(0.0, error(a / mean_a - b / mean_b), len(a))
    low, high = (mean_a / mean_b * float(np.exp(end)) for end in ends)
    return mean_a / mean_b, low, high


def _against(
    yardstick: str, limits: Limits, low: float, high: float, numbers: dict[str, float]
) -> Judged:
    """Whether an interval lies between its limits, as a whole, in part, or not; and the numbers."""
    above, below = limits.ends(yardstick)
    least, most = (-np.inf if above is None else above), (np.inf if below is None else below)
    outcome = FAILS if high < least or low > most else UNDECIDED
    outcome = HOLDS if low > least and high < most else outcome
    return outcome, numbers | {"low": low, "high": high}


def level(a: Array, b: Array, limits: Limits) -> Judged:
    """The interval of the ratio of means lies inside [1/factor, factor].

    Equal values in every unit are undecided: the two are one run, and show nothing of each other.
    """
    value, low, high = ratio(a, b, limits.logarithmic)
    outcome, numbers = _against("level", limits, low, high, {"ratio": value})
    return UNDECIDED if np.array_equal(a, b) else outcome, numbers


def better(a: Array, b: Array, limits: Limits) -> Judged:
    """The mean of a is below that of b by more than 2 standard errors of the paired difference."""
    difference, se = float((a - b).mean()), error(a - b)
    numbers = {"a": float(a.mean()), "b": float(b.mean()), "difference": difference, "SE": se}
    is_level = level(a, b, limits)[0] == HOLDS or np.array_equal(a, b)
    if difference < -2.0 * se:
        return (PART if limits.clearly and is_level else HOLDS), numbers
    reversed_ = difference > 2.0 * se
    return (FAILS if reversed_ or is_level or limits.strict else UNDECIDED), numbers


def best(a: Array, others: Mapping[str, Array], limits: Limits) -> Judged:
    """The mean of a is the lowest, or the interval of its ratio to the lowest is below a factor.

    The factor is 1.25, and 1.5 for values that are logarithms.
    """
    lowest = min(others, key=lambda label: float(others[label].mean()))
    value, low, high = ratio(a, others[lowest], limits.logarithmic)
    rank = 1.0 + sum(float(o.mean()) < float(a.mean()) for o in others.values())
    numbers = {"a": float(a.mean()), lowest: float(others[lowest].mean()), "rank": rank}
    outcome, numbers = _against("best", limits, low, high, numbers | {"ratio": value})
    return HOLDS if rank == 1.0 else outcome, numbers


def published(a: Array, value: float, limits: Limits) -> Judged:
    """The interval of the mean over the published value lies inside [1/2, 2]."""
    mean = float(a.mean())
    low, high = (end / value for end in interval(mean, error(a), len(a)))
    numbers = {"a": mean, "published": value, "ratio": mean / value}
    return _against("published", limits, low, high, numbers)


def slope(a: Array, x: Array, limits: Limits) -> Judged:
    """The slope of log(mean of a) on log(x) is above or below a limit: a is (units, k), x (k,)."""
    mean = a.mean(axis=0)
    kept = mean > 0.0
    if kept.sum() < 2:
        return UNDECIDED, {}
    a, mean, axis = a[:, kept], mean[kept], np.log(x[kept])
    weights = axis - axis.mean()
    weights /= weights @ weights
    # Less the first, which no slope depends on, so that constant curves have slope 0 exactly.
    value, a = float(weights @ np.log(mean / mean[0])), a / mean
    ends = interval(value, error((a - a[:, :1]) @ weights), len(a))
    return _against("slope", limits, *ends, {"slope": value})


def mean(a: Array, limits: Limits) -> Judged:
    """The interval of the mean is above or below a limit."""
    value = float(a.mean())
    return _against("mean", limits, *interval(value, error(a), len(a)), {"mean": value})


def share(a: Array, limits: Limits) -> Judged:
    """Wilson's interval of the share of values that are not 0 is on the right side of a limit."""
    found = binomtest(int(np.count_nonzero(a)), len(a))
    low, high = map(float, found.proportion_ci(COVERAGE, "wilson"))
    return _against("share", limits, low, high, {"share": float(found.statistic)})


def limit(a: Array, limits: Limits) -> Judged:
    """Every value is at most or at least a limit. Nothing is undecided: values have no error.

    A value that misses a limit by rounding meets it.
    """
    most = np.inf if limits.at_most is None else limits.at_most + TIE * abs(limits.at_most)
    least = -np.inf if limits.at_least is None else limits.at_least - TIE * abs(limits.at_least)
    outside = int(np.count_nonzero(~((a <= most) & (a >= least))))
    numbers = {"smallest": float(a.min()), "largest": float(a.max()), "outside": float(outside)}
    return (FAILS if outside else HOLDS), numbers | {"of": float(a.size)}


# Yardsticks that compare agents two by two, and those that look at one.
PAIRS = {"better": better, "level": level}
SINGLE = {"mean": mean, "share": share, "limit": limit}
YARDSTICKS = (*PAIRS, "best", "published", "slope", *SINGLE)

r"""Priors and bounds that keep hyper-parameters reasonable when there are few data.

A prior is a density of the logarithm of a positive number. The logarithm is also what is learned,
so a change of variables does not move the mode.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp.kernels import Kernel, OnCoordinates
from gpbandits_env.gp.learning.scaling import InputScaling
from gpbandits_env.gp.temporal import TemporalKernel


@dataclass(frozen=True)
class LogNormal:
    """A prior of theta in [low, high]: log(theta) ~ N(log(median), sd^2), truncated.

    Args:
        median: > 0, in the units of theta; a likely value, where a search may start.
        sd: > 0, the standard deviation of log(theta).
        low: the lower bound of theta.
        high: the upper bound of theta.
    Raises:
        InvalidInput: a number is out of range, or low is not below high.
    """

    median: float
    sd: float
    low: float
    high: float

    def __post_init__(self) -> None:
        positive(self.median, "median")
        positive(self.sd, "sd")
        if not 0.0 < self.low < self.high < np.inf:
            raise InvalidInput(f"bounds must be 0 < low < high, got {self.low!r}, {self.high!r}")

    def __call__(self, u: Array) -> tuple[Array, Array]:
        """The log density at u = log(theta), up to a constant, and its derivative; of u's shape."""
        z = (u - np.log(self.median)) / self.sd
        return -0.5 * z**2, -z / self.sd


# The standard deviation of a logarithm under which its density is constant in floating point.
FLAT = 1e9
# Without priors, a logarithm may move this far from its start (a factor of 3000), which keeps fits
# to few data sane.
REACH = 8.0
# How far the logarithm of a period may move from its start: a factor of 1.5, because the likelihood
# has a maximum at each alias. The smallest and the largest epsilon of a search.
PERIOD_REACH, LEAST_EPSILON, MOST_EPSILON = 0.4, 1e-5, 0.999

# The priors of lengthscales by name, for x in [-1, 1]^D: the median, the standard deviation of the
# logarithm, and the bounds; all but the second are to be multiplied by sqrt(D).
PRIORS = {
    "default": (2.0 * float(np.exp(np.sqrt(2.0) - 3.0)), float(np.sqrt(3.0)), 0.02, 20.0),
    "dimension-scaled": (2.0 * float(np.exp(np.sqrt(2.0))), float(np.sqrt(3.0)), 0.02, 500.0),
    "flat": (0.2, FLAT, 2e-3, 500.0),
}


def of_time(name: str, value: float, sd: float = 1.0) -> LogNormal:
    """The prior of a parameter of time around a given value: within a factor of 2.7.

    That of a period is ten times as narrow.
    """
    *_, word = (part for part in name.split(".") if not part.isdigit())
    if word == "period":
        reach = float(np.exp(PERIOD_REACH))
        return LogNormal(value, 0.1 * sd, value / reach, value * reach)
    if word == "epsilon":
        value = float(np.clip(value, LEAST_EPSILON, 0.9 * MOST_EPSILON))
        return LogNormal(value, sd, min(LEAST_EPSILON, 1e-3 * value), MOST_EPSILON)
    return LogNormal(value, sd, 1e-3 * value, 1e3 * value)


@dataclass(frozen=True)
class HyperPriors:
    r"""Priors of a stationary kernel and the noise, for x in [-1, 1]^D and standardized rewards.

    Args:
        inputs: the map of the box to [-1, 1]^D.
        lengthscale: the prior of each lengthscale, independent if there are several.
        variance: the prior of the kernel variance relative to the sample variance of the rewards: 1
            within a factor 2.7.
        noise_var: the prior of the noise variance, in the same units: e^-5 within a factor 7.4, and
            at least 1e-6. Without this floor, a singular matrix would fit few data exactly.
        spread: if given, several lengthscales are log-normal around the most likely common one, and
            this is the standard deviation of their logarithms. With few observations per
            coordinate, all are then close to the common one.
        temporal: if given, the kernel in time around whose parameters those that are learned are
            likely; by default, that of the model.
    """

    inputs: InputScaling
    lengthscale: LogNormal
    variance: LogNormal = LogNormal(1.0, 1.0, 1e-2, 1e3)
    noise_var: LogNormal = LogNormal(float(np.exp(-5.0)), 2.0, 1e-6, 1.0)
    spread: float | None = None
    temporal: TemporalKernel | None = None

    def around(self, lengthscale: float) -> LogNormal:
        """The prior of each of several lengthscales, given the common one."""
        if self.spread is None:
            return self.lengthscale
        return replace(self.lengthscale, median=lengthscale, sd=self.spread)

    @staticmethod
    def default(
        inputs: InputScaling, spread: float | None = None, prior: str = "default"
    ) -> "HyperPriors":
        r"""The default priors for D coordinates: lengthscales proportional to sqrt(D).

        Two random points of [-1, 1]^D are about 0.8 sqrt(D) apart. In many dimensions, a few points
        would therefore be uncorrelated under lengthscales near 1.

        Args:
            inputs: the map of the box to [-1, 1]^D.
            spread: see the class.
            prior: that of the lengthscales:

                - ``"default"``: the median is 2 e^{sqrt 2 - 3} sqrt(D) = 0.41 sqrt(D), and the
                  standard deviation of the log is sqrt(3). The median is the mode of the log-normal
                  prior of Hvarfner, Hellsten & Nardi (2024), "Vanilla Bayesian Optimization
                  Performs Great in High Dimensions", scaled from [0, 1]^D. The bounds are 0.02 and
                  20 times sqrt(D).
                - ``"dimension-scaled"``: the law of that paper (Section 4) itself,

                  .. math:: \log \ell_j \sim N(\sqrt 2 + \tfrac12 \log D, 3) \text{ on } [0, 1]^D

                  Here this is the density of the logarithm, whose mode is e^{sqrt 2} sqrt(D) =
                  4.1 sqrt(D). The paper maximizes the density of the lengthscale itself, whose mode
                  is e^3 times smaller. That estimate is the one under the default prior. The
                  present one expects a smoother function. The bounds are 0.02 and 500 times
                  sqrt(D).
                - ``"flat"``: none, and the search starts at sqrt(D)/10 on [0, 1]^D, as in MSR
                  (Papenmeier et al., 2025). The bounds are 0.002 and 500 times sqrt(D).
        Raises:
            UnknownName: there is no such prior.
        """
        root = float(np.sqrt(len(inputs.low)))
        median, sd, low, high = PRIORS[one_of(prior, PRIORS, "prior of lengthscales")]
        lengthscale = LogNormal(median * root, sd, low * root, high * root)
        return HyperPriors(inputs, lengthscale, spread=spread)

    def of(self, kernel: Kernel, name: str, value: float) -> tuple[str, float, LogNormal]:
        """The type of a kernel parameter, by the last word of its name; its unit; its prior.

        Lengthscales are measured in units of the cube (a single one in the geometric mean of the
        units of the coordinates that it is for).
        The prior of any other parameter is its value within a factor 2.7, bounded by a factor 1000.
        """
        *_, word = (part for part in name.split(".") if not part.isdigit())
        if word == "lengthscale":
            j = name.rpartition(".")[2]
            sides = _sides(kernel, name, self.inputs.unit)
            side = sides[int(j)] if j.isdigit() else np.exp(np.log(sides).mean())
            return word, float(side), self.lengthscale
        if word == "variance":
            return word, 1.0, self.variance
        return word, value, LogNormal(1.0, 1.0, 1e-3, 1e3)


def _sides(kernel: Kernel, name: str, sides: Array) -> Array:
    """The sides of the coordinates that the part of a kernel with this parameter is for."""
    part: Any = kernel
    for word in name.split(".")[:-1]:
        if isinstance(part, OnCoordinates):
            sides = sides[list(part.coordinates)]
        part = part[int(word)] if word.isdigit() else getattr(part, word)
    return sides

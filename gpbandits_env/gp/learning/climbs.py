"""The most likely values of some parameters, by L-BFGS-B from several starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.gp.descent import descend
from gpbandits_env.gp.learning.likelihood import Likelihood, PointLikelihood
from gpbandits_env.gp.learning.priors import FLAT, MOST_EPSILON, REACH, LogNormal
from gpbandits_env.gp.temporal import TemporalKernel

# Starts from slow to fast drift, in units: the likelihood in epsilon may have a maximum at either
# end.
EPSILON_STARTS = (0.003, 0.03, 0.3)
# Under priors, the starts after the first are these factors times the centers of the priors: smooth
# with little noise, rough with little noise, smooth with much noise.
STARTS: tuple[Mapping[str, float], ...] = (
    {},
    {"lengthscale": 0.25},
    {"lengthscale": 2.0, "noise_var": 30.0},
    {"lengthscale": 0.25, "variance": 3.0, "noise_var": 0.03},
    {"lengthscale": 4.0, "variance": 3.0},
)
# The names of parameters of which no multiples are screened.
USUAL = {"lengthscale", "variance", "noise_var", "temporal"}
# Multiples of the value of any other parameter, for another start: the likelihood of a period has a
# maximum at each alias, and a search may end at any of them.
MULTIPLES = np.linspace(-np.log(2.0), np.log(2.0), 41)
# The largest number of evaluations of a search under priors, and of one from the last model.
LONG, SHORT = 60, 16


class LearnedParameter(NamedTuple):
    """A positive hyper-parameter, learned as the logarithm of value / unit.

    A rate of drift, whose word is "epsilon", may be 0 and is learned as the square root of
    value / unit.
    """

    word: str
    value: float
    free: bool
    prior: LogNormal | None = None
    unit: float = 1.0

    @property
    def start(self) -> float:
        """The logarithm, or the square root."""
        share = self.value / self.unit
        return share**0.5 if self.word == "epsilon" else float(np.log(share))

    @property
    def limits(self) -> Array:
        """The bounds of the logarithm, or of the square root."""
        prior = self.prior
        if self.word == "epsilon":
            return np.array([0.0, (MOST_EPSILON / self.unit) ** 0.5])
        return np.log([prior.low, prior.high]) if prior else np.array([-REACH, REACH])


@dataclass(frozen=True)
class Climbed:
    """The best result of several searches: the parameters and the likelihood.

    ``temporal`` is the kernel in time, if the model has one.
    """

    theta: Array
    at: Likelihood
    starts: tuple[float, ...]
    evaluations: int
    temporal: TemporalKernel | None = None


class Climbs:
    """L-BFGS-B within bounds on the free entries of u, the logarithms of value / unit.

    The parameters are those of the covariances, in the order of the likelihood, and the noise.
    """

    def __init__(self, likelihood: PointLikelihood, parameters: Sequence[LearnedParameter]) -> None:
        self.likelihood, self.parameters = likelihood, parameters
        self._units = np.array([p.unit for p in parameters])
        self._rates = np.array([p.word == "epsilon" for p in parameters])
        # Whether there are priors, and not only bounds.
        self._informed = any(p.prior and p.prior.sd < 0.01 * FLAT for p in parameters)

    def best(self, starts: int) -> Climbed:
        """The best result of searches from the current values and from the prior centers.

        With 0 starts, it is the result of one short search from the current values.
        """
        given = np.array([p.start for p in self.parameters])
        if not starts:
            u, value, count = self._climb(given, SHORT)
            return Climbed(self._theta(u), self._at(u), (value,), count)
        firsts = [given]
        if self._informed:
            firsts += [self._centre(factors, given) for factors in STARTS[: starts - 1]]
            for first in (given, self._centre({"noise_var": 10.0}, given)):
                firsts += self._multiples(first)
        count = max(len(firsts), len(EPSILON_STARTS) * int(self._rates.any()))
        ends = []
        for i in range(count):
            rate, first = EPSILON_STARTS[i % len(EPSILON_STARTS)], firsts[i % len(firsts)]
            ends.append(self._climb(np.where(self._rates, rate**0.5, first)))
        u, _, _ = max(ends, key=lambda end: end[1])
        values, counts = tuple(end[1] for end in ends), sum(end[2] for end in ends)
        return Climbed(self._theta(u), self._at(u), values, counts)

    def _centre(self, factors: Mapping[str, float], given: Array) -> Array:
        """The prior centers times factors for free parameters; given values for the others."""
        u = given.copy()
        for i, p in enumerate(self.parameters):
            if p.free and p.prior:
                u[i] = np.log(p.prior.median * factors.get(p.word, 1.0))
        return u

    def _multiples(self, first: Array) -> list[Array]:
        """Another start for each unusual parameter, at its most likely multiple."""
        firsts = []
        for i, p in enumerate(self.parameters):
            if p.free and p.prior and p.word not in USUAL:
                moved = first + np.outer(MULTIPLES, np.eye(len(first))[i])
                scores = p.prior(moved[:, i])[0]
                scores += [self._at(u).value for u in moved]
                firsts.append(moved[int(np.nanargmax(scores))])
        return firsts

    def _theta(self, u: Array) -> Array:
        return self._units * np.where(self._rates, u * u, np.exp(u))

    def _at(self, u: Array) -> Likelihood:
        theta = self._theta(u)
        return self.likelihood(theta[:-1], float(theta[-1]))

    def _climb(self, first: Array, most: int = LONG) -> tuple[Array, float, int]:
        """The end of a search, its objective and the number of evaluations."""
        free, rates = np.array([p.free for p in self.parameters]), np.flatnonzero(self._rates)
        limits = np.array([p.limits for p in self.parameters])[free]
        groups: dict[LogNormal, list[int]] = {}
        for i, p in enumerate(self.parameters):
            if p.free and p.prior:
                groups.setdefault(p.prior, []).append(i)
        u = first.copy()

        def objective(moved: Array) -> tuple[float, Array]:
            u[free] = moved
            value, slope, _ = self._at(u)
            for i in rates:
                slope[i] *= 2.0 / max(u[i], np.finfo(float).tiny)
            for prior, at in groups.items():
                density, rise = prior(u[at])
                value += float(density.sum())
                slope[at] += rise
            # The line search of L-BFGS-B backs off from a value this large.
            return (-value, -slope[free]) if np.isfinite(value) else (1e25, 0.0 * moved)

        # Under a prior, the maximum need not be accurate to the last digit.
        options = {"maxfun": most, "ftol": 1e-8, "gtol": 1e-4} if self._informed else {}
        end = descend(objective, np.clip(first[free], *limits.T), limits.T, **options)
        u[free] = end.x
        return u, -float(end.fun), int(end.nfev)

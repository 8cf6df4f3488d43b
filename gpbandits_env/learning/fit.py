"""Hyper-parameters of largest marginal likelihood, by quasi-Newton from several starts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize

from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite, unknown
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning.data import Observations, Panel
from gpbandits_env.learning.likelihood import Likelihood, PanelLikelihood, log_marginal_likelihood

LEARNABLE = ("epsilon", "noise_var", "kernel")
MAX_EPSILON = 0.999
# From calm to restless: the likelihood in epsilon may have a maximum at either end.
EPSILON_STARTS = (0.003, 0.03, 0.3)
# Twice the drop in log likelihood that bounds a 95% interval: the chi-squared quantile, 1 degree.
CHI2_95 = 3.841458820694124


@dataclass(frozen=True)
class Fit:
    """What was learned.

    Attributes:
        kernel: the kernel with its learned parameters; None when a covariance matrix was given.
        noise_var: in reward units squared.
        epsilon: the drift per unit of time.
        log_likelihood: at these values, in nats.
        starts: the log likelihood that each start ended at.
    """

    kernel: Kernel | None
    noise_var: float
    epsilon: float
    log_likelihood: float
    starts: tuple[float, ...]


def fit(
    kernel: Kernel,
    noise_var: float,
    data: Observations,
    *,
    epsilon: float = 0.0,
    learn: Sequence[str] = LEARNABLE,
    bounds: tuple[float, float] = (1e-3, 1e3),
    starts: int = 3,
) -> Fit:
    """Learn the chosen hyper-parameters; the others stay as given.

    Cost: O(n^3) per evaluation, some tens of evaluations a start.

    Args:
        kernel: the kernel at its starting values.
        noise_var: s^2 > 0, its starting value.
        data: the readings, prior mean taken off.
        epsilon: the value to keep when it is not learned.
        learn: which of "epsilon", "noise_var", "kernel".
        bounds: factors by which a kernel parameter and the noise may move from their start: they
            keep small data sane.
        starts: the number of starts when epsilon is learned (at most 3); else 1.
    Raises:
        InvalidInput: nothing to learn, or numbers out of range.
        UnknownName: a word in ``learn`` that is not one of the three.
    Source: bogunovic2016, Appendix B.
    """
    for word in learn:
        if word not in LEARNABLE:
            raise unknown("hyper-parameter to learn", word, LEARNABLE)
    positive(noise_var, "noise_var")
    problem = _Parameters(kernel, noise_var, epsilon, tuple(learn), bounds)

    def likelihood(k: Kernel, noise: float, eps: float) -> Likelihood:
        return log_marginal_likelihood(k, noise, eps, data)

    firsts = EPSILON_STARTS[:starts] if "epsilon" in learn else (epsilon,)
    ends = [problem.climb(likelihood, first) for first in firsts]
    best = max(ends, key=lambda end: end[1])
    k, noise, eps = problem.unpack(best[0])
    return Fit(k, noise, eps, best[1], tuple(value for _, value in ends))


def fit_panels(
    covariance: Array, noise_var: float, panels: Sequence[Panel], *, learn_noise: bool = False
) -> Fit:
    """Learn epsilon (and the noise) where all arms are read at each time.

    Args:
        covariance: (n, n) covariance of the arms, e.g. the empirical one.
        noise_var: s^2 > 0; the starting value when it is learned.
        panels: independent panels, e.g. one a day.
        learn_noise: whether to learn the noise too.
    Raises:
        InvalidInput: no panels, or a noise that is not positive.
    Source: bogunovic2016, Appendix B and Section 5.2.
    """
    positive(noise_var, "noise_var")
    if not panels:
        raise InvalidInput("fit_panels needs at least one panel of readings")
    evaluate = PanelLikelihood(covariance, panels)

    def objective(u: Array) -> tuple[float, Array]:
        noise = noise_var * float(np.exp(u[1])) if learn_noise else noise_var
        at = evaluate(noise, float(u[0] ** 2))
        gradient = [2.0 * u[0] * at.epsilon, at.noise_var]
        return -at.value, -np.array(gradient[: len(u)])

    limits = [(0.0, MAX_EPSILON**0.5), (-8.0, 8.0)][: 1 + learn_noise]
    ends = []
    for start in EPSILON_STARTS:
        first = np.array([start**0.5, 0.0][: 1 + learn_noise])
        ends.append(minimize(objective, first, jac=True, bounds=limits, method="L-BFGS-B"))
    best = min(ends, key=lambda end: float(end.fun))
    noise = noise_var * float(np.exp(best.x[1])) if learn_noise else noise_var
    values = tuple(-float(end.fun) for end in ends)
    return Fit(None, noise, float(best.x[0] ** 2), max(values), values)


def epsilon_interval(
    log_likelihood: Callable[[float], float], epsilon: float
) -> tuple[float, float]:
    """The 95% likelihood-ratio interval of epsilon around its maximum.

    Args:
        log_likelihood: of epsilon alone, the rest held.
        epsilon: where it is largest.
    Returns:
        The ends, within [0, 0.999]; an end on that bound means that the data do not exclude it.
    """
    floor = log_likelihood(epsilon) - 0.5 * CHI2_95

    def above(eps: float) -> float:
        return log_likelihood(eps) - floor

    low = 0.0 if above(0.0) >= 0 else float(brentq(above, 0.0, epsilon, xtol=1e-7))
    top = MAX_EPSILON
    high = top if above(top) >= 0 else float(brentq(above, epsilon, top, xtol=1e-7))
    return low, high


@dataclass(frozen=True)
class _Parameters:
    """The free parameters as one vector: sqrt(epsilon), log noise, log kernel parameters."""

    kernel: Kernel
    noise_var: float
    epsilon: float
    learn: tuple[str, ...]
    factors: tuple[float, float]

    def unpack(self, u: Array) -> tuple[Kernel, float, float]:
        rest = list(u)
        epsilon = float(rest.pop(0) ** 2) if "epsilon" in self.learn else self.epsilon
        noise = self.noise_var
        if "noise_var" in self.learn:
            noise *= float(np.exp(rest.pop(0)))
        if "kernel" not in self.learn:
            return self.kernel, noise, epsilon
        own = self.kernel.parameters()
        moved = {name: v * float(np.exp(s)) for (name, v), s in zip(own.items(), rest, strict=True)}
        return self.kernel.with_parameters(moved), noise, epsilon

    def climb(
        self, likelihood: Callable[[Kernel, float, float], Likelihood], epsilon: float
    ) -> tuple[Array, float]:
        free_kernel = len(self.kernel.parameters()) if "kernel" in self.learn else 0
        free = free_kernel + ("noise_var" in self.learn)
        first, limits = [0.0] * free, [tuple(np.log(self.factors))] * free
        if "epsilon" in self.learn:
            first, limits = [epsilon**0.5, *first], [(0.0, MAX_EPSILON**0.5), *limits]
        if not first:
            raise InvalidInput(f"there is nothing to learn: name some of {LEARNABLE}")

        def objective(u: Array) -> tuple[float, Array]:
            try:
                at = likelihood(*self.unpack(u))
            except NotPositiveDefinite:
                return 1e25, np.zeros(len(u))
            return -at.value, -self._gradient(at, u)

        end = minimize(objective, np.array(first), jac=True, bounds=limits, method="L-BFGS-B")
        return end.x, -float(end.fun)

    def _gradient(self, at: Likelihood, u: Array) -> Array:
        parts: list[float] = []
        if "epsilon" in self.learn:
            parts.append(2.0 * float(u[0]) * at.epsilon)
        if "noise_var" in self.learn:
            parts.append(at.noise_var)
        if "kernel" in self.learn:
            parts += [at.kernel[name] for name in self.kernel.parameters()]
        return np.array(parts)

"""Learning a model: its kernel's hyper-parameters, its noise, its mean and its drift."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning.data import Observations, Series
from gpbandits_env.learning.likelihood import (
    Covariances,
    KernelCovariances,
    Likelihood,
    PointLikelihood,
    RadialCovariances,
    SeriesLikelihood,
    below_one,
    one_mean,
)
from gpbandits_env.learning.priors import Bounded, HyperPriors
from gpbandits_env.learning.scaling import OutputScaling
from gpbandits_env.model import Model

MAX_EPSILON = 0.999
# From calm to restless: the likelihood in epsilon may have a maximum at either end.
EPSILON_STARTS = (0.003, 0.03, 0.3)
# Under priors, where the starts after the first lie: factors on the centres of the priors. Smooth
# with little noise, rough with little noise, smooth with much noise.
STARTS: tuple[Mapping[str, float], ...] = (
    {},
    {"lengthscale": 0.25},
    {"lengthscale": 2.0, "noise_var": 30.0},
    {"lengthscale": 0.25, "variance": 3.0, "noise_var": 0.03},
    {"lengthscale": 4.0, "variance": 3.0},
)
# Without priors a logarithm may move so far from its start: that keeps small data sane.
REACH = 8.0
# Twice the drop in log likelihood that bounds a 95% interval: the chi-squared quantile, 1 degree.
CHI2_95 = 3.841458820694124


@dataclass(frozen=True)
class Fitted:
    """What was learned.

    Attributes:
        model: with its learned values, in the units of the data.
        log_likelihood: at these values, in nats; under priors of the rewards in units of their
            deviation.
        starts: the log likelihood (under priors: the log posterior density, up to a constant) that
            each start ended at.
        evaluations: of the likelihood, over all starts.
    """

    model: Model
    log_likelihood: float
    starts: tuple[float, ...]
    evaluations: int


def learnable(kernel: Kernel, learn: Iterable[str]) -> frozenset[str]:
    """The names that words mean: those of the kernel's parameters, "noise_var", "mean", "epsilon".

    Raises:
        UnknownName: a word that means none of these; see `fit`.
    """
    meanings: dict[str, set[str]] = {word: {word} for word in ("noise_var", "mean", "epsilon")}
    for name in kernel.parameters():
        stem, _, last = name.rpartition(".")
        for word in {"kernel", name, stem if last.isdigit() else name}:
            meanings.setdefault(word, set()).add(name)
    names: set[str] = set()
    for word in learn:
        if word not in meanings:
            raise unknown("hyper-parameter to learn", word, meanings)
        names |= meanings[word]
    return frozenset(names)


def fit(
    model: Model,
    data: Observations | Sequence[Series],
    *,
    learn: Sequence[str] = ("kernel", "noise_var"),
    priors: HyperPriors | None = None,
    ard: bool = False,
    starts: int = 2,
) -> Fitted:
    """The most likely values of some hyper-parameters; the others stay as the model has them.

    The search starts at the model (a warm start if it is what was learned before). Under priors
    further starts are their centres and multiples of those, and with ``ard`` the best isotropic
    kernel is found first and is where the lengthscales part. Epsilon has three starts of its own.

    Cost: O(n^3) an evaluation, 1.5 ms for a stationary kernel at n = 200 whatever the dimension;
    with ``ard`` also O(n^2 d), and an n x n matrix for each parameter of other kernels. O(n T) for
    series of T readings of n arms.

    Args:
        model: where to start; noise of 0 only if it is learned under priors.
        data: observations, or independent series of all arms (the kernel is then of the arms'
            indices, as `Empirical` is, and stays).
        learn: names of the kernel's parameters, "kernel" for all of them, "lengthscale" for one or
            all of several; "noise_var"; "mean" (the best constant at every step); "epsilon".
        priors: and bounds, where inputs and rewards are scaled: the maximum a posteriori. Without,
            the maximum of the likelihood within a factor 3000 of the model.
        ard: under priors, a lengthscale for each coordinate of a stationary kernel instead of one.
        starts: under priors, 1 to 6.
    Raises:
        InvalidInput: nothing to learn, data of other shapes, or numbers out of range.
        UnknownName: a word in ``learn`` that the model has no hyper-parameter of.
    Source: Rasmussen & Williams (2006), Section 5.4.1; bogunovic2016, Appendix B and Section 5.2.
    """
    names = learnable(model.kernel, learn)
    if not names:
        raise InvalidInput("there is nothing to learn: name some of kernel, noise_var, epsilon")
    positive(model.noise_var, "noise_var", zero=priors is not None and "noise_var" in names)
    below_one(model.epsilon)
    if isinstance(data, Observations):
        model.kernel.check_points(data.points)
        if priors and len(priors.inputs.low) != data.points.shape[1]:
            raise InvalidInput(
                f"points and the box of the priors must agree in their coordinates, got "
                f"{data.points.shape[1]} and {len(priors.inputs.low)}"
            )
        return _ObservationFit(model, data, names, priors).run(ard, whole(starts, "starts"))
    if priors is not None or not names <= {"epsilon", "noise_var"}:
        raise InvalidInput("of series only epsilon and noise_var are learned, without priors")
    noise = _Parameter("noise_var", model.noise_var, "noise_var" in names, unit=model.noise_var)
    likelihood = SeriesLikelihood(model, data)
    found = _Search(likelihood, (noise,), model.epsilon, "epsilon" in names).best(1)
    learned = replace(model, noise_var=float(found.theta[-1]), epsilon=found.epsilon)
    return Fitted(learned, found.at.value, found.starts, found.evaluations)


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


class _Parameter(NamedTuple):
    """A positive hyper-parameter, learned as the logarithm of value / unit."""

    word: str
    value: float
    free: bool
    prior: Bounded | None = None
    unit: float = 1.0

    @property
    def limits(self) -> Array:
        """Of the logarithm."""
        prior = self.prior
        return np.log([prior.low, prior.high]) if prior else np.array([-REACH, REACH])


@dataclass(frozen=True)
class _Found:
    theta: Array
    epsilon: float
    at: Likelihood
    starts: tuple[float, ...]
    evaluations: int


@dataclass(frozen=True)
class _Search:
    """L-BFGS-B on the free ones of u = (sqrt(epsilon), log(value / unit), ...), within bounds.

    Args:
        likelihood: of the data.
        parameters: the kernel's in the order of the likelihood's, and the noise.
        epsilon: of the model.
        drifts: whether epsilon is learned.
    """

    likelihood: PointLikelihood | SeriesLikelihood
    parameters: tuple[_Parameter, ...]
    epsilon: float
    drifts: bool

    def best(self, starts: int) -> _Found:
        """The best end of climbs from the parameters' values and the priors' centres."""
        given = np.log([p.value / p.unit for p in self.parameters])
        firsts = [given]
        if any(p.prior for p in self.parameters):
            firsts += [self._centre(factors, given) for factors in STARTS[: starts - 1]]
        epsilons = EPSILON_STARTS if self.drifts else (self.epsilon,)
        ends = [
            self._climb(np.array([epsilons[i % len(epsilons)] ** 0.5, *firsts[i % len(firsts)]]))
            for i in range(max(len(firsts), len(epsilons)))
        ]
        u, _, _ = max(ends, key=lambda end: end[1])
        theta, epsilon = self._values(u)
        values, counts = tuple(end[1] for end in ends), sum(end[2] for end in ends)
        return _Found(theta, epsilon, self._at(u), values, counts)

    def _centre(self, factors: Mapping[str, float], given: Array) -> Array:
        """The priors' centres times factors, where free; as given elsewhere."""
        u = given.copy()
        for i, p in enumerate(self.parameters):
            if p.free and p.prior:
                u[i] = np.log(p.prior.prior.centre * factors.get(p.word, 1.0))
        return u

    def _values(self, u: Array) -> tuple[Array, float]:
        theta = np.array([p.unit for p in self.parameters]) * np.exp(u[1:])
        return theta, float(u[0] ** 2) if self.drifts else self.epsilon

    def _at(self, u: Array) -> Likelihood:
        theta, epsilon = self._values(u)
        return self.likelihood(theta[:-1], float(theta[-1]), epsilon)

    def _climb(self, first: Array) -> tuple[Array, float, int]:
        """Where a climb ends, how high, and after how many evaluations."""
        free = np.array([self.drifts, *(p.free for p in self.parameters)])
        limits = np.array([(0.0, MAX_EPSILON**0.5), *(p.limits for p in self.parameters)])[free]
        groups: dict[Bounded, list[int]] = {}
        for i, p in enumerate(self.parameters, 1):
            if p.free and p.prior:
                groups.setdefault(p.prior, []).append(i)
        u = first.copy()

        def objective(moved: Array) -> tuple[float, Array]:
            u[free] = moved
            value, slope, _ = self._at(u)
            slope[0] *= 2.0 * u[0]
            for bounded, at in groups.items():
                density, rise = bounded.prior(u[at])
                value += float(density.sum())
                slope[at] += rise
            # L-BFGS-B's line search backs off from a wall of this height.
            return (-value, -slope[free]) if np.isfinite(value) else (1e25, 0.0 * moved)

        end = minimize(
            objective,
            np.clip(first[free], *limits.T),
            jac=True,
            method="L-BFGS-B",
            bounds=limits.tolist(),
            # What a prior blurs need not be known to the last digit.
            options={"maxfun": 60, "ftol": 1e-8, "gtol": 1e-4} if groups else {},
        )
        u[free] = end.x
        return u, -float(end.fun), int(end.nfev)


class _ObservationFit:
    """`fit` to observations, in standard rewards under priors."""

    def __init__(
        self, model: Model, data: Observations, names: frozenset[str], priors: HyperPriors | None
    ) -> None:
        self._model, self._data, self._names, self._priors = model, data, names, priors
        self._mean = mean = None if "mean" in names else one_mean(model)
        outputs = OutputScaling.of(data.rewards, mean) if priors else OutputScaling(mean or 0.0)
        noise = model.noise_var / outputs.var
        if priors and not noise:
            noise = priors.noise_var.prior.centre
        self._outputs, self._noise = outputs, noise

    def run(self, ard: bool, starts: int) -> Fitted:
        """What was learned, in the units of the data."""
        model, names, outputs, kernel = self._model, self._names, self._outputs, self._model.kernel
        if self._priors and _by_scales(kernel, names):
            found, kernel = self._radial(kernel, self._priors, ard, starts)
        else:
            found, kernel = self._any_kernel(kernel, starts)
        learned = Model(
            kernel,
            float(found.theta[-1]) * outputs.var if "noise_var" in names else model.noise_var,
            outputs.mean + outputs.sd * found.at.mean if "mean" in names else model.prior_mean,
            found.epsilon,
        )
        return Fitted(learned, found.at.value, found.starts, found.evaluations)

    def _best(
        self, covariances: Covariances, parameters: list[_Parameter], noise: float, starts: int
    ) -> _Found:
        """From these parameters of the kernel and this noise."""
        data, priors, free = self._data, self._priors, "noise_var" in self._names
        if priors:
            last = _Parameter("noise_var", noise, free, priors.noise_var)
        else:
            last = _Parameter("noise_var", noise, free, unit=noise)
        epsilon, drifts = self._model.epsilon, "epsilon" in self._names
        likelihood = PointLikelihood(
            covariances,
            self._outputs.scale(data.rewards),
            data.times if drifts or epsilon else None,
            None if self._mean is None else 0.0,
        )
        return _Search(likelihood, (*parameters, last), epsilon, drifts).best(starts)

    def _any_kernel(self, given: Kernel, starts: int) -> tuple[_Found, Kernel]:
        """By the names of the kernel's parameters."""
        names = [name for name in given.parameters() if name in self._names]
        priors = self._priors if names else None
        kernel = given.scaled(1.0 / self._outputs.var) if priors else given
        parameters = []
        for name in names:
            value = kernel.parameters()[name]
            word, unit, prior = priors.of(name, value) if priors else (name, value, None)
            parameters.append(_Parameter(word, value, True, prior, unit))
        covariances = KernelCovariances(kernel, self._data.points, names)
        found = self._best(covariances, parameters, self._noise, starts)
        learned = covariances.kernel(found.theta[:-1])
        return found, learned.scaled(self._outputs.var) if priors else learned

    def _radial(
        self, kernel: Kernel, priors: HyperPriors, ard: bool, starts: int
    ) -> tuple[_Found, Kernel]:
        """By lengthscale(s) and variance of a radial kernel, in the cube of the priors."""
        assert kernel.radial is not None
        radial, inputs, factor = kernel.radial, priors.inputs, self._outputs.var
        points = inputs.scale(self._data.points)
        free = "variance" in self._names
        free_scales = any(name.startswith("lengthscale") for name in self._names)

        def best(scales: Array, variance: float, noise: float, starts: int) -> _Found:
            parameters = [
                _Parameter("lengthscale", ell, free_scales, priors.lengthscale)
                for ell in scales.tolist()
            ]
            parameters.append(_Parameter("variance", variance, free, priors.variance))
            covariances = RadialCovariances(radial, points, len(scales))
            return self._best(covariances, parameters, noise, starts)

        given, variance = inputs.lengthscales(radial), radial.variance / factor
        one = np.array([np.exp(np.mean(np.log(given)))])
        alike = np.ptp(given) <= 1e-12 * given.max()
        found = best(one if free_scales or alike else given, variance, self._noise, starts)
        if free_scales:
            if ard and len(given) > 1:
                # The isotropic kernel is one start, what was learned per coordinate the other.
                ell, in_standard, noise = found.theta.tolist()
                apart = best(np.full(len(given), ell), in_standard, noise, 1)
                again = best(given, variance, self._noise, 1)
                count = found.evaluations + apart.evaluations + again.evaluations
                found = max(apart, again, key=lambda end: max(end.starts))
                found = replace(found, starts=apart.starts + again.starts, evaluations=count)
            scales = found.theta[:-2]
            kernel = inputs.kernel(kernel, scales[0] if len(scales) == 1 else scales)
        if free:
            kernel = kernel.with_parameters({"variance": float(found.theta[-2]) * factor})
        return found, kernel


def _by_scales(kernel: Kernel, names: frozenset[str]) -> bool:
    """Whether what is learned of a radial kernel is all lengthscales or none, and its variance."""
    scales = {name for name in kernel.parameters() if name.startswith("lengthscale")}
    own = names & kernel.parameters().keys() - {"variance"}
    return kernel.radial is not None and own in (set(), scales)

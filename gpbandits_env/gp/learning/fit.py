"""Learning a model: its kernel's hyper-parameters, its noise, its mean and its drift."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, IntArray, flag, listed, positive, whole
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp.kernels import Kernel, Stationary
from gpbandits_env.gp.learning.climbs import EPSILON_STARTS, Climbed, Climbs, LearnedParameter
from gpbandits_env.gp.learning.data import Observations, Series, time_gaps
from gpbandits_env.gp.learning.likelihood import (
    Covariances,
    KernelCovariances,
    PointLikelihood,
    RadialCovariances,
    TimedCovariances,
    below_one,
    one_mean,
)
from gpbandits_env.gp.learning.priors import FLAT, MOST_EPSILON, HyperPriors, of_time
from gpbandits_env.gp.learning.scaling import OutputScaling
from gpbandits_env.gp.learning.time import TimeFit
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import MarkovTime, TemporalKernel, epsilon_per


@dataclass(frozen=True)
class Fitted:
    """What was learned.

    Attributes:
        model: the model with the learned values, in the units of the data.
        log_likelihood: the log likelihood at these values, in nats; under priors, that of the
            standardized rewards.
        starts: the log likelihood (under priors: the log posterior density, up to a constant)
            reached from each start.
        evaluations: the number of likelihood evaluations over all starts.
    """

    model: Model
    log_likelihood: float
    starts: tuple[float, ...]
    evaluations: int


def learnable(
    kernel: Kernel, learn: Iterable[str], temporal: TemporalKernel | None = None
) -> frozenset[str]:
    """The parameters that words stand for: "noise_var", "mean", "epsilon", of the kernel, of time.

    Raises:
        UnknownName: a word stands for none of these; see `fit`.
    """
    meanings: dict[str, set[str]] = {word: {word} for word in ("noise_var", "mean", "epsilon")}
    for name in kernel.parameters():
        stem, _, last = name.rpartition(".")
        for word in {"kernel", name, stem if last.isdigit() else name}:
            meanings.setdefault(word, set()).add(name)
    if temporal is not None:
        del meanings["epsilon"]
        own = {f"temporal.{name}" for name in temporal.parameters()}
        meanings |= {"temporal": own} | {name: {name} for name in own}
    names: set[str] = set()
    for word in learn:
        names |= meanings[one_of(word, meanings, "hyper-parameter to learn")]
    return frozenset(names)


def by_coordinate(
    kernel: Kernel, names: frozenset[str], dim: int
) -> tuple[Kernel, frozenset[str]] | None:
    """A kernel with one lengthscale per coordinate, and the names of its learned parameters.

    The result is None if no such kernel is needed: in one dimension, if the kernel already has one
    lengthscale per coordinate, if no lengthscale is learned, or if only a lengthscale and a
    variance are learned.

    Raises:
        InvalidInput: the kernel does not accept one lengthscale per coordinate.
    """
    known = kernel.parameters().keys()
    scales = {name for name in known if "lengthscale" in name.split(".")}
    fixed = scales and not any(name.endswith("lengthscale") for name in names)
    if dim == 1 or not names & known or fixed or _by_scales(kernel, names):
        return None
    try:
        apart = kernel.with_lengthscale(lambda ell: tuple(np.broadcast_to(ell, dim).tolist()))
        apart(np.zeros((2, dim)))
    except (TypeError, ValueError):
        apart = kernel
    own = apart.parameters().keys()
    if own == known:
        raise InvalidInput(
            f"ard needs a kernel with a lengthscale for each coordinate, but {kernel.type_name!r} "
            "does not accept one: omit ard, or implement its method with_lengthscale(change)"
        )
    return apart, names | {name for name in own if name.rpartition(".")[0] in names}


def fit(
    model: Model,
    data: Observations | Sequence[Series],
    *,
    learn: Sequence[str] = ("kernel", "noise_var"),
    priors: HyperPriors | None = None,
    ard: bool | Sequence[int] = False,
    starts: int = 2,
) -> Fitted:
    """The most likely values of some hyper-parameters; the others keep the values of the model.

    The search starts at the model. Under priors, further starts are the centers of the priors and
    multiples of them, and with ``ard`` the best isotropic kernel. Epsilon has three starts.

    Cost: O(n^3) per evaluation, about 1 ms for a stationary kernel at n = 200 in any dimension.
    With ``ard`` there is also O(n^2 d); other kernels need an n x n matrix per parameter. Series of
    T readings of n arms cost O(n T), and O(n^3) once.

    Args:
        model: the start of the search; its noise may be 0 only if noise is learned under priors.
        data: observations, or independent series of all arms (the kernel is then a kernel of arm
            indices, such as `Empirical`, and is not learned).
        learn: names of the kernel's parameters, "kernel" for all of them, "lengthscale" for one or
            all of several; "noise_var"; "mean" (the best constant at every step); "epsilon"; for a
            model with a temporal kernel "temporal" for all of its parameters, or "temporal.NAME".
            With series these and "noise_var" alone (see `TimeFit`).
        priors: priors and bounds for scaled inputs and rewards, which give the maximum a
            posteriori. Without priors, the likelihood is maximized within a factor of 3000 (1000 in
            time, and 1.5 for a period in time).
        ard: under priors, learn one lengthscale per coordinate instead of one for all; or, for a
            radial kernel, the number of the group of each coordinate, (d,), counted from 0: the
            coordinates of a group share their lengthscale.
        starts: under priors, the number of starts, of which there are at most 6; or 0 for one short
            search from the model, whose result may be less likely than the maximum near it.
    Raises:
        InvalidInput: there is nothing to learn, the shapes do not agree, or a number is out of
            range.
        UnknownName: a word in ``learn`` names no hyper-parameter of the model.

    The likelihood of some parameters, such as a period, has many maxima. Under priors, multiples of
    the given value from 1/2 to 2 are screened, and the most likely one is a further start. State a
    period to within that factor (in time: 1.5, without a further start). With few observations per
    period, a wrong one may be more likely.

    Source: Rasmussen & Williams (2006), Section 5.4.1; bogunovic2016, Appendix B and Section 5.2.
    """
    of_points = isinstance(data, Observations)
    parts: Sequence[Any] = [data] if of_points else data if isinstance(data, Sequence) else ()
    if not parts or not (of_points or all(isinstance(part, Series) for part in parts)):
        raise InvalidInput(
            "data must be Observations, or a list of one or more Series of the same arms, got "
            f"{type(data).__name__}"
        )
    names = learnable(model.kernel, listed(learn, "learn"), model.temporal)
    if not names:
        raise InvalidInput("there is nothing to learn: name some of kernel, noise_var, epsilon")
    ard = ard if isinstance(ard, (Sequence, np.ndarray)) else flag(ard, "ard")
    if ard is not False and priors is None and names & model.kernel.parameters().keys():
        raise InvalidInput(
            "ard needs priors, such as HyperPriors.default(InputScaling.of(box)): without them, "
            "give the kernel one lengthscale per coordinate"
        )
    positive(model.noise_var, "noise_var", zero=priors is not None and "noise_var" in names)
    below_one(model.epsilon)
    if not of_points and (priors is not None or ard is not False):
        raise InvalidInput("series allow no priors and no ard: leave them out")
    # Epsilon is at most 0.999 in one unit of the scaled times.
    unit, _ = time_gaps(part.times for part in parts) if "epsilon" in names else (1.0, 1.0)
    unit = unit if unit > 2.0 else 1.0
    start, fixed = model, of_points and not model.epsilon and "epsilon" not in names
    if drifts := model.temporal is None and not fixed:
        most = MOST_EPSILON if "epsilon" in names else 1.0
        drift = MarkovTime(min(epsilon_per(unit, model.epsilon), most))
        start = replace(model, epsilon=0.0, temporal=drift)
        parts = [replace(part, times=part.times / unit) for part in parts]
    if of_points:
        found = _ObservationFit(start, parts[0], names, priors).run(ard, starts)
    else:
        found = _fit_series(start, parts, names)
    if not drifts:
        return found
    epsilon, learned = model.epsilon, found.model.temporal
    # Observations of one time say nothing about epsilon, and it stays as it is.
    if "epsilon" in names and any(np.ptp(part.times) > 0.0 for part in parts):
        assert isinstance(learned, MarkovTime)
        epsilon = epsilon_per(1.0 / unit, learned.epsilon)
    return replace(found, model=replace(found.model, temporal=None, epsilon=epsilon))


def _fit_series(model: Model, data: Sequence[Series], names: frozenset[str]) -> Fitted:
    rates = EPSILON_STARTS if "epsilon" in names else ()
    starts = [replace(model, temporal=MarkovTime(rate)) for rate in rates] or [model]
    searches = [TimeFit(start, data, names) for start in starts]
    ends = [search.best() for search in searches]
    best, value = max(ends, key=lambda end: end[1])
    count = sum(search.evaluations for search in searches)
    return Fitted(best, value, tuple(end[1] for end in ends), count)


class _ObservationFit:
    """The `fit` to observations; under priors, with standardized rewards."""

    def __init__(
        self, model: Model, data: Observations, names: frozenset[str], priors: HyperPriors | None
    ) -> None:
        self._model, self._data, self._names, self._priors = model, data, names, priors
        model.kernel.check_points(data.points)
        dim = data.points.shape[1]
        if priors and len(priors.inputs.low) != dim:
            raise InvalidInput(
                "points and the box of the priors must agree in dimension, got "
                f"{dim} and {len(priors.inputs.low)}"
            )
        self._mean = mean = None if "mean" in names else one_mean(model)
        outputs = OutputScaling.of(data.rewards, mean) if priors else OutputScaling(mean or 0.0)
        noise = model.noise_var / outputs.var
        if priors and not noise:
            noise = priors.noise_var.median
        self._outputs, self._noise = outputs, noise

    def run(self, ard: bool | Sequence[int], starts: int) -> Fitted:
        """The learned model, in the units of the data; the arguments are those of `fit`."""
        model, names, outputs, kernel = self._model, self._names, self._outputs, self._model.kernel
        dim, starts = self._data.points.shape[1], whole(starts, "starts", 0)
        groups = groups_of(ard, kernel, names, dim)
        if self._priors and _by_scales(kernel, names):
            found, kernel = self._radial(kernel, self._priors, groups, starts)
        else:
            found, kernel = self._any_kernel(kernel, names, starts)
            apart = None if groups is None else by_coordinate(kernel, names, dim)
            if self._priors and apart:
                # The isotropic kernel is the start, and the result if nothing is more likely.
                again, other = self._any_kernel(*apart, 1)
                count = found.evaluations + again.evaluations
                if max(again.starts) > max(found.starts):
                    found, kernel = again, other
                found = replace(found, evaluations=count)
        learned = Model(
            kernel,
            float(found.theta[-1]) * outputs.var if "noise_var" in names else model.noise_var,
            outputs.mean + outputs.sd * found.at.mean if "mean" in names else model.prior_mean,
            temporal=found.temporal,
        )
        return Fitted(learned, found.at.value, found.starts, found.evaluations)

    def _best(
        self,
        covariances: Covariances,
        parameters: list[LearnedParameter],
        noise: float,
        starts: int,
    ) -> Climbed:
        """The best result of searches from these kernel parameters and this noise."""
        data, prior = self._data, self._priors.noise_var if self._priors else None
        unit, free = 1.0 if prior else noise, "noise_var" in self._names
        last = LearnedParameter("noise_var", noise, free, prior, unit)
        temporal, in_time = None, dict[str, LearnedParameter]()
        if self._model.temporal is not None:
            in_time = self._in_time(self._model.temporal)
            temporal = TimedCovariances(covariances, self._model.temporal, data.times, [*in_time])
        likelihood = PointLikelihood(
            temporal or covariances,
            self._outputs.scale(data.rewards),
            None if self._mean is None else 0.0,
            None if data.noise_var is None else data.noise_var / self._outputs.var,
        )
        parameters = [*in_time.values(), *parameters, last]
        found = Climbs(likelihood, parameters).best(starts)
        if temporal is None:
            return found
        of_time, theta = np.split(found.theta, [len(in_time)])
        return replace(found, theta=theta, temporal=temporal.temporal(of_time))

    def _in_time(self, temporal: TemporalKernel) -> dict[str, LearnedParameter]:
        """The parameters of time that are learned, by name."""
        if isinstance(temporal, MarkovTime) and "epsilon" in self._names:
            _, gap = time_gaps([self._data.times])
            unit = 1.0 / gap if gap > 2.0 else 1.0
            return {"epsilon": LearnedParameter("epsilon", temporal.epsilon, True, unit=unit)}
        given = (self._priors and self._priors.temporal) or temporal
        centres, found = given.parameters(), {}
        for name, value in temporal.parameters().items():
            if f"temporal.{name}" in self._names:
                prior = of_time(name, centres[name], 1.0 if self._priors else FLAT)
                value = float(np.clip(value, prior.low, prior.high))
                found[name] = LearnedParameter("temporal", value, True, prior)
        return found

    def _any_kernel(
        self, given: Kernel, learned_names: frozenset[str], starts: int
    ) -> tuple[Climbed, Kernel]:
        """Fit any kernel through its named parameters."""
        names = [name for name in given.parameters() if name in learned_names]
        priors, var = self._priors, self._outputs.var
        kernel = given.scaled(1.0 / var) if priors else given
        parameters = []
        for name in names:
            value = kernel.parameters()[name]
            word, unit, prior = priors.of(kernel, name, value) if priors else (name, value, None)
            parameters.append(LearnedParameter(word, value, True, prior, unit))
        covariances = KernelCovariances(kernel, self._data.points, names)
        found = self._best(covariances, parameters, self._noise, starts)
        if not names:
            return found, given
        learned = covariances.kernel(found.theta[:-1])
        return found, learned.scaled(var) if priors else learned

    def _radial(
        self, kernel: Kernel, priors: HyperPriors, groups: IntArray | None, starts: int
    ) -> tuple[Climbed, Kernel]:
        """Fit the lengthscale(s) and variance of a radial kernel, in the cube of the priors.

        Several lengthscales are fitted from those of the kernel and from the best common one.
        """
        inputs, radial, var = priors.inputs, kernel.radial, self._outputs.var
        given, level = inputs.lengthscales(radial), radial.variance / var
        free = any(name.startswith("lengthscale") for name in self._names)
        if not free:
            groups = np.arange(len(given)) if np.ptp(given) > 1e-12 * given.max() else None
        elif len(given) == 1:
            groups = None
        common = np.exp(np.mean(np.log(given)))
        first = np.array([common, level, self._noise])
        if groups is None:
            found = self._scaled(radial, None, first, common, starts)
        else:
            scales = [given[groups == group].mean() for group in range(groups.max() + 1)]
            known = np.array([*scales, level, self._noise])
            if free and starts:
                alike = self._scaled(radial, None, first, common, starts)
                common, *rest = alike.theta
                apart = np.array([*[common] * len(scales), *rest])
                ends = [self._scaled(radial, groups, start, common, 1) for start in (apart, known)]
                found = replace(
                    max(ends, key=lambda end: max(end.starts)),
                    starts=ends[0].starts + ends[1].starts,
                    evaluations=sum(end.evaluations for end in (alike, *ends)),
                )
            else:
                found = self._scaled(radial, groups, known, common, starts)
        if free:
            fitted = found.theta[:-2]
            kernel = inputs.kernel(kernel, fitted[0] if groups is None else fitted[groups])
        if "variance" in self._names:
            kernel = kernel.with_parameters({"variance": float(found.theta[-2]) * var})
        return found, kernel

    def _scaled(
        self, radial: Stationary, groups: IntArray | None, start: Array, common: float, starts: int
    ) -> Climbed:
        """Fit lengthscales (with a common one), the variance and the noise, from ``start``."""
        assert self._priors is not None
        *scales, variance, noise = start.tolist()
        free = any(name.startswith("lengthscale") for name in self._names)
        prior = self._priors.lengthscale if groups is None else self._priors.around(float(common))
        parameters = [LearnedParameter("lengthscale", ell, free, prior) for ell in scales]
        level = LearnedParameter(
            "variance", variance, "variance" in self._names, self._priors.variance
        )
        points = self._priors.inputs.scale(self._data.points)
        covariances = RadialCovariances(radial, points, groups)
        return self._best(covariances, [*parameters, level], noise, starts)


def groups_of(
    ard: bool | Sequence[int], kernel: Kernel, names: frozenset[str], dim: int
) -> IntArray | None:
    """The group of each coordinate, (d,); None for one lengthscale of all; see `fit`.

    Raises:
        InvalidInput: the kernel does not accept one lengthscale per coordinate, or the groups do
            not fit the coordinates or the kernel.
    """
    if isinstance(ard, bool):
        if ard:
            by_coordinate(kernel, names, dim)
        return np.arange(dim) if ard else None
    groups = np.array([whole(group, "a group of ard", 0, dim - 1) for group in ard])
    if len(groups) != dim or set(groups.tolist()) != set(range(len(set(groups.tolist())))):
        raise InvalidInput(
            f"ard must be true, false or the group of each of the {dim} coordinates, counted from "
            f"0 without gaps, got {list(ard)}"
        )
    if not _by_scales(kernel, names):
        raise InvalidInput(
            f"groups of coordinates need a radial kernel, of which all lengthscales or none are "
            f"learned; {kernel.type_name!r} learns {sorted(names)}: use ard=True or false"
        )
    return groups


def _by_scales(kernel: Kernel, names: frozenset[str]) -> bool:
    """Whether all or no lengthscales of a radial kernel are learned, and its variance."""
    scales = {name for name in kernel.parameters() if name.startswith("lengthscale")}
    own = names & kernel.parameters().keys() - {"variance"}
    return kernel.radial is not None and own in (set(), scales)

"""What is learned of a model, how, and when; and fits of it to rewards, in their units."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from gpbandits_env.arrays import Array, Points, Settings, flag, listed, mapping, positive, whole
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput, all_known, one_of, shown
from gpbandits_env.gp.learning.data import Observations
from gpbandits_env.gp.learning.fit import fit, groups_of, learnable
from gpbandits_env.gp.learning.priors import PRIORS, HyperPriors
from gpbandits_env.gp.learning.scaling import (
    LEAST_SD,
    MOST_SD,
    InputScaling,
    OutputScaling,
    Winsorizer,
)
from gpbandits_env.gp.model import Model

# The least known noise variance, relative to the variance of the rewards.
LEAST_NOISE = 1e-6


@dataclass(frozen=True)
class Learning:
    """What to learn and when: the settings ``learn`` and ``standardize`` of an agent.

    Args:
        every: the number of rounds between fits. An observation of the prior data counts as one
            round.
        what: the hyperparameters to learn: names of those of the kernel ("kernel" means all of
            them, "lengthscale" one or all of several), "noise_var", "epsilon", and "temporal" or
            "temporal.NAME" for those of the temporal kernel. It may be empty.
        starts: the number of starting points of each fit; the first is the last model (see
            `fit`).
        ard: whether to learn one lengthscale per coordinate; or the groups of coordinates that
            share one (see `fit`).
        spread: with ``ard``, the standard deviation of the logarithm of each lengthscale around the
            common one; by default, lengthscales have independent priors.
        prior: the prior of the lengthscales: "default"; or "dimension-scaled", the log-normal prior
            of Hvarfner et al. (2024), under which functions are smoother; or "flat", none, with the
            start of MSR (see `priors`).
        standardize: whether the mean and the scale of the rewards are estimated too. The problem's
            model is then that of rewards with mean 0 and variance 1, and is converted to the units
            of the rewards. The rewards themselves are never changed.
        first: the number of observations before the first fit. Fits of epsilon need two rounds.
        last: the number of last observations that a fit uses; a fit of n costs O(n^3).
        window: if epsilon is learned, the number of last rounds that a fit uses instead, in rounds
            that ``every`` divides; a fit costs O((m window)^3).
        known_noise: whether the problem's noise variance is in the units of the rewards even if
            these are standardized. At least 1e-6 of the variance of the rewards is assumed, here
            and where the noise of a reward was told.
        growth: if above 0, a fit also waits until the observations have grown by this share since
            the last one. Above 50 observations, only the first fit, and those of at most 250 whose
            number has doubled since such a fit, have several starts; others are a short search from
            the last model. Fits of epsilon do not use it.
        robust: whether rewards far from most others are drawn in by the map of the last fit (see
            `Winsorizer`), for fits and in the posterior.
    """

    every: int = 10
    what: tuple[str, ...] = ("kernel", "noise_var")
    starts: int = 2
    ard: bool | tuple[int, ...] = False
    standardize: bool = False
    first: int = 5
    last: int = 500
    window: int = 200
    known_noise: bool = False
    spread: float | None = None
    growth: float = 0.0
    robust: bool = False
    prior: str = "default"

    def __post_init__(self) -> None:
        least = {"every": 1, "starts": 1, "first": 2, "last": 2, "window": 2}
        for name, minimum in least.items():
            whole(getattr(self, name), name, minimum)
        object.__setattr__(self, "what", listed(self.what, "what to learn"))
        if not all(isinstance(name, str) for name in self.what):
            raise InvalidInput(f"what to learn must be a list of names, got {shown(self.what)}")
        if flag(self.known_noise, "known_noise") and "noise_var" in self.what:
            raise InvalidInput("noise that is known is not learned: leave out noise_var")
        ard = self.ard if isinstance(self.ard, Sequence) else flag(self.ard, "ard")
        if not isinstance(ard, bool):
            ard = tuple(whole(group, "a group of ard", 0) for group in ard)
        object.__setattr__(self, "ard", ard)
        one_of(self.prior, PRIORS, "prior of lengthscales")
        if self.spread is not None:
            positive(self.spread, "spread")
        positive(self.growth, "growth", zero=True)
        flag(self.robust, "robust")

    @property
    def drifts(self) -> bool:
        """Whether epsilon is learned."""
        return "epsilon" in self.what

    @property
    def learns_time(self) -> bool:
        """Whether parameters of the temporal kernel are learned."""
        return any(word.split(".")[0] == "temporal" for word in self.what)


def learning_for(
    spec: Learning | Settings | Sequence[str] | bool | None, standardize: bool
) -> Learning | None:
    """The settings ``learn`` and ``standardize`` of an agent; None for a fixed model.

    A spec is {"every": 10, "what": ["lengthscale"], ...}, only the list ``what``, True for the
    defaults, or None.

    Raises:
        InvalidInput: a number is out of range, or the spec has another type.
        UnknownName: `Learning` has no such field, or it is ``standardize``.
    """
    standardize = flag(standardize, "standardize")
    if spec is None or spec is False:
        return Learning(what=(), standardize=True) if standardize else None
    if isinstance(spec, Learning):
        return replace(spec, standardize=standardize)
    if isinstance(spec, Sequence) and not isinstance(spec, str):
        spec = {"what": tuple(spec)}
    given = mapping({} if spec is True else spec, "learn", "a dict, a list of names or true")
    known = [field.name for field in fields(Learning) if field.name != "standardize"]
    all_known(given, known, "field of the setting 'learn'")
    return Learning(**given, standardize=standardize)


@dataclass(frozen=True)
class Estimate:
    """A fitted model.

    Args:
        model: the model, in the units of the rewards.
        mean: the mean that it adds to the given prior mean.
        log_likelihood: None if nothing but the mean and the scale was estimated.
        winsorizer: how rewards were drawn in; None if they were not.
    """

    model: Model
    mean: float
    log_likelihood: float | None
    winsorizer: Winsorizer | None


class Estimator:
    """Estimates what is learned of a model; the rest is as given.

    Args:
        given: the model, of rewards with mean 0 and a known scale if they are standardized.
        domain: the domain of the points; the kernel is in its units.
        learning: what is learned, and how.
        reward_sd: the standard deviation of the rewards for which the model is stated; it matters
            only if rewards are standardized.
    Attributes:
        searches: whether more than the mean and the scale is estimated.
    Raises:
        UnknownName: the model does not have a hyperparameter that is to be learned.
        InvalidInput: the noise variance is 0 and is neither learned nor known, the kernel cannot be
            scaled, ``ard`` does not fit it, or a temporal kernel to be learned is missing.
    """

    def __init__(
        self, given: Model, domain: Domain, learning: Learning, reward_sd: float = 1.0
    ) -> None:
        self.given, self._domain, self._learning = given, domain, learning
        what, ard = learning.what, learning.ard
        if learning.learns_time and given.temporal is None:
            raise InvalidInput("learning temporal needs a temporal kernel to start from")
        self._names = learnable(given.kernel, what, given.temporal)
        self.searches = bool(self._names)
        needs_noise = self._names and "noise_var" not in self._names
        if needs_noise and given.noise_var == 0.0 and not learning.known_noise:
            raise InvalidInput(
                f"cannot learn {' and '.join(what)} without noise: give a noise_var above 0, or "
                "learn noise_var too"
            )
        given.kernel.scaled(1.0)  # errors that every fit would raise
        inputs = InputScaling.of(domain)
        if ard is not False:
            groups_of(ard, given.kernel, self._names, len(inputs.low))
        priors = HyperPriors.default(inputs, learning.spread, learning.prior)
        priors = replace(priors, temporal=given.temporal)
        self._priors = priors if self._names - {"epsilon"} else None
        self._reward_var = reward_sd**2 if learning.standardize else 1.0

    def fit(
        self,
        start: Model,
        points: Points,
        rewards: Array,
        times: Array,
        noise_var: Array | None,
        starts: int,
    ) -> Estimate:
        """Fit the model to data.

        Args:
            start: the last model, from which the search starts.
            points: (n,) arms or (n, d) points of the domain.
            rewards: (n,).
            times: (n,).
            noise_var: (n,) the variances of the noise where they are known, NaN elsewhere; None if
                none is. If all are known, that of the model is their median.
            starts: the number of starts; 0 for a short search from the last model.
        """
        learning = self._learning
        winsorizer = Winsorizer.of(rewards) if learning.robust else None
        rewards = rewards if winsorizer is None else winsorizer(rewards)
        base = self.given.prior_mean
        gap = rewards - (base[points] if isinstance(base, np.ndarray) else base)
        sample = OutputScaling.of(gap)
        outputs = sample if learning.standardize else OutputScaling()
        if not LEAST_SD <= outputs.sd <= MOST_SD:
            warnings.warn(
                f"the values vary by {outputs.sd:.1e}, and the variance of a kernel cannot be that "
                "small or large: agents explore far too much or too little; multiply the values by "
                "a constant",
                stacklevel=2,
            )
        least, names = LEAST_NOISE * sample.var, self._names
        model = self._scaled(outputs.var / self._reward_var, least)
        if noise_var is not None:
            if not np.isnan(noise_var).any():
                model = replace(model, noise_var=max(float(np.median(noise_var)), least))
                names -= {"noise_var"}
            noise_var = np.maximum(noise_var, least)
        at, mean, likelihood = self._domain.points(points), outputs.mean, None
        if names:
            # Parameters that are not learned are as given. An earlier fit may have joined some.
            own = start.kernel.parameters()
            stems = {name: name.rpartition(".")[0] for name in names}
            names = frozenset(stem if stem in own else name for name, stem in stems.items())
            kept = {n: v for n, v in model.kernel.parameters().items() if n in own.keys() - names}
            first = Model(
                start.kernel.with_parameters(kept),
                start.noise_var if "noise_var" in names else model.noise_var,
                temporal=start.temporal,
            )
            found = fit(
                first,
                Observations(at, gap, times, noise_var),
                learn=(*names, *(("mean",) if learning.standardize else ())),
                priors=self._priors,
                ard=learning.ard,
                starts=starts,
            )
            likelihood, mean = found.log_likelihood, float(found.model.prior_mean)
            epsilon = found.model.epsilon if learning.drifts else model.epsilon
            model = replace(found.model, prior_mean=model.prior_mean, epsilon=epsilon)
        model = replace(model, prior_mean=base + mean if mean else base)
        return Estimate(model, mean, likelihood, winsorizer)

    def _scaled(self, factor: float, least: float) -> Model:
        """The given model in the units of the rewards, with at least so much known noise."""
        noise = self.given.noise_var
        noise = max(noise, least) if self._learning.known_noise else noise * factor
        return replace(self.given, kernel=self.given.kernel.scaled(factor), noise_var=noise)

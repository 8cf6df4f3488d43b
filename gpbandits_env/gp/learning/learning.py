"""What is learned of a model, how, and when."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from gpbandits_env.arrays import Settings, flag, listed, mapping, positive, whole
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.gp.learning.priors import PRIORS


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
        first: the number of observations before the first fit.
        last: the number of last observations that a fit uses; a fit of n costs O(n^3).
        window: if epsilon is learned, the number of last rounds that a fit uses instead, in rounds
            that ``every`` divides; a fit costs O((m window)^3).
        known_noise: whether the problem's noise variance is in the units of the rewards even if
            these are standardized. At least 1e-6 of the variance of the rewards is assumed.
        growth: if above 0, a fit also waits until the observations have grown by this share since
            the last one. Above 50 observations, it has several starts only if their number has
            doubled since such a fit, and at most 250; otherwise it is a short search from the last
            model. Fits of epsilon do not use it.
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
        if not isinstance(self.ard, Sequence):
            flag(self.ard, "ard")
        else:
            object.__setattr__(self, "ard", tuple(whole(g, "a group of ard", 0) for g in self.ard))
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
        UnknownName: `Learning` has no such field.
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
    for name in given:
        one_of(name, known, "field of the setting 'learn'")
    return Learning(**{**given, "standardize": standardize})

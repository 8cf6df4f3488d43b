"""Schedules of beta_t: declarations whose missing constants are taken from a problem."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, Settings, is_number, positive, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.theory import beta_continuous, beta_finite, beta_rkhs, beta_subspaces
from gpbandits_env.gp.theory.arguments import probability
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family, OnlyFields

T = TypeVar("T")

# beta_t of the experiments of srinivas2010; of bedi2022, Theorem 3.2, which is Theorem 1 without a
# factor (its delta = 0.9 is the probability that the bounds hold, so delta is 0.1 here); and of
# bogunovic2016.
THEOREM_OVER_5: Settings = {"type": "srinivas2010", "delta": 0.1, "scale": 0.2}
THEOREM_1: Settings = {"type": "srinivas2010", "delta": 0.1, "scale": 1.0}
LOG_TIME: Settings = {"type": "log", "c1": 0.8, "c2": 4.0}
# Where the theorems do not hold, and their beta_t explores for too long: where the model is learned
# in a box (chosen on BBOB, instances 11 and 12), and where an agent is told how the function drifts
# (chosen by benchmarks/defaults.py).
LEARNED = DRIFTING = 2.0


NOT_NEGATIVE = partial(positive, zero=True)
# The checks of the fields of the schedules of this module.
CHECKS: Mapping[str, Callable[[Any, str], object]] = {
    "delta": probability,
    **dict.fromkeys(("a", "b", "r", "c2"), positive),
    **dict.fromkeys(("scale", "shift", "value", "c1", "norm_bound", "gamma"), NOT_NEGATIVE),
    **dict.fromkeys(("corruption", "misfit", "noise_var"), NOT_NEGATIVE),
    **dict.fromkeys(("arms", "dim"), whole),
    "power": partial(whole, maximum=2),
    "subspace_dim": partial(whole, minimum=0),
}


@dataclass(frozen=True)
class Schedule(OnlyFields, ABC):
    r"""A declaration of beta_t, which multiplies the variance under the root.

    .. math:: \mu_{t-1}(x) + \sqrt{\beta_t} \, \sigma_{t-1}(x)

    A schedule is called with one or several rounds t = 1, 2, ... and the information gained
    before, in nats. Constants that the problem states may be left out; `filled` adds them. A
    schedule of your own is a frozen dataclass with the method `__call__`.
    """

    needs_gain: ClassVar[bool] = False

    @property
    def excess(self) -> float:
        """The mean of what is drawn anew in each round, by an exponential law, as part of beta_t.

        `__call__` gives the mean of beta_t.
        """
        return 0.0

    def __post_init__(self) -> None:
        checks = CHECKS if type(self).__module__ == __name__ else {}
        for field in fields(self):
            value, check = getattr(self, field.name), checks.get(field.name)
            if check and (value is not None or field.default is not None):  # None: the problem's
                check(value, field.name)

    @abstractmethod
    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        """beta_t, of the shape of t."""

    def filled(self, problem: Problem, arms: int | None) -> "Schedule":
        """The schedule with its missing constants taken from the problem.

        Args:
            problem: the problem of the agent.
            arms: the number of arms the agent chooses among; None in a box.
        """
        domain, noise_var = problem.domain, problem.noise_var
        side = float(np.ptp(domain.span, axis=0).max()) or 1.0
        stated = {"arms": arms, "dim": domain.dim, "r": side, "noise_var": noise_var}
        missing = [f.name for f in fields(self) if getattr(self, f.name) is None]
        return replace(self, **{name: stated[name] for name in missing if name in stated})


# A schedule, as an object or a dict, or a number, which is a constant schedule.
Beta: TypeAlias = Settings | Schedule | float
SCHEDULES: Family[Schedule] = Family("beta schedule", Schedule)


@SCHEDULES.register("finite")
@dataclass(frozen=True)
class Finite(Schedule):
    """scale * 2 log(|D| t^2 pi^2 / (6 delta)): srinivas2010, Theorem 1 (experiments: scale 1/5).

    Args:
        delta: the failure probability.
        scale: a factor, at least 0.
        arms: |D|; by default that of the problem.
    """

    delta: float = 0.1
    scale: float = 1.0
    arms: int | None = None

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        return self.scale * beta_finite(t, _known(self.arms, "arms"), self.delta)


@SCHEDULES.register("continuous")
@dataclass(frozen=True)
class Continuous(Schedule):
    """scale * (2 log(t^2 2 pi^2/(3 delta)) + 2d log(t^2 d b r sqrt(log(4da/delta)))): Theorem 2.

    Args:
        delta: the failure probability.
        a: constant of the bound P(sup |df/dx_j| > L) <= a exp(-(L/b)^2).
        b: constant of the same bound, in units of f per unit of x.
        r: the domain lies in [0, r]^d; by default the longest side of the problem's domain.
        scale: a factor, at least 0.
        dim: d; by default that of the problem.
    Source: srinivas2010, Theorem 2.
    """

    delta: float = 0.1
    a: float = 1.0
    b: float = 1.0
    r: float | None = None
    scale: float = 1.0
    dim: int | None = None

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        dim, side = _known(self.dim, "dim"), _known(self.r, "r")
        return self.scale * beta_continuous(t, dim, self.delta, self.a, self.b, side)


@SCHEDULES.register("srinivas2010")
@dataclass(frozen=True)
class Theorem(Schedule):
    """Theorem 1 on arms ("finite"), Theorem 2 in a box ("continuous", with a = b = 1).

    Args:
        delta: the failure probability.
        scale: a factor, at least 0; 1/5 in the experiments.
    Source: srinivas2010, Theorems 1 and 2.
    """

    delta: float = 0.1
    scale: float = 0.2

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        raise InvalidInput(
            "the beta schedule 'srinivas2010' depends on the domain of a problem: use 'finite' or "
            "'continuous' without one"
        )

    def filled(self, problem: Problem, arms: int | None) -> Schedule:
        theorem = Continuous if arms is None else Finite
        return theorem(delta=self.delta, scale=self.scale).filled(problem, arms)


@SCHEDULES.register("rkhs")
@dataclass(frozen=True)
class RKHS(Schedule):
    """scale * (2B + 300 gamma_t log^3(t/delta)): srinivas2010, Theorem 3.

    Args:
        delta: the failure probability.
        norm_bound: B, the bound on the squared RKHS norm; by default max_norm of the problem.
        gamma: gamma_t as a number; by default the information gained so far divided by 1 - 1/e,
            which bounds gamma_t only if the actions were chosen greedily by variance.
        scale: a factor, at least 0.
    Source: srinivas2010, Theorem 3.
    """

    needs_gain: ClassVar[bool] = True

    delta: float = 0.1
    norm_bound: float | None = None
    gamma: float | None = None
    scale: float = 1.0

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        gamma = gain / (1.0 - np.exp(-1.0)) if self.gamma is None else self.gamma
        bound = _known(self.norm_bound, "norm_bound")
        return self.scale * beta_rkhs(t, gamma, self.delta, bound)

    def filled(self, problem: Problem, arms: int | None) -> Self:
        if self.gamma is None and problem.noise_var == 0.0:
            raise InvalidInput(
                "the beta schedule 'rkhs' computes gamma from the information gained, which is "
                "infinite without noise: give the schedule gamma, or a noise_var above 0"
            )
        if self.norm_bound is not None:
            return self
        if problem.max_norm is None:
            raise InvalidInput(
                "the beta schedule 'rkhs' needs a bound on the squared RKHS norm: give the "
                "schedule norm_bound, or the problem or agent max_norm"
            )
        return replace(self, norm_bound=positive(problem.max_norm, "max_norm", zero=True))


@SCHEDULES.register("igp")
@dataclass(frozen=True)
class Improved(Schedule):
    """scale * (B + s sqrt(2 (gamma_t + 1 + log(1/delta))))^2, the width of IGP-UCB.

    Args:
        delta: the failure probability.
        norm_bound: B, a bound on the RKHS norm (not its square).
        noise_var: s^2; by default that of the problem.
        scale: a factor, at least 0.
    Source: Chowdhury and Gopalan (2017), as stated by Ziomek et al. (2024); gamma_t is the
        information gained so far, as in their code.
    """

    needs_gain: ClassVar[bool] = True

    delta: float = 0.1
    norm_bound: float = 1.0
    noise_var: float | None = None
    scale: float = 1.0

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        noise_var = _known(self.noise_var, "noise_var")
        if noise_var:  # without noise the information gained is infinite
            noise_var *= gain + 1.0 + np.log(1.0 / self.delta)
        return np.full(np.shape(t), self.scale * (self.norm_bound + np.sqrt(2.0 * noise_var)) ** 2)


@SCHEDULES.register("constant")
@dataclass(frozen=True)
class Constant(Schedule):
    """scale * value in every round."""

    value: float
    scale: float = 1.0

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        return np.full(np.shape(t), self.scale * self.value)


@SCHEDULES.register("log")
@dataclass(frozen=True)
class LogTime(Schedule):
    """scale * (c1 log(c2 t))^power, where a negative logarithm counts as 0.

    Args:
        c1: the factor of the logarithm, at least 0.
        c2: the factor of t, above 0.
        scale: a factor, at least 0.
        power: 1 as in the paper, or 2, with which c1 log(c2 t) multiplies the standard deviation,
            as in some public code.
    Source: bogunovic2016, Section 5 (c1 = 0.8, c2 = 4).
    """

    c1: float = 0.8
    c2: float = 4.0
    scale: float = 1.0
    power: int = 1

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        rounds = np.asarray(t, dtype=np.float64)
        logarithm = np.maximum(0.0, self.c1 * np.log(self.c2 * rounds))
        return np.asarray(self.scale * logarithm**self.power)


@SCHEDULES.register("subspaces")
@dataclass(frozen=True)
class SubspaceBeta(Schedule):
    """scale * (2 log(pi^2 t^2/delta) + 2d log(2bd sqrt(log(6Da/delta)) t^2)): tranthe2020.

    For d = 0 it is scale * 4 log(pi^2 t^2 / (2 delta)), and for d = D it is Theorem 2 of
    srinivas2010.

    Args:
        subspace_dim: d.
        delta: the failure probability.
        a: constant of the bound P(sup |df/dx_j| > L) <= a exp(-(L/b)^2) for x in [-1, 1]^D.
        b: constant of the same bound, in units of f.
        scale: a factor, at least 0.
        dim: D; by default that of the problem.
    Source: tranthe2020, Convergence Analysis.
    """

    subspace_dim: int
    delta: float = 0.1
    a: float = 1.0
    b: float = 1.0
    scale: float = 1.0
    dim: int | None = None

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        dim = _known(self.dim, "dim")
        beta = beta_subspaces(t, dim, self.subspace_dim, self.delta, self.a, self.b)
        return np.asarray(self.scale * beta)


@SCHEDULES.register("robust")
@dataclass(frozen=True)
class Robust(Schedule):
    r"""A schedule whose bound holds although rewards are corrupted or the model is not exact.

    .. math:: \sqrt{\beta_t} = \sqrt{\beta^0_t} + (C + \varepsilon \sqrt t) / s

    With C it is that of RGP-UCB, and with epsilon that of EC-GP-UCB. The bound explores more and
    more with epsilon, so it is for short horizons.

    Args:
        base: the schedule of beta^0, of which nothing is drawn, so not "randomised".
        corruption: C >= 0, the largest sum of what an adversary adds to rewards, in units of the
            reward; in the experiments it is multiplied by 0.1.
        misfit: epsilon >= 0, how far f may be from a function of the kernel's space, likewise.
        noise_var: s^2, which regularizes the posterior; by default that of the problem.
        scale: a factor, at least 0.
    Source: Bogunovic, Li, Krause and Scarlett (2022), RGP-UCB; Bogunovic and Krause (2021),
        EC-GP-UCB, whose coefficient is derived anew.
    """

    needs_gain: ClassVar[bool] = True  # the base may

    base: Schedule | Settings
    corruption: float = 0.0
    misfit: float = 0.0
    noise_var: float | None = None
    scale: float = 1.0

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        assert isinstance(self.base, Schedule)
        extra = self.corruption + self.misfit * np.sqrt(np.asarray(t, dtype=np.float64))
        sd = np.sqrt(_known(self.noise_var, "noise_var"))
        return np.asarray(self.scale * (np.sqrt(self.base(t, gain)) + extra / sd) ** 2)

    def filled(self, problem: Problem, arms: int | None) -> Schedule:
        base = schedule_for(self.base, problem, arms)
        if base.excess:
            raise InvalidInput(
                "the beta schedule 'robust' takes no base that is drawn in each round: replace "
                "'randomised' by another schedule, such as 'finite'"
            )
        if (problem.noise_var if self.noise_var is None else self.noise_var) == 0.0:
            raise InvalidInput("the beta schedule 'robust' needs a noise_var above 0")
        return super(Robust, replace(self, base=base)).filled(problem, arms)


@SCHEDULES.register("randomised")
@dataclass(frozen=True)
class Randomised(Schedule):
    r"""A level that is drawn in each round and does not grow: that of IRGP-UCB.

    .. math:: \beta_t = s + E_t, \quad s = 2 \log(|D| / 2), \quad E_t \sim Exp(\text{mean } 2)

    It has the distribution for which the largest bound is in expectation at least the maximum of f,
    so that the Bayesian regret has no factor log T. It is drawn anew by each `ask`, once for the
    whole batch, except that the rule "randomised-believer" draws for each action.

    Args:
        arms: |D|; by default that of the problem. In a box it needs ``shift``.
        shift: s, instead of 2 log(|D| / 2).
        scale: a factor, at least 0.
    Source: Takeno, Inatsu and Karasuyama (2023), IRGP-UCB; the constants are derived anew.
    """

    arms: int | None = None
    shift: float | None = None
    scale: float = 1.0

    @property
    def excess(self) -> float:
        return 2.0 * self.scale

    def __call__(self, t: ArrayLike, gain: float = 0.0) -> Array:
        shift = self.shift
        if shift is None:
            shift = max(0.0, 2.0 * float(np.log(_known(self.arms, "arms") / 2.0)))
        return np.full(np.shape(t), self.scale * (shift + 2.0))


def schedule_for(spec: Beta, problem: Problem, arms: int | None) -> Schedule:
    """Make a schedule and take its missing constants from the problem.

    Args:
        spec: a schedule, a number (a constant schedule) or a dict, e.g.
            {"type": "finite", "delta": 0.1, "scale": 0.2}.
        problem: the problem of the agent.
        arms: the number of arms the agent chooses among; None in a box.
    Raises:
        InvalidInput: a number is out of range, the problem lacks a constant, or a schedule of your
            own does not return one value per round.
        UnknownName: there is no such type or field.
    """
    if is_number(spec):
        spec = Constant(positive(spec, "beta", zero=True))  # type: ignore[arg-type]
    if not isinstance(spec, (Mapping, Schedule)):
        raise InvalidInput(
            "a beta schedule must be a number, a dict with a 'type', such as {'type': 'finite', "
            f"'scale': 0.2}}, or an object, such as Finite(scale=0.2), got {shown(spec)}; the "
            f"types are {', '.join(SCHEDULES.members)}; one of your own is a frozen dataclass "
            "derived from agents.acquisitions.schedules.Schedule with the method "
            "__call__(self, t, gain=0.0), which returns beta_t in the shape of t"
        )
    schedule = SCHEDULES.from_dict(spec).filled(problem, arms)
    rounds: ArrayLike = 1 if schedule.needs_gain else np.arange(1, 3)
    try:
        found = schedule(rounds)
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the beta schedule {type(schedule).__name__} fails for the rounds t = {rounds!r}: "
            f"{error}; it must take arrays: use np.log, np.maximum and np.where instead of "
            "math.log, max and if"
        ) from error
    if np.shape(found) != np.shape(rounds) or isinstance(found, (list, tuple)):
        raise InvalidInput(
            f"the beta schedule {type(schedule).__name__} must return beta_t in the shape of t, an "
            f"array (2,) for two rounds and a number for one, got {shown(found)} for "
            f"t = {rounds!r}: np.full(np.shape(t), beta) is the same in every round"
        )
    return schedule


def _known(value: T | None, name: str) -> T:
    if value is None:
        raise InvalidInput(
            f"the beta schedule needs {name!r}, which its problem does not state: add it as a field"
        )
    return value

"""How the confidence width beta_t grows with the round: declared, JSON-able, filled in by need."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpbandits_env.arrays import positive
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family
from gpbandits_env.theory import beta_continuous, beta_finite, beta_rkhs


class Schedule(ABC):
    """beta_t as a declaration; `beta` multiplies the variance under the root."""

    @abstractmethod
    def beta(self, t: int, problem: Problem, gain: float) -> float:
        """The width of round t = 1, 2, ...

        Args:
            t: the round about to be played.
            problem: for what the theorem needs: the number of arms, dimensions, ranges.
            gain: the information gained so far, in nats.
        """

    def check(self, problem: Problem) -> None:
        """Raise `InvalidInput` if the problem lacks what the schedule needs."""
        self.beta(1, problem, 0.0)


SCHEDULES: Family[Schedule] = Family("beta schedule")


@SCHEDULES.register("finite")
@dataclass(frozen=True)
class Finite(Schedule):
    """scale * 2 log(|D| t^2 pi^2 / (6 delta)): srinivas2010, Theorem 1 (experiments: scale 1/5)."""

    delta: float = 0.1
    scale: float = 1.0

    def beta(self, t: int, problem: Problem, gain: float) -> float:  # noqa: D102
        if not isinstance(problem.domain, Arms):
            raise InvalidInput(
                "the beta schedule 'finite' counts arms, and the domain is a box; use 'continuous'"
            )
        return self.scale * float(beta_finite(t, problem.domain.size, self.delta))


@SCHEDULES.register("continuous")
@dataclass(frozen=True)
class Continuous(Schedule):
    """scale * (2 log(t^2 2 pi^2/(3 delta)) + 2d log(t^2 d b r sqrt(log(4da/delta)))): Theorem 2."""

    delta: float = 0.1
    a: float = 1.0
    b: float = 1.0
    r: float | None = None
    scale: float = 1.0

    def beta(self, t: int, problem: Problem, gain: float) -> float:  # noqa: D102
        domain = problem.domain
        side = self.r if self.r is not None else _longest_side(domain)
        return self.scale * float(beta_continuous(t, domain.dim, self.delta, self.a, self.b, side))


@SCHEDULES.register("rkhs")
@dataclass(frozen=True)
class RKHS(Schedule):
    """scale * (2B + 300 gamma_t log^3(t/delta)): srinivas2010, Theorem 3.

    Args:
        delta: the failure probability.
        norm_bound: B; the problem's max_norm when not given.
        gamma: gamma_t as a number; when not given, the information gained so far over (1 - 1/e),
            which bounds gamma_t only if the arms were played greedily by variance.
        scale: a factor.
    """

    delta: float = 0.1
    norm_bound: float | None = None
    gamma: float | None = None
    scale: float = 1.0

    def beta(self, t: int, problem: Problem, gain: float) -> float:  # noqa: D102
        bound = self.norm_bound if self.norm_bound is not None else problem.max_norm
        if bound is None:
            raise InvalidInput(
                "the beta schedule 'rkhs' needs a bound on the squared RKHS norm: give it "
                "norm_bound, or the problem max_norm"
            )
        gamma = self.gamma if self.gamma is not None else gain / (1.0 - np.exp(-1.0))
        return self.scale * float(beta_rkhs(t, gamma, self.delta, bound))


@SCHEDULES.register("constant")
@dataclass(frozen=True)
class Constant(Schedule):
    """The same beta in every round."""

    value: float

    def __post_init__(self) -> None:
        positive(self.value, "value", zero=True)

    def beta(self, t: int, problem: Problem, gain: float) -> float:  # noqa: D102
        return self.value


@SCHEDULES.register("log")
@dataclass(frozen=True)
class LogTime(Schedule):
    """c1 log(c2 t), clipped at 0: bogunovic2016, Section 5 (c1 = 0.8, c2 = 4)."""

    c1: float = 0.8
    c2: float = 4.0

    def __post_init__(self) -> None:
        positive(self.c1, "c1", zero=True)
        positive(self.c2, "c2")

    def beta(self, t: int, problem: Problem, gain: float) -> float:  # noqa: D102
        return max(0.0, self.c1 * float(np.log(self.c2 * t)))


def schedule_for(spec: Mapping[str, Any] | Schedule | float, problem: Problem) -> Schedule:
    """The schedule of a dict, a number (constant) or a schedule, checked against the problem.

    Raises:
        InvalidInput: a number out of range, or the problem lacks what the schedule needs.
        UnknownName: no such type or field.
    """
    schedule = SCHEDULES.from_dict(
        Constant(float(spec)) if isinstance(spec, (int, float)) else spec
    )
    for name in ("scale",):
        positive(getattr(schedule, name, 1.0), name)
    schedule.check(problem)
    return schedule


def _longest_side(domain: Any) -> float:
    if isinstance(domain, Box):
        return float((domain.high - domain.low).max())
    points = domain.coordinates
    return float(np.ptp(points, axis=0).max()) or 1.0

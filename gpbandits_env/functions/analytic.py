"""Test functions with known maxima, at rest or moving. All are maximised.

Constants: Surjanovic and Bingham, Virtual Library of Simulation Experiments.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, frozen, whole
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.functions.base import Function
from gpbandits_env.functions.course import Course, CourseSource
from gpbandits_env.functions.motion import Motion, from_cube, to_cube
from gpbandits_env.functions.tables import ArmFunction

# Phases at which a motion is tried when a world is made.
TRIED = 720


@dataclass(frozen=True)
class TestFunction:
    """A test function and what is known of it.

    Attributes:
        formula: (n, d) points to (n,) values; its maximum over all of R^d is ``maximum``.
        low: the usual domain's lower end, of every coordinate or one per coordinate.
        high: its upper end.
        best: (d,) a maximiser, or one number for every coordinate.
        maximum: the value there.
        least: ``least(d, b)`` is below every value where all |x_i| <= b.
        dim: the number of coordinates; None for any.
    """

    __test__ = False  # for pytest, which collects classes of this name

    formula: Callable[[Array], Array]
    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    best: float | tuple[float, ...]
    maximum: float
    least: Callable[[int, float], float]
    dim: int | None = None


def ackley(x: Array) -> Array:
    """Negated Ackley: 20 exp(-0.2 |x| / sqrt d) + exp(mean cos 2 pi x) - 20 - e."""
    root = np.sqrt(np.mean(x**2, axis=1))
    ripple = np.mean(np.cos(2.0 * np.pi * x), axis=1)
    return 20.0 * np.exp(-0.2 * root) - 20.0 + np.exp(ripple) - np.e


def rosenbrock(x: Array) -> Array:
    """Negated Rosenbrock: -sum 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2."""
    return -np.sum(100.0 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2, axis=1)


def camelback(x: Array) -> Array:
    """Negated six-hump camelback."""
    a, b = x[:, 0], x[:, 1]
    return -((4.0 - 2.1 * a**2 + a**4 / 3.0) * a**2 + a * b + (-4.0 + 4.0 * b**2) * b**2)


def _least_ackley(dim: int, b: float) -> float:
    return -20.0 - float(np.e)


def _least_rosenbrock(dim: int, b: float) -> float:
    return -(dim - 1) * (100.0 * (b + b**2) ** 2 + (1.0 + b) ** 2)


def _least_camelback(dim: int, b: float) -> float:
    return -((4.0 + 2.1 * b**2 + b**4 / 3.0) + 1.0 + (4.0 + 4.0 * b**2)) * b**2


TEST_FUNCTIONS = {
    "ackley": TestFunction(ackley, -32.768, 32.768, 0.0, 0.0, _least_ackley),
    "rosenbrock": TestFunction(
        rosenbrock,
        (-2.0, -1.0),
        (2.0, 3.0),
        1.0,
        0.0,
        _least_rosenbrock,
        2,
    ),
    "camelback": TestFunction(
        camelback,
        (-3.0, -2.0),
        (3.0, 2.0),
        (0.08984201368301331, -0.7126564032704135),
        1.0316284534898774,
        _least_camelback,
        2,
    ),
}


class AnalyticFunction(Function):
    """A test function in a box, read through a motion.

    Args:
        formula: of the function at rest.
        view: maps points (n, d) to where they are read in the function at rest.
        best: (d,) the maximiser of this round.
        optimum: the maximum.
        stage: what identifies the round: its number and the motion's first phase.
    """

    __slots__ = ("_formula", "_stage", "_view")

    def __init__(
        self,
        formula: Callable[[Array], Array],
        view: "View",
        best: Array,
        optimum: float,
        stage: dict[str, float],
    ) -> None:
        self._formula, self._view, self._stage = formula, view, stage
        self.best_action, self.optimum = frozen(best), optimum
        # The maximum is exact; the constants it is stated with have 16 digits.
        self.accuracy = 1e-9 * max(1.0, abs(optimum))

    def __call__(self, actions: NDArray[Any]) -> Array:  # noqa: D102
        return self._formula(self._view(actions))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._formula, self._view, self.best_action, self.optimum, self._stage)
        return AnalyticFunction, parts

    def state(self) -> dict[str, Any]:  # noqa: D102
        return dict(self._stage)


@dataclass(frozen=True)
class View:
    """Where a point is read in the function at rest: A_t of `motion`, in the box's units."""

    motion: Motion | None
    box: Box
    phase: float

    def __call__(self, x: Array) -> Array:
        """The points (n, d) that the points x (n, d) are read at."""
        if self.motion is None:
            return x
        return from_cube(self.motion.onto(to_cube(x, self.box), self.phase), self.box)


class Moving(Course):
    """A test function whose input moves; the first phase is drawn, the rest follows."""

    __slots__ = ("_first", "_round", "_source", "function")

    def __init__(self, source: "AnalyticSource", first: float, round_: int = 1) -> None:
        self._source, self._first, self._round = source, first, round_
        self.function = source.at(first, round_)

    def advance(self) -> None:  # noqa: D102
        self._round += 1
        if self._source.moves:
            self.function = self._source.at(self._first, self._round)

    def state(self) -> dict[str, Any]:  # noqa: D102
        return {"first": self._first, "round": self._round}


class AnalyticSource(CourseSource):
    """A test function on a box or on arms, at rest or moving.

    Args:
        name: one of `TEST_FUNCTIONS`.
        domain: where it is played; the function's usual box in ``dim`` dimensions when None.
        dim: the number of coordinates, for functions of any.
        motion: how it moves; None for not at all.
    Raises:
        UnknownName: no such function.
        InvalidInput: a dimension that does not fit, or a motion that takes the optimum out of
            the box.
    """

    def __init__(
        self,
        name: str,
        domain: Arms | Box | None = None,
        dim: int | None = None,
        motion: Motion | None = None,
    ) -> None:
        if name not in TEST_FUNCTIONS:
            raise unknown("test function", name, TEST_FUNCTIONS)
        self.given, self.motion, self.moves = TEST_FUNCTIONS[name], motion, motion is not None
        size = _dimension(name, self.given, domain, dim)
        # What moves is the usual box's contents, whatever the arms are.
        ends = (np.broadcast_to(e, (size,)) for e in (self.given.low, self.given.high))
        box = Box(*(np.array(e, dtype=np.float64) for e in ends))
        self.domain = box if domain is None else domain
        self.box = self.domain if isinstance(self.domain, Box) else box
        best = np.array(np.broadcast_to(self.given.best, (size,)), dtype=np.float64)
        self._best = to_cube(best, self.box)[None]
        self._ones = np.ones(size)
        for phase in np.arange(TRIED) / TRIED if motion else (0.0,):
            if (np.abs(self._gone(float(phase))) > 1.0 + 1e-12).any():
                raise InvalidInput(
                    f"the maximum of {name!r} leaves its box, at {phase:.0%} of the motion's "
                    "period; take a smaller radius or factor, or another box"
                )

    def begin(self, rng: np.random.Generator) -> Moving:  # noqa: D102
        return Moving(self, float(rng.random()) if self.moves else 0.0)

    def resume(self, state: dict[str, Any]) -> Moving:  # noqa: D102
        return Moving(self, float(state["first"]), int(state["round"]))

    def bounds(self) -> tuple[float, float]:  # noqa: D102
        corners = (
            np.stack([self.domain.low, self.domain.high])
            if isinstance(self.domain, Box)
            else self.domain.coordinates
        )
        reach = self.motion.reach if self.motion else 1.0
        span = float(np.abs(to_cube(corners, self.box)).max()) * reach + (reach - 1.0)
        farthest = float(
            np.abs(from_cube(span * np.array([-self._ones, self._ones]), self.box)).max()
        )
        return self.given.least(self.box.dim, farthest), self.given.maximum + 1e-9

    def at(self, first: float, round_: int) -> Function:
        """The function of a round, from the phase of round 1."""
        period = self.motion.period if self.motion else 1.0
        phase = (first + (round_ - 1) / period) % 1.0

        view = View(self.motion, self.box, phase)
        if isinstance(self.domain, Arms):
            return ArmFunction(self.given.formula(view(self.domain.coordinates)))
        best = from_cube(self._gone(phase), self.box)[0]
        stage = {"first": first, "round": float(round_)}
        return AnalyticFunction(self.given.formula, view, best, self.given.maximum, stage)

    def _gone(self, phase: float) -> Array:
        return self._best if self.motion is None else self.motion.back(self._best, phase)


def _dimension(name: str, given: TestFunction, domain: Arms | Box | None, dim: int | None) -> int:
    known = None if domain is None else domain.dim
    wanted = [d for d in (given.dim, known, dim) if d is not None]
    size = wanted[0] if wanted else 2
    if any(d != size for d in wanted):
        raise InvalidInput(f"{name!r} has {given.dim or 'any'} dimensions, got {wanted[1:]}")
    return whole(size, "dim")

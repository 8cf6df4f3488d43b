"""Test functions in a box or on arms, at rest or moving."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, frozen
from gpbandits_env.domains import Arms, Box
from gpbandits_env.functions.base import Function
from gpbandits_env.functions.course import Course, CourseSource
from gpbandits_env.functions.declared import ROUNDING, dimension, function_named
from gpbandits_env.functions.motion import Motion, from_cube, stays_inside, to_cube
from gpbandits_env.functions.tables import ArmFunction


class AnalyticFunction(Function):
    """A test function in a box, read through a motion.

    Args:
        formula: of the function at rest.
        view: maps points (n, d) to where they are read in the function at rest.
        best: (d,) the maximiser of this round.
        optimum: the maximum.
        stage: what identifies the round to whoever made the function.
    """

    __slots__ = ("_formula", "_stage", "_view")

    def __init__(
        self,
        formula: Callable[[Array], Array],
        view: Callable[[Array], Array],
        best: Array,
        optimum: float,
        stage: Mapping[str, Any],
    ) -> None:
        self._formula, self._view, self._stage = formula, view, stage
        self.best_action, self.optimum = frozen(best), optimum
        self.accuracy = ROUNDING * max(1.0, abs(optimum))

    def __call__(self, actions: NDArray[Any]) -> Array:
        return self._formula(self._view(actions))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._formula, self._view, self.best_action, self.optimum, self._stage)
        return AnalyticFunction, parts

    def state(self) -> dict[str, Any]:
        return dict(self._stage)


@dataclass(frozen=True)
class View:
    """Where a point is read in the function at rest: A_t of `motion`, in the box's units.

    Attributes:
        motion: None for a function at rest.
        box: what is moved.
        phase: of the motion, in [0, 1).
        within: points outside this box are read at its nearest point; None to read them as they
            are.
    """

    motion: Motion | None
    box: Box
    phase: float
    within: Box | None = None

    def __call__(self, x: Array) -> Array:
        """The points (n, d) that the points x (n, d) are read at."""
        if self.motion is not None:
            x = from_cube(self.motion.onto(to_cube(x, self.box), self.phase), self.box)
        return x if self.within is None else np.clip(x, self.within.low, self.within.high)


class Moving(Course):
    """A test function whose input moves; the first phase is drawn, the rest follows."""

    __slots__ = ("_first", "_round", "_source", "function")

    def __init__(self, source: "AnalyticSource", first: float, round_: int = 1) -> None:
        self._source, self._first, self._round = source, first, round_
        self.function = source.at(first, round_)

    def advance(self) -> None:
        self._round += 1
        if self._source.moves:
            self.function = self._source.at(self._first, self._round)

    def state(self) -> dict[str, Any]:
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
        self.given, self.motion, self.moves = function_named(name), motion, motion is not None
        size = dimension(name, None if domain is None else domain.dim, dim)
        # What moves is the usual box's contents, whatever the arms are.
        box = self.given.box(size)
        self.domain = box if domain is None else domain
        self.box = self.domain if isinstance(self.domain, Box) else box
        self._within = None if self.given.everywhere else box
        self._peak = self.given.peak(size)
        self._best = to_cube(self.given.maximiser(size), self.box)[None]
        self._ones = np.ones(size)
        stays_inside(motion, self._best[0], name)

    def begin(self, rng: np.random.Generator) -> Moving:
        return Moving(self, float(rng.random()) if self.moves else 0.0)

    def resume(self, state: dict[str, Any]) -> Moving:
        return Moving(self, float(state["first"]), int(state["round"]))

    def bounds(self) -> tuple[float, float]:
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
        return self.given.least(self.box.dim, farthest), self._peak + ROUNDING * max(
            1.0, abs(self._peak)
        )

    def at(self, first: float, round_: int) -> Function:
        """The function of a round, from the phase of round 1."""
        period = self.motion.period if self.motion else 1.0
        phase = (first + (round_ - 1) / period) % 1.0

        view = View(self.motion, self.box, phase, self._within)
        if isinstance(self.domain, Arms):
            return ArmFunction(self.given.formula(view(self.domain.coordinates)))
        best = from_cube(self._gone(phase), self.box)[0]
        stage = {"first": first, "round": float(round_)}
        return AnalyticFunction(self.given.formula, view, best, self._peak, stage)

    def _gone(self, phase: float) -> Array:
        return self._best if self.motion is None else self.motion.back(self._best, phase)

"""Test functions in the cube [-1, 1]^D: scaled, shifted, padded with inert dimensions, moving."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, finite_array, frozen, listed, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.functions.analytic import AnalyticFunction
from gpbandits_env.functions.course import Course, CourseSource
from gpbandits_env.functions.declared import ROUNDING, dimension, function_named
from gpbandits_env.functions.motion import Motion, from_cube, stays_inside, to_cube

# A shift that is drawn takes the maximiser to within this part of the cube (or of what room a
# motion leaves), so that the maximum is not at the edge.
PART = 0.8


@dataclass(frozen=True)
class Place:
    """Where a function is in the cube in one episode.

    Attributes:
        active: (k,) the coordinates that matter, in the order in which the function takes them;
            None for all, in their own order.
        shift: (k,) how far the function was moved along them.
        first: the motion's phase in round 1, in [0, 1).
    """

    active: IntArray | None
    shift: Array
    first: float

    def to_dict(self) -> dict[str, Any]:
        """As plain arrays and a number, copied."""
        spec = {"shift": self.shift.copy(), "first": self.first}
        return spec if self.active is None else {**spec, "active": self.active.copy()}

    @classmethod
    def from_dict(cls, spec: dict[str, Any]) -> "Place":
        """The place that a dict describes."""
        active = spec.get("active")
        places = None if active is None else np.array(active)
        return cls(places, np.array(spec["shift"]), float(spec["first"]))


@dataclass(frozen=True)
class PlacedView:
    """Where a point of the cube is read in a function's usual box.

    Attributes:
        place: this episode's.
        box: the usual one, of k coordinates.
        motion: None at rest.
        phase: of the motion, in [0, 1).
        clipped: points outside the usual box are read at its nearest point.
    """

    place: Place
    box: Box
    motion: Motion | None
    phase: float
    clipped: bool

    def __call__(self, u: Array) -> Array:
        """Points u (n, D) to A_t(u[active]) - shift, (n, k) in the box's units."""
        if self.place.active is not None:
            u = u[:, self.place.active]
        if self.motion is not None:
            u = self.motion.onto(u, self.phase)
        x = from_cube(u - self.place.shift, self.box)
        return np.clip(x, self.box.low, self.box.high) if self.clipped else x


class PlacedCourse(Course):
    """A placed function, round by round."""

    __slots__ = ("_place", "_round", "_source", "function")

    def __init__(self, source: "PlacedSource", place: Place, round_: int = 1) -> None:
        self._source, self._place, self._round = source, place, round_
        self.function = source.at(place, round_)

    def advance(self) -> None:
        self._round += 1
        if self._source.moves:
            self.function = self._source.at(self._place, self._round)

    def state(self) -> dict[str, Any]:
        return {**self._place.to_dict(), "round": self._round}


class PlacedSource(CourseSource):
    """A test function of k coordinates in [-1, 1]^D.

    In round t the value at u is f(c(A_t(u_a) - s)): u_a are the k active coordinates of u, A_t
    the motion, s the shift, and c scales [-1, 1]^k to the function's usual box. What lies
    outside the usual box after A_t and s is what the formula says there, or, where that may be
    above the maximum (see `TestFunction`), the value at the nearest point of the box. So the
    maximum is the function's own, at u_a = A_t^-1(u* + s), whatever the other coordinates;
    ``best_action`` has 0 in those.

    Cost of a round at rest: none; of one that moves: O(D).

    Args:
        name: one of `TEST_FUNCTIONS`.
        dim: D; the function's own, or 2, when None.
        active: the number k of coordinates that matter, at places drawn at each reset; or which
            ones, k distinct indices in the function's order. None for as many as the function
            takes: all D, if it takes any number.
        shift: False; True to draw at each reset where the maximiser goes, uniformly in
            [-0.8 r, 0.8 r]^k, r being the room that the motion leaves (1 without one); or s
            itself, a number or (k,), in units of the cube.
        motion: of the active coordinates; None for none.
    Raises:
        UnknownName: no such function.
        InvalidInput: dimensions that do not fit, places that do not exist, or a shift or a
            motion that takes the maximum out of the cube.
    """

    def __init__(
        self,
        name: str,
        dim: int | None = None,
        active: int | Sequence[int] | None = None,
        shift: bool | ArrayLike = False,
        motion: Motion | None = None,
    ) -> None:
        given = function_named(name)
        places, wanted = _wanted(active)
        size = dimension(name, wanted) if dim is None else whole(dim, "dim")
        k = dimension(name, wanted or given.dim or size)
        self.domain = Box(-np.ones(size), np.ones(size))
        self.motion, self.moves = motion, motion is not None
        self._formula, self._peak, self._least = given.formula, given.peak(k), given.least
        self._box, self._clipped = given.box(k), not given.everywhere
        self._best = to_cube(given.maximiser(k), self._box)
        self._active = _places(places, k, size)
        self._shift = None if shift is True else _shift(shift, k)
        gone = np.zeros(k) if self._shift is None else self._best + self._shift
        stays_inside(motion, gone, name)

    def begin(self, rng: np.random.Generator) -> PlacedCourse:
        k, active, shift = len(self._best), self._active, self._shift
        if active is None and k < self.domain.dim:
            active = rng.choice(self.domain.dim, k, replace=False)
        if shift is None:
            room = PART * (self.motion.room if self.motion else 1.0)
            shift = rng.uniform(-room, room, k) - self._best
        first = float(rng.random()) if self.moves else 0.0
        return PlacedCourse(self, Place(active, shift, first))

    def resume(self, state: dict[str, Any]) -> PlacedCourse:
        """See `CourseSource.resume`.

        Raises:
            ValueError: not a state of such a source.
        """
        place = Place.from_dict(state)
        places = np.arange(len(self._best)) if place.active is None else place.active
        if place.shift.shape != self._best.shape or places.shape != self._best.shape:
            raise ValueError("the state is of a function with another number of coordinates")
        return PlacedCourse(self, place, int(state["round"]))

    def bounds(self) -> tuple[float, float]:
        drawn = 1.0 + float(np.abs(self._best).max())
        moved = drawn if self._shift is None else float(np.abs(self._shift).max())
        span = (self.motion.reach if self.motion else 1.0) + moved
        ends = from_cube(span * np.array([[-1.0], [1.0]]), self._box)
        slack = ROUNDING * max(1.0, abs(self._peak))
        return self._least(len(self._best), float(np.abs(ends).max())), self._peak + slack

    def at(self, place: Place, round_: int) -> AnalyticFunction:
        """The function of a round."""
        period = self.motion.period if self.motion else 1.0
        phase = (place.first + (round_ - 1) / period) % 1.0
        view = PlacedView(place, self._box, self.motion, phase, self._clipped)
        peak = self._best + place.shift
        if self.motion is not None:
            peak = self.motion.back(peak[None], phase)[0]
        best = np.zeros(self.domain.dim)
        # Rounding alone may take a maximiser at the edge out of the cube.
        best[slice(None) if place.active is None else place.active] = np.clip(peak, -1.0, 1.0)
        stage = {**place.to_dict(), "round": round_}
        return AnalyticFunction(self._formula, view, best, self._peak, stage)


def _wanted(active: int | Sequence[int] | None) -> tuple[list[int] | None, int | None]:
    """Which coordinates are to matter, and how many."""
    if active is None or isinstance(active, (int, np.integer)):
        return None, None if active is None else whole(active, "active")
    places = [whole(i, "active", minimum=0) for i in listed(active, "active")]
    if not places:
        raise InvalidInput("active must name at least one coordinate, got none")
    return places, len(places)


def _places(places: list[int] | None, k: int, size: int) -> IntArray | None:
    """The coordinates that a function of k coordinates is of, where they are not drawn."""
    if k > size:
        raise InvalidInput(f"{k} coordinates matter, but dim is {size}; take dim={k} or more")
    if places is None:
        return None
    if len(set(places)) != k or max(places) >= size:
        raise InvalidInput(f"active must be distinct coordinates in 0..{size - 1}, got {places}")
    return frozen(np.array(places))


def _shift(shift: ArrayLike, k: int) -> Array:
    """A given shift as (k,)."""
    if shift is False:
        return frozen(np.zeros(k))
    given = finite_array(shift, "shift")
    if given.shape not in ((), (k,)):
        raise InvalidInput(f"shift must be a number or have {k} entries, got {given.shape}")
    return frozen(np.array(np.broadcast_to(given, (k,))))

"""Test functions in a box, on arms or in a cube: static or moving, shifted or padded."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, Points, finite_array, frozen, listed, whole
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.functions.catalogue import dimension, function_named
from gpbandits_env.rewards.functions.function import ArmFunction, Function
from gpbandits_env.rewards.functions.motion import Motion, from_cube, stays_inside, to_cube
from gpbandits_env.rewards.functions.process import RewardProcess, RoundPath

# A random shift keeps the maximizer within this fraction of the cube (or of the room that a motion
# leaves), so that the maximum is not at the edge.
PART = 0.8


class Placement(NamedTuple):
    """What is drawn at a reset: the shift s, the active coordinates and the phase of round 1."""

    shift: Array
    active: IntArray | slice
    phase: float


class AnalyticFunction(Function):
    """The function of one round of an `AnalyticProcess` in a box; ``phase`` is the motion's."""

    def __init__(self, process: "AnalyticProcess", placement: Placement, phase: float) -> None:
        self._process, self.placement, self._phase = process, placement, phase
        self.best_action = frozen(process.best(placement, phase))
        self.optimum, self.accuracy = process.peak, process.accuracy

    def __call__(self, actions: Points) -> Array:
        return self._process.values(actions, self.placement, self._phase)


class AnalyticProcess(RewardProcess):
    """A test function of k coordinates, static or moving.

    In its own units (``cube=False``) the domain is a box or arms, and the value at x in round t is
    f(c(A_t(c^-1(x)))). Here A_t is the motion, and c scales [-1, 1]^k to the box.

    In the cube [-1, 1]^D the value at u in round t is f(c(A_t(u_a) - s)). Here u_a are the k active
    coordinates of u, s is the shift, and c scales [-1, 1]^k to the usual box of the function. The
    maximum is at u_a = A_t^-1(u* + s), and ``best_action`` is 0 in the other coordinates.

    For values outside the usual box see `TestFunction`. A round of a moving function costs O(D).

    Args:
        name: one of `TEST_FUNCTIONS`.
        domain: arms or a box in the units of the function; its usual box by default.
        dim: the number of coordinates, for functions of any dimension; D in the cube. The default
            is the function's own dimension, or 2.
        motion: how the function moves; None for a static function.
        cube: whether the domain is the cube.
        active: in the cube, the number k of active coordinates, drawn at each reset; or k distinct
            indices in the order of the function. The default is the dimension of the function.
        shift: in the cube, False for none; True to draw the maximizer at each reset, uniformly in
            [-0.8 r, 0.8 r]^k, where r is the room that the motion leaves (1 without a motion); or
            s itself, a number or (k,), in units of the cube.
    Raises:
        UnknownName: there is no such function.
        InvalidInput: the dimensions do not agree, an index is out of range, or a shift or motion
            takes the maximum out of the box or the cube.
    """

    def __init__(
        self,
        name: str,
        domain: Arms | Box | None = None,
        dim: int | None = None,
        motion: Motion | None = None,
        *,
        cube: bool = False,
        active: int | Sequence[int] | None = None,
        shift: bool | ArrayLike = False,
    ) -> None:
        given = function_named(name)
        self._given, self._cube = given, cube
        self.motion, self.moves = motion, motion is not None
        places, wanted = _wanted(active)
        if cube:
            size = dimension(name, wanted) if dim is None else whole(dim, "dim")
            k = dimension(name, wanted or given.dim or size)
            domain = Box(-np.ones(size), np.ones(size))
        else:
            k = size = dimension(name, None if domain is None else domain.dim, dim)
        usual = given.box(k)
        self.domain: Arms | Box = usual if domain is None else domain
        # The motion acts on the usual box, whatever the arms are.
        self.box = self.domain if isinstance(self.domain, Box) and not cube else usual
        self.peak, self.accuracy = given.peak(k), given.accuracy(k)
        self._best = to_cube(given.maximizer(k), self.box)
        self._active = _places(places, k, size)
        self._shift = None if isinstance(shift, (bool, np.bool_)) and shift else _shift(shift, k)
        moved = np.zeros(k) if self._shift is None else self._best + self._shift
        stays_inside(motion, moved, name)

    def begin(self, rng: np.random.Generator) -> RoundPath:
        k, active, shift = len(self._best), self._active, self._shift
        if active is None:
            active = rng.choice(self.domain.dim, k, replace=False)
        if shift is None:
            room = PART * (self.motion.room if self.motion else 1.0)
            shift = rng.uniform(-room, room, k) - self._best
        phase = float(rng.random()) if self.moves else 0.0
        return RoundPath(partial(self.at, Placement(shift, active, phase)))

    def at(self, placement: Placement, round_: float) -> Function:
        """The function of a round."""
        period = self.motion.period if self.motion else 1.0
        phase = float((placement.phase + (round_ - 1) / period) % 1.0)
        if self.domain.finite:
            return ArmFunction(self.values(self.domain.span, placement, phase))
        return AnalyticFunction(self, placement, phase)

    def values(self, x: Array, placement: Placement, phase: float) -> Array:
        """The values (n,) at points x (n, D), at a phase of the motion in [0, 1)."""
        if self._cube or self.motion is not None:
            u = (x if self._cube else to_cube(x, self.box))[:, placement.active]
            if self.motion is not None:
                u = self.motion.onto(u, phase)
            x = from_cube(u - placement.shift, self.box)
        return self._given.values(x)

    def best(self, placement: Placement, phase: float) -> Array:
        """The maximizer (D,)."""
        peak = self._best + placement.shift
        if self.motion is not None:
            peak = self.motion.back(peak[None], phase)[0]
        # Rounding may move a maximizer at the edge out of the cube.
        peak = np.clip(peak, -1.0, 1.0)
        if not self._cube:
            return from_cube(peak, self.box)
        best = np.zeros(self.domain.dim)
        best[placement.active] = peak
        return best


def _wanted(active: int | Sequence[int] | None) -> tuple[list[int] | None, int | None]:
    """The active coordinates, if given, and their number."""
    if active is None or isinstance(active, (int, np.integer)):
        return None, None if active is None else whole(active, "active")
    places = [whole(i, "active", minimum=0) for i in listed(active, "active")]
    if not places:
        raise InvalidInput("active must name at least one coordinate, got none")
    return places, len(places)


def _places(places: list[int] | None, k: int, size: int) -> IntArray | slice | None:
    """The active coordinates of a function of k coordinates; None if they are drawn."""
    if k > size:
        raise InvalidInput(f"{k} coordinates are active, but dim is {size}; use dim={k} or more")
    if places is None:
        return None if k < size else slice(None)
    if len(set(places)) != k or max(places) >= size:
        raise InvalidInput(f"active must be distinct coordinates in 0..{size - 1}, got {places}")
    return frozen(np.array(places))


def _shift(shift: ArrayLike, k: int) -> Array:
    """The given shift as an array (k,)."""
    given = finite_array(shift, "shift")
    if given.shape not in ((), (k,)):
        raise InvalidInput(f"shift must be a number or have {k} entries, got {given.shape}")
    return frozen(np.array(np.broadcast_to(given, (k,))))

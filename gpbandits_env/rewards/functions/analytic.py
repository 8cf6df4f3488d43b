"""Test functions in a box or in a cube, where they may be shifted or padded."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, Points, finite_array, frozen, listed, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.functions.catalogue import ROUNDING, dimension, function_named
from gpbandits_env.rewards.functions.function import Function
from gpbandits_env.rewards.functions.process import StaticProcess

# A random shift keeps the maximizer within this fraction of the cube, so that it is not at the
# edge.
PART = 0.8


class AnalyticFunction(Function):
    """A function of an `AnalyticProcess`, with its shift and its active coordinates."""

    def __init__(self, process: "AnalyticProcess", shift: Array, active: IntArray | slice) -> None:
        self._process, self.shift, self.active = process, shift, active
        self.best_action = frozen(process.best(shift, active))
        self.optimum, self.accuracy = process.peak, process.accuracy

    def __call__(self, actions: Points) -> Array:
        return self._process.values(actions, self.shift, self.active)


class AnalyticProcess(StaticProcess):
    """A test function of k coordinates, in its own units or in the cube [-1, 1]^D.

    In the cube the value at u is f(c(u_a - s)). Here u_a are the k active coordinates of u, s is
    the shift, and c scales [-1, 1]^k to the usual box of the function. The maximum is at u_a = u* +
    s, and ``best_action`` is 0 in the other coordinates.

    Outside the usual box the formula still applies. Where it may exceed the maximum (see
    `TestFunction`), the value is that of the nearest point of the box.

    Args:
        name: one of `TEST_FUNCTIONS`.
        box: another box than the usual one, in the units of the function.
        dim: the number of coordinates, for functions of any dimension; D in the cube. The default
            is the function's own dimension, or 2.
        cube: whether the domain is the cube.
        active: in the cube, the number k of active coordinates, drawn at each reset; or k distinct
            indices in the order of the function. The default is the dimension of the function.
        shift: in the cube, False for none; True to draw the maximizer at each reset, uniformly in
            [-0.8, 0.8]^k; or s itself, a number or (k,), in units of the cube.
    Raises:
        UnknownName: there is no such function.
        InvalidInput: the dimensions do not agree, an index is out of range, or the maximum is
            outside of the box or the cube.
    """

    def __init__(
        self,
        name: str,
        box: Box | None = None,
        dim: int | None = None,
        *,
        cube: bool = False,
        active: int | Sequence[int] | None = None,
        shift: bool | ArrayLike = False,
    ) -> None:
        given = function_named(name)
        self._formula, self._least, self._cube = given.formula, given.lowest, cube
        places, wanted = _wanted(active)
        if cube:
            size = dimension(name, wanted) if dim is None else whole(dim, "dim")
            k = dimension(name, wanted or given.dim or size)
        else:
            k = size = dimension(name, None if box is None else box.dim, dim)
        usual = given.box(k)
        self.box = usual if box is None else box
        self.domain: Box = Box(-np.ones(size), np.ones(size)) if cube else self.box
        self._within = None if given.everywhere else usual
        self.peak = given.peak(k)
        self.accuracy = ROUNDING * max(1.0, abs(self.peak))
        self._best = _to_cube(given.maximizer(k), self.box)
        self._active = _places(places, k, size)
        self._shift = None if shift is True else _shift(shift, k)
        if self._shift is not None and (np.abs(self._best + self._shift) > 1.0 + 1e-12).any():
            raise InvalidInput(
                f"the maximum of {name!r} is outside of its box; use another box, or a smaller "
                "shift"
            )

    def draw(self, rng: np.random.Generator) -> AnalyticFunction:
        k, active, shift = len(self._best), self._active, self._shift
        if active is None:
            active = rng.choice(self.domain.dim, k, replace=False)
        if shift is None:
            shift = rng.uniform(-PART, PART, k) - self._best
        return AnalyticFunction(self, shift, active)

    def bounds(self) -> tuple[float, float]:
        span = 1.0 + (1.0 + np.abs(self._best) if self._shift is None else np.abs(self._shift))
        ends = _from_cube(span.max() * np.array([[-1.0], [1.0]]), self.box)
        return self._least(len(self._best), float(np.abs(ends).max())), self.peak + self.accuracy

    def values(self, x: Array, shift: Array, active: IntArray | slice) -> Array:
        """The values (n,) at points x (n, D)."""
        if self._cube:
            x = _from_cube(x[:, active] - shift, self.box)
        if self._within is not None:
            x = np.clip(x, self._within.low, self._within.high)
        return self._formula(x)

    def best(self, shift: Array, active: IntArray | slice) -> Array:
        """The maximizer (D,)."""
        # Rounding may move a maximizer at the edge out of the cube.
        peak = np.clip(self._best + shift, -1.0, 1.0)
        if not self._cube:
            return _from_cube(peak, self.box)
        best = np.zeros(self.domain.dim)
        best[active] = peak
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
    if shift is False:
        return frozen(np.zeros(k))
    given = finite_array(shift, "shift")
    if given.shape not in ((), (k,)):
        raise InvalidInput(f"shift must be a number or have {k} entries, got {given.shape}")
    return frozen(np.array(np.broadcast_to(given, (k,))))


def _to_cube(x: Array, box: Box) -> Array:
    """Points of a box, scaled to [-1, 1]^d."""
    return (2.0 * x - (box.low + box.high)) / (box.high - box.low)


def _from_cube(u: Array, box: Box) -> Array:
    """Points of [-1, 1]^d, scaled to a box."""
    return 0.5 * (u * (box.high - box.low) + (box.low + box.high))

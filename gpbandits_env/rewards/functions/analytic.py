"""Test functions in a cube, shifted and padded with coordinates that have no effect."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, Points, finite_array, frozen, listed, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.functions.catalogue import dimension, function_named
from gpbandits_env.rewards.functions.function import Function
from gpbandits_env.rewards.functions.process import StaticProcess

# A random shift keeps the maximizer within this fraction of the cube, so that it is not at the
# edge.
PART = 0.8


class AnalyticFunction(Function):
    """A function of an `AnalyticProcess`, with its shift and its active coordinates."""

    def __init__(self, process: "AnalyticProcess", shift: Array, active: IntArray | slice) -> None:
        self._process, self.shift, self.active = process, shift, active
        best = np.zeros(process.domain.dim)
        # Rounding may move a maximizer at the edge out of the cube.
        best[active] = np.clip(process.best + shift, -1.0, 1.0)
        self.best_action = frozen(best)
        self.optimum, self.accuracy = process.optimum, process.accuracy

    def __call__(self, actions: Points) -> Array:
        return self._process.values(actions[:, self.active] - self.shift)


class AnalyticProcess(StaticProcess):
    """A test function of k coordinates in the cube [-1, 1]^D.

    The value at u is f(c(u_a - s)). Here u_a are the k active coordinates of u, s is the shift, and
    c scales [-1, 1]^k to the usual box of the function. The maximum is at u_a = u* + s, and
    ``best_action`` is 0 in the other coordinates. For values outside the usual box see
    `TestFunction`.

    Args:
        name: one of `TEST_FUNCTIONS`.
        dim: D; by default the function's own dimension, or 2.
        active: the number k of active coordinates, drawn at each reset; or k distinct indices in
            the order of the function. The default is the dimension of the function.
        shift: False for none; True to draw the maximizer at each reset, uniformly in [-0.8, 0.8]^k;
            or s itself, a number or (k,), in units of the cube.

    Attributes:
        best: u*, (k,).
        optimum: the maximum.
        accuracy: that of the maximum.
    Raises:
        UnknownName: there is no such function.
        InvalidInput: the dimensions do not agree, an index is out of range, or the shift takes the
            maximum out of the cube.
    """

    def __init__(
        self,
        name: str,
        dim: int | None = None,
        active: int | Sequence[int] | None = None,
        shift: bool | ArrayLike = False,
    ) -> None:
        self._given = function_named(name)
        places, wanted = _wanted(active)
        size = dimension(name, wanted) if dim is None else whole(dim, "dim")
        k = dimension(name, wanted or self._given.dim or size)
        self.domain: Box = Box(-np.ones(size), np.ones(size))
        self.optimum, self.accuracy = self._given.peak(k), self._given.accuracy(k)
        self._box = box = self._given.box(k)
        best = self._given.maximizer(k)
        self.best = (2.0 * best - (box.low + box.high)) / (box.high - box.low)
        self._active = _places(places, k, size)
        self._shift = None if shift is True else _shift(shift, k)
        if self._shift is not None and (np.abs(self.best + self._shift) > 1.0 + 1e-12).any():
            raise InvalidInput(
                f"the maximum of {name!r} is outside of the cube; use a smaller shift"
            )

    def draw(self, rng: np.random.Generator) -> AnalyticFunction:
        k, active, shift = len(self.best), self._active, self._shift
        if active is None:
            active = rng.choice(self.domain.dim, k, replace=False)
        if shift is None:
            shift = rng.uniform(-PART, PART, k) - self.best
        return AnalyticFunction(self, shift, active)

    def values(self, u: Array) -> Array:
        """The values (n,) at active coordinates (n, k) without their shift."""
        box = self._box
        return self._given.values(0.5 * (u * (box.high - box.low) + (box.low + box.high)))


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

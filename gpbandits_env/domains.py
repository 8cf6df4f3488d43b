"""Where actions live: a finite set of arms, or a box.

A domain turns actions (what an environment's `step` takes) into points (what a kernel takes):
on `Arms` an action is the index of an arm, in a `Box` it is the point itself.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

from gpbandits_env.arrays import (
    FLOAT,
    INT,
    LARGEST,
    ONE,
    SINGLE,
    Array,
    IntArray,
    Plain,
    Points,
    as_array,
    finite_array,
    frozen,
    kind_of,
    listed,
    numbers,
    whole,
    wholes,
)
from gpbandits_env.display import Displayed
from gpbandits_env.errors import InvalidInput, one_of, shown

# The most coordinates of a grid or a batch: 1 GB, and 3 or 4 GB while an environment is made.
MOST_NUMBERS = 2**27
# A point outside a box by at most this fraction of the larger bound is moved to the edge: rounding
# to single precision can put it there.
SLACK = 4.0 * float(np.finfo(np.float32).eps)


class Domain(Displayed, ABC):
    """The set of possible actions."""

    # Whether it is a finite set of arms; else it is a box.
    finite: ClassVar[bool]

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of coordinates d of a point."""

    @property
    def size(self) -> int:
        """The number of arms n; 0 in a box."""
        return 0

    @property
    @abstractmethod
    def span(self) -> Array:
        """Points (k, d) that span the domain: all arms, or the two corners of a box."""

    @abstractmethod
    def action_space(self, batch_size: int) -> spaces.MultiDiscrete | spaces.Box:
        """The Gymnasium space of a batch of ``batch_size`` actions."""

    @abstractmethod
    def check(self, actions: ArrayLike, batch_size: int | None = None) -> Points:
        """The actions as an array of the domain's own type.

        Args:
            actions: (m,) indices on arms, (m, d) points in a box. One index is a batch of one.
            batch_size: the required number of actions; None for any.
        Raises:
            InvalidInput: the actions have the wrong shape, type or range.
        """

    def observations(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        observed: ArrayLike | None = None,
        least: int = 0,
    ) -> tuple[Points, Array]:
        """The actions that were observed and their rewards, as arrays.

        Args:
            actions: k actions, as for `check`.
            rewards: (k,) numbers; the rewards of observed actions must be finite.
            observed: (k,) bool, which of the actions were observed; all by default.
            least: the smallest allowed number of actions; with ``observed`` it is 1.
        Raises:
            InvalidInput: as for `check`; wrong shapes or types, or a reward that is not finite.
        """
        known = self.check(actions)
        if observed is not None:
            return _observed(known, rewards, observed)
        if (
            type(rewards) is np.ndarray
            and rewards.dtype is FLOAT
            and rewards.shape == ONE
            and len(known) == 1
            and -LARGEST <= rewards.item() <= LARGEST
        ):
            return known, rewards
        try:
            values = finite_array(rewards, "rewards")
        except InvalidInput:
            if np.isnan(numbers(rewards, "rewards")).any():
                raise InvalidInput(
                    "rewards must be finite, got NaN: leave out actions whose evaluation failed, "
                    "as by tell(..., observed=mask)"
                ) from None
            raise
        if values.shape != (len(known),):
            raise InvalidInput(
                f"rewards must have shape ({len(known)},), one per action, got {values.shape}; an "
                "environment returns them in observation['rewards'], and "
                "agent.observe(observation) takes those that arrive late"
            )
        if len(values) < least:
            raise InvalidInput("tell needs at least one action and its reward, got none")
        return known, values

    @abstractmethod
    def points(self, actions: Points) -> Array:
        """The points (m, d) of checked actions."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: int) -> Points:
        """``size`` actions drawn uniformly and independently."""

    @abstractmethod
    def to_dict(self) -> Plain:
        """A plain dict for JSON, which `domain_from_dict` reads back."""


@dataclass(frozen=True, eq=False, repr=False)
class Arms(Domain):
    """A finite set of n points.

    Args:
        coordinates: (n, d) points, one per arm, in the units of the kernel's lengthscale; (n,) is
            read as (n, 1).
        axes: when the arms are the product grid of these d one-dimensional arrays (last one
            fastest), the arrays; `Arms.grid` sets them.
    Raises:
        InvalidInput: no arms, coordinates that are not finite, or axes whose product grid is
            another one.
    """

    finite = True
    coordinates: Array
    axes: tuple[Array, ...] | None = field(default=None)

    def __post_init__(self) -> None:
        points = finite_array(self.coordinates, "arms")
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2 or points.size == 0:
            raise InvalidInput(f"arms must have shape (n, d), n and d above 0, got {points.shape}")
        object.__setattr__(self, "coordinates", frozen(points + 0.0))  # no -0.0: equal, equal bytes
        if self.axes is not None:
            object.__setattr__(self, "axes", _axes_of(points, listed(self.axes, "axes")))

    def _facts(self) -> Plain:
        grid = self.axes and " x ".join(str(len(axis)) for axis in self.axes)
        return {"size": self.size, "dim": self.dim, "grid": grid}

    @classmethod
    def grid(
        cls, shape: int | Sequence[int], low: ArrayLike = 0.0, high: ArrayLike = 1.0
    ) -> "Arms":
        """The product grid with ``shape[i]`` evenly spaced points on [low_i, high_i].

        Args:
            shape: the number of points per axis.
            low: lower ends, a number or one per axis.
            high: upper ends, a number or one per axis.
        Raises:
            InvalidInput: sizes that are not whole, too many points, or ends out of order.
        """
        sizes = wholes(shape, "grid")
        if not sizes:
            raise InvalidInput(f"grid needs at least one axis, got {shape!r}")
        if math.prod(sizes) * len(sizes) > MOST_NUMBERS:
            points = Decimal(math.prod(sizes))  # the product may overflow a float
            raise InvalidInput(
                f"a grid of {points:.3g} points is {8 * len(sizes) * points / 10**9:.3g} GB of "
                f"coordinates, and at most {8e-9 * MOST_NUMBERS:.2g} GB are allowed; take fewer "
                "points per axis, or a box"
            )
        lows, highs = _bounds(low, high, len(sizes))
        axes = tuple(frozen(np.linspace(*ends)) for ends in zip(lows, highs, sizes, strict=True))
        made = cls(mesh(axes))
        object.__setattr__(made, "axes", axes)  # which need no check
        return made

    @property
    def size(self) -> int:
        return len(self.coordinates)

    @property
    def dim(self) -> int:
        return int(self.coordinates.shape[1])

    @property
    def span(self) -> Array:
        return self.coordinates

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the grid; (n,) when the arms are not a grid."""
        return tuple(len(a) for a in self.axes) if self.axes else (self.size,)

    @cached_property
    def fingerprint(self) -> int:
        """A number that two sets of arms share only if their points are the same."""
        return hash((self.coordinates.shape, self.coordinates.tobytes()))

    def __eq__(self, other: object) -> bool:
        # A grid differs from a plain list of its points: what is cached for one does not fit both.
        return (
            isinstance(other, Arms)
            and self.shape == other.shape
            and (self.axes is None) == (other.axes is None)
            and np.array_equal(self.coordinates, other.coordinates)
        )

    def __hash__(self) -> int:
        return self.fingerprint

    def __reduce__(self) -> tuple[object, ...]:
        return Arms, (self.coordinates, self.axes)

    def action_space(self, batch_size: int) -> spaces.MultiDiscrete:
        return spaces.MultiDiscrete(np.full(whole(batch_size, "batch_size"), self.size))

    def check(self, actions: ArrayLike, batch_size: int | None = None) -> IntArray:
        if (
            type(actions) is np.ndarray
            and actions.dtype is INT
            and actions.shape == ONE
            and batch_size in SINGLE
            and 0 <= actions.item() < len(self.coordinates)
        ):
            return actions
        array = as_array(actions, "actions")
        if batch_size is not None and type(batch_size) is not int:
            batch_size = whole(batch_size, "batch_size", 0)
        if array.dtype.kind not in "iu" and array.size:  # [] is an array of floats
            got = "None" if actions is None else kind_of(array)
            raise InvalidInput(f"actions must be whole numbers (arm indices), got {got}")
        if not array.ndim and batch_size in SINGLE:
            array = array[None]
        if array.ndim != 1 or (batch_size is not None and len(array) != batch_size):
            want = "(m,)" if batch_size is None else f"({batch_size},)"
            raise InvalidInput(f"actions must be arm indices of shape {want}, got {array.shape}")
        # A negative index, read as unsigned, exceeds every arm: one comparison checks both ends.
        indices = array.astype(np.int64, copy=False)
        if len(indices) and np.maximum.reduce(indices.view(np.uint64)) >= self.size:
            raise InvalidInput(f"actions must lie in 0..{self.size - 1}, got {array.tolist()}")
        return indices

    def points(self, actions: Points) -> Array:
        return self.coordinates[actions]

    def sample(self, rng: np.random.Generator, size: int) -> IntArray:
        return rng.integers(self.size, size=size)

    def to_dict(self) -> Plain:
        if self.axes:
            # An axis of one point has no upper end, so any value above the lower end will do.
            ends = [(float(a[0]), float(a[-1] if len(a) > 1 else a[0] + 1.0)) for a in self.axes]
            even = Arms.grid(self.shape, [e[0] for e in ends], [e[1] for e in ends])
            if even == self:
                low, high = map(list, zip(*ends, strict=True))
                return {"type": "grid", "shape": list(self.shape), "low": low, "high": high}
        axes = {"axes": [axis.tolist() for axis in self.axes]} if self.axes else {}
        return {"type": "arms", "points": self.coordinates.tolist(), **axes}


@dataclass(frozen=True, eq=False, repr=False)
class Box(Domain):
    """The points between two corners.

    An action that lies outside only by single-precision rounding counts as on the edge.

    Args:
        low: (d,) the lower corner.
        high: (d,) the upper corner, above the lower one in every coordinate.
    Raises:
        InvalidInput: corners that are not finite, not of one shape, or out of order.
    """

    finite = False
    low: Array
    high: Array

    def __post_init__(self) -> None:
        low, high = _bounds(self.low, self.high)
        object.__setattr__(self, "low", frozen(low + 0.0))
        object.__setattr__(self, "high", frozen(high + 0.0))

    def _facts(self) -> Plain:
        return {"dim": self.dim, "low": self.low, "high": self.high}

    @cached_property
    def dim(self) -> int:
        return len(self.low)

    @property
    def span(self) -> Array:
        return np.stack([self.low, self.high])

    @cached_property
    def free(self) -> Array | None:
        """(d,) 0.0 for coordinates with discrete values, else 1.0; None if all are continuous."""
        return None

    @cached_property
    def linear(self) -> Any:
        """Linear constraints that all actions satisfy; None in a plain box."""
        return None

    def snap(self, points: Array) -> Array:
        """The actions nearest to points (n, d); in a plain box each point is an action."""
        return points

    def exchanges(self, point: Array) -> Array:
        """The points (k, d) that differ from a point (d,) in one coordinate that is not `free`."""
        return np.empty((0, self.dim))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and np.array_equal(self.span, other.span)

    def __hash__(self) -> int:
        return hash((self.low.tobytes(), self.high.tobytes()))

    def action_space(self, batch_size: int) -> spaces.Box:
        m = whole(batch_size, "batch_size")
        return spaces.Box(np.tile(self.low, (m, 1)), np.tile(self.high, (m, 1)), dtype=np.float64)

    def check(self, actions: ArrayLike, batch_size: int | None = None) -> Array:
        array = finite_array(actions, "actions")
        rows = "m" if batch_size is None else whole(batch_size, "batch_size", 0)
        if array.ndim != 2 or array.shape[1] != self.dim or rows not in ("m", len(array)):
            raise InvalidInput(
                f"actions must be points of shape ({rows}, {self.dim}), got {array.shape}"
            )
        if (array < self.low).any() or (array > self.high).any():
            return self._brought_inside(array)
        return array

    def _brought_inside(self, points: Array) -> Array:
        """A copy of points (m, d) with rounding errors moved to the edge; others are refused."""
        inside = np.clip(points, self.low, self.high)
        slack = SLACK * np.maximum(np.abs(self.low), np.abs(self.high))
        far = np.argwhere(np.abs(points - inside) > slack)
        if len(far):
            row, j = far[0].tolist()
            raise InvalidInput(
                f"actions must lie in the box: its coordinate {j} ranges from {self.low[j]} to "
                f"{self.high[j]}, but action {row} has {points[row, j]} there"
            )
        return inside

    def points(self, actions: Points) -> Array:
        return actions

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.uniform(self.low, self.high, size=(size, self.dim))

    def to_dict(self) -> Plain:
        return {"type": "box", "low": self.low.tolist(), "high": self.high.tolist()}


def domain_from_dict(given: object) -> Any:
    """The domain of a dict of `Domain.to_dict`; anything without a "type" is returned unchanged.

    Raises:
        InvalidInput: the dict lacks a key, or as for the domain.
        UnknownName: there is no such type.
    """
    if not isinstance(given, Mapping) or "type" not in given:
        return given
    makers: dict[str, Callable[..., Domain]] = {"arms": _arms, "grid": Arms.grid, "box": Box}
    make = makers[one_of(given["type"], makers, "domain")]
    try:
        return make(**{key: value for key, value in given.items() if key != "type"})
    except TypeError as error:
        raise InvalidInput(f"domain {given['type']!r}: {error}") from None


def _arms(points: Array, axes: tuple[Array, ...] | None = None) -> Arms:
    return Arms(points, axes)


def _axes_of(points: Array, given: Sequence[ArrayLike]) -> tuple[Array, ...]:
    """The axes of a product grid, (n_i,) each, as read-only copies; its points are given."""
    axes = tuple(frozen(finite_array(axis, "axes", 1).copy()) for axis in given)
    shape = tuple(map(len, axes))
    if points.shape != (math.prod(shape), len(shape)) or not all(
        (column.reshape(shape) == axis).all()
        for column, axis in zip(points.T, np.ix_(*axes), strict=True)
    ):
        raise InvalidInput(
            f"axes must be those of a grid of {len(points)} points, the last one fastest, whose "
            f"coordinates are exactly the points; got axes of {shape} values: leave axes out, or "
            "use Arms.grid"
        )
    return axes


def mesh(axes: Sequence[Array]) -> Array:
    """The points (n, d) of a product grid, the last axis fastest."""
    return np.stack([grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")], axis=1)


def clock(parts: int) -> Arms:
    """The parts of a day (or of another period) as points of the unit circle, (parts, 2)."""
    hours = 2.0 * np.pi * np.arange(parts) / parts
    return Arms(np.stack([np.cos(hours), np.sin(hours)], axis=1))


def joined(actions: Domain, contexts: Domain) -> Arms | Box:
    """The domain of pairs of an action and a context, whose coordinates stand in this order.

    For n arms and c contexts it has n c arms; the pair (x, z) is the arm x c + z. Otherwise it is
    the box that contains all pairs.

    Raises:
        InvalidInput: there are too many pairs, or a domain is neither arms nor a box.
    """
    for each in (actions, contexts):
        if not isinstance(each, (Arms, Box)):
            raise InvalidInput(f"actions and contexts must be Arms or a Box, got {shown(each)}")
    if not (isinstance(actions, Arms) and isinstance(contexts, Arms)):
        low, high = (
            np.concatenate([end(d.span, axis=0) for d in (actions, contexts)])
            for end in (np.min, np.max)
        )
        return Box(low, np.where(high > low, high, low + 1.0))
    n, c = actions.size, contexts.size
    if n * c * (actions.dim + contexts.dim) > MOST_NUMBERS:
        raise InvalidInput(f"{n} arms and {c} contexts are too many pairs: take fewer, or a box")
    pairs = np.hstack([np.repeat(actions.coordinates, c, 0), np.tile(contexts.coordinates, (n, 1))])
    axes = [d.axes or (d.coordinates[:, 0],) for d in (actions, contexts)]
    gridded = all(d.axes is not None or d.dim == 1 for d in (actions, contexts))
    return Arms(pairs, (*axes[0], *axes[1]) if gridded else None)


def two_corners(box: Sequence[ArrayLike]) -> tuple[Any, ...]:
    """The corners (low, high) of a box, unchanged; InvalidInput unless there are two."""
    corners = listed(box, "the two corners of a box")
    if len(corners) != 2:
        raise InvalidInput(f"box must be its two corners (low, high), got {shown(box)}")
    return corners


def _observed(known: Points, rewards: ArrayLike, observed: ArrayLike) -> tuple[Points, Array]:
    """The checked actions that the mask selects, and their rewards."""
    values, mask = as_array(rewards, "rewards"), as_array(observed, "observed")
    shape = (len(known),)
    if mask.dtype != np.bool_ or mask.shape != shape or values.shape != shape or not shape[0]:
        raise InvalidInput(
            "rewards and observed (bool) must have one entry for each of at least one action, "
            f"got {values.shape} and {mask.shape} {mask.dtype} for {len(known)} actions"
        )
    return known[mask], finite_array(values[mask], "rewards")


def _bounds(low: ArrayLike, high: ArrayLike, dim: int | None = None) -> tuple[Array, Array]:
    """The two ends, (dim,) each; as many as are given if there is no ``dim``."""
    a, b = finite_array(low, "low"), finite_array(high, "high")
    dim = max(a.size, b.size) if dim is None else dim
    if not dim:
        raise InvalidInput("a box needs at least one coordinate, got low and high without any")
    try:
        a, b = np.broadcast_to(a, (dim,)), np.broadcast_to(b, (dim,))
    except ValueError:
        raise InvalidInput(f"low and high must be numbers or have {dim} entries") from None
    if (a >= b).any():
        raise InvalidInput(
            f"low must be below high, got {a.tolist()} and {b.tolist()}; low and high are two "
            "corners, with one number per coordinate each"
        )
    return a, b

"""Named dimensions as a domain: arms if all combinations can be listed, else the unit cube."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.optimize import Bounds

from gpbandits_env.agents.optimize.dimensions import DIMENSIONS, Dimension, Real
from gpbandits_env.arrays import Array, listed
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput, one_of, shown

# The largest number of combinations that are listed as arms.
MOST_ARMS = 4096


@dataclass(frozen=True, eq=False)
class Cube(Box):
    """A unit cube in which only some points represent values, unless all dimensions are real.

    If an acquisition is maximized over the whole cube and the maximizer is rounded, the same value
    can be chosen again and again, because the maximum lies between two values. A search therefore
    scores only points that represent values, and gradient ascent moves only the continuous
    coordinates. The actions of agents with searches of their own are rounded afterwards: LineBO
    observes the rounded point and then draws another line; for embeddings see `SpaceAgent`.

    Departures from Garrido-Merchan & Hernandez-Lobato (2020), who round inside the kernel: 1. the
    candidates are rounded instead, which gives the same posterior.
    """

    dimensions: tuple[Dimension, ...]

    @cached_property
    def free(self) -> Array | None:
        sizes = np.repeat(
            [d.size or 0 for d in self.dimensions], [d.width for d in self.dimensions]
        )
        return (sizes == 0).astype(np.float64) if sizes.any() else None

    def snap(self, points: Array) -> Array:
        snapped, start = points.copy(), 0
        for dimension in self.dimensions:
            part = slice(start, start + dimension.width)
            start = part.stop
            if dimension.size is not None:
                rows = points[:, part]
                snapped[:, part] = [dimension.encode(dimension.decode(row)) for row in rows]
        return snapped

    def exchanges(self, point: Array) -> Array:
        found, start = [], 0
        for dimension in self.dimensions:
            part = slice(start, start + dimension.width)
            start = part.stop
            if dimension.size is not None:
                others = dimension.others(dimension.decode(point[part]))
                moved = np.tile(point, (len(others), 1))
                moved[:, part] = [dimension.encode(other) for other in others]
                found.append(moved)
        return np.concatenate(found) if found else super().exchanges(point)


class Space:
    """Named dimensions, and the map between their values and points of [0, 1]^d.

    Args:
        dimensions: a dict of dimensions by name. Each is a `Dimension`, its dict
            {"type": "real", ...}, or a pair (low, high) for a real number. In a list, or in SciPy's
            `Bounds`, the dimensions are named x0, x1, ...

    Attributes:
        dimensions: the dimensions by name.
        dim: the number d of coordinates.
        groups: the index of the dimension of each coordinate, (d,).
        parts: the coordinates of each dimension.
        cube: the cube [0, 1]^d.
        domain: `Arms` if there are at most 4096 combinations, else the cube.
    Raises:
        InvalidInput: there are no dimensions, or one of them is invalid.
    """

    def __init__(self, dimensions: "Mapping[str, Any] | Sequence[Any] | Bounds | Space") -> None:
        self.dimensions = _named(dimensions)
        ends = np.cumsum([0, *(d.width for d in self.dimensions.values())]).tolist()
        self.dim: int = ends[-1]
        self.groups = tuple(
            i for i, d in enumerate(self.dimensions.values()) for _ in range(d.width)
        )
        self.parts = [slice(a, b) for a, b in pairwise(ends)]
        self._parts = list(zip(self.dimensions.items(), self.parts, strict=True))
        self.cube = Cube(np.zeros(self.dim), np.ones(self.dim), tuple(self.dimensions.values()))
        self.domain: Domain = self.cube
        sizes = [dimension.size for dimension in self.dimensions.values()]
        if None not in sizes and math.prod(filter(None, sizes)) <= MOST_ARMS:
            every = product(*(d.values() for d in self.dimensions.values()))
            points = [self.encode(dict(zip(self.dimensions, row, strict=True))) for row in every]
            self.domain = Arms(np.array(points))

    def check(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The named values, unchanged, in the order of the dimensions.

        Raises:
            InvalidInput: a name is missing, or a value is outside its dimension.
            UnknownName: there is no dimension of that name.
        """
        if not isinstance(params, Mapping):
            raise InvalidInput(f"parameters must be a dict of values by name, got {shown(params)}")
        for name in params:
            one_of(name, self.dimensions, "dimension")
        checked = {}
        for name, dimension in self.dimensions.items():
            if name not in params:
                raise InvalidInput(f"there is no value for the dimension {name!r}")
            try:
                checked[name] = dimension.check(params[name])
            except InvalidInput as error:
                raise InvalidInput(f"dimension {name!r}: {error}") from None
        return checked

    def encode(self, params: Mapping[str, Any]) -> Array:
        """The point (d,) of named values.

        Raises:
            InvalidInput, UnknownName: as in `check`.
        """
        checked = self.check(params).items()
        return np.concatenate([self.dimensions[name].encode(value) for name, value in checked])

    def decode(self, point: Array) -> dict[str, Any]:
        """The named values nearest to a point (d,) of the unit cube."""
        return {name: dimension.decode(point[part]) for (name, dimension), part in self._parts}

    def action(self, params: Mapping[str, Any]) -> Any:
        """An agent's action for named values: an arm's index, or a point (d,)."""
        point = self.encode(params)
        if not isinstance(self.domain, Arms):
            return point
        return int(np.abs(self.domain.coordinates - point).sum(axis=1).argmin())

    def params(self, action: Any) -> dict[str, Any]:
        """The named values of an agent's action."""
        return self.decode(self.domain.points(np.array([action]))[0])

    def to_dict(self) -> dict[str, Any]:
        """A plain dict by name that the constructor accepts."""
        return {name: DIMENSIONS.to_dict(d) for name, d in self.dimensions.items()}


def _named(given: Any) -> dict[str, Dimension]:
    if isinstance(given, Space):
        return dict(given.dimensions)
    if isinstance(given, Bounds):
        given = list(zip(*np.broadcast_arrays(*np.atleast_1d(given.lb, given.ub)), strict=True))
    if not isinstance(given, Mapping):
        items = listed(given, "a space that is no dict of dimensions")
        given = {f"x{i}": dimension for i, dimension in enumerate(items)}
    if not given:
        raise InvalidInput("a space needs at least one dimension, got none")
    for name in given:
        if not isinstance(name, str):
            raise InvalidInput(f"the name of a dimension must be a string, got {shown(name)}")
    return {name: _dimension(name, spec) for name, spec in given.items()}


def _dimension(name: str, spec: Any) -> Dimension:
    if isinstance(spec, Dimension):
        return spec
    if isinstance(spec, Mapping):
        return DIMENSIONS.from_dict(spec)
    try:
        low, high = listed(spec, "ends")
    except ValueError:
        raise InvalidInput(
            f"dimension {name!r} must be Real, Integer, Choice or (low, high), got {shown(spec)}"
        ) from None
    try:
        return Real(low, high)
    except InvalidInput as error:
        raise InvalidInput(f"dimension {name!r}: {error}") from None

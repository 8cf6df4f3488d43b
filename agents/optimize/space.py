"""Named dimensions as a domain: arms where all values can be listed, else the unit cube."""

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

# Up to so many combinations are listed as arms.
MOST_ARMS = 4096


@dataclass(frozen=True, eq=False)
class Cube(Box):
    """A unit cube in which only some points stand for values, where dimensions are not all real.

    An acquisition maximized anywhere and rounded afterwards can choose the same value for ever,
    because its maximum lies between two. So a search looks only at points that stand for values,
    and climbs move the continuous coordinates alone. (Agents that search elsewhere are rounded
    afterwards: on a line the rounded point is learned and the next line is another; for an
    embedding see `SpaceAgent`.)

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


class Space:
    """Named dimensions, and the map between their values and points of [0, 1]^d.

    Args:
        dimensions: by name, each a `Dimension`, its dict {"type": "real", ...}, or a pair
            (low, high) for a real number. A list instead of a dict names them x0, x1, ..., and so
            do SciPy's `Bounds`.

    Attributes:
        dimensions: by name.
        dim: the number d of coordinates.
        cube: [0, 1]^d, which knows the points that stand for values.
        domain: `Arms` if there are at most 4096 combinations, else the cube.

    Raises:
        InvalidInput: no dimensions, or something that is none.
    """

    def __init__(self, dimensions: "Mapping[str, Any] | Sequence[Any] | Bounds | Space") -> None:
        self.dimensions = _named(dimensions)
        ends = np.cumsum([0, *(d.width for d in self.dimensions.values())]).tolist()
        self.dim: int = ends[-1]
        parts = [slice(a, b) for a, b in pairwise(ends)]
        self._parts = list(zip(self.dimensions.items(), parts, strict=True))
        self.cube = Cube(np.zeros(self.dim), np.ones(self.dim), tuple(self.dimensions.values()))
        self.domain: Domain = self.cube
        sizes = [dimension.size for dimension in self.dimensions.values()]
        if None not in sizes and math.prod(filter(None, sizes)) <= MOST_ARMS:
            every = product(*(d.values() for d in self.dimensions.values()))
            points = [self.encode(dict(zip(self.dimensions, row, strict=True))) for row in every]
            self.domain = Arms(np.array(points))

    def check(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Named values in the space's order, unchanged to the bit.

        Raises:
            InvalidInput: a name is missing, or a value out of its dimension.
            UnknownName: another name.
        """
        if not isinstance(params, Mapping):
            raise InvalidInput(f"values must be a dict by name, got {shown(params)}")
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
            InvalidInput, UnknownName: as `check`.
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
        """A plain dict by name, which the constructor accepts."""
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
            raise InvalidInput(f"a dimension's name is a string, got {shown(name)}")
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

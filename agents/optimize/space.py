"""Named dimensions as a domain: arms where all values can be listed, else the unit cube."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.optimize import Bounds

from gpbandits_env.agents.optimize.dimensions import DIMENSIONS, Dimension, Real, number
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput, shown, unknown

# So many combinations are looked at one by one.
MOST_ARMS = 4096


class Space:
    """Named dimensions, and the way from their values to points of [0, 1]^d and back.

    Args:
        dimensions: by name, each a `Dimension`, its dict {"type": "real", ...}, or a pair
            (low, high) for a real number. A list instead of a dict names them x0, x1, ..., and so
            do SciPy's `Bounds`.

    Attributes:
        dimensions: by name.
        domain: `Arms` if there are at most 4096 combinations, else the unit `Box`.

    Raises:
        InvalidInput: no dimensions, or something that is none.
    """

    def __init__(self, dimensions: "Mapping[str, Any] | Sequence[Any] | Space") -> None:
        self.dimensions = _named(dimensions)
        widths = [dimension.width for dimension in self.dimensions.values()]
        ends = np.cumsum([0, *widths]).tolist()
        self._slices = [slice(a, b) for a, b in pairwise(ends)]
        self.dim: int = ends[-1]
        self.domain: Domain = Box(np.zeros(self.dim), np.ones(self.dim))
        self.exact = False
        sizes = [dimension.size for dimension in self.dimensions.values()]
        if None not in sizes and math.prod(s for s in sizes if s is not None) <= MOST_ARMS:
            every = product(*(d.every() for d in self.dimensions.values()))
            names = list(self.dimensions)
            points = [self.encode(dict(zip(names, values, strict=True))) for values in every]
            self.domain, self.exact = Arms(np.array(points)), True

    @property
    def free(self) -> Array:
        """(d,) 1.0 for the coordinates that any number may have, 0.0 for the others."""
        kinds = self.dimensions.values()
        return np.concatenate([np.full(d.width, float(d.size is None)) for d in kinds])

    def encode(self, params: Mapping[str, Any]) -> Array:
        """The point (d,) of named values.

        Raises:
            InvalidInput: a name is missing, or a value out of its dimension.
            UnknownName: another name.
        """
        if not isinstance(params, Mapping):
            raise InvalidInput(f"the values come as a dict by name, got {shown(params)}")
        for name in params:
            if name not in self.dimensions:
                raise unknown("dimension", name, self.dimensions)
        parts: list[float] = []
        for name, dimension in self.dimensions.items():
            if name not in params:
                raise InvalidInput(f"there is no value for the dimension {name!r}")
            try:
                parts += dimension.encode(params[name])
            except InvalidInput as error:
                raise InvalidInput(f"dimension {name!r}: {error}") from None
        return np.array(parts)

    def decode(self, point: Array) -> dict[str, Any]:
        """The named values nearest to a point (d,) of the unit cube."""
        pairs = zip(self.dimensions.items(), self._slices, strict=True)
        return {name: dimension.decode(point[part]) for (name, dimension), part in pairs}

    def snap(self, points: Array) -> Array:
        """Points (n, d) of the cube moved to the nearest ones that stand for values; fresh."""
        snapped = points.copy()
        for dimension, part in zip(self.dimensions.values(), self._slices, strict=True):
            if dimension.size is not None:
                rows = points[:, part]
                snapped[:, part] = [dimension.encode(dimension.decode(row)) for row in rows]
        return snapped

    def kept(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Named values as a campaign keeps them: those given, to the bit, in the space's order.

        Raises:
            InvalidInput, UnknownName: as `encode`.
        """
        self.encode(params)
        return {name: d.kept(params[name]) for name, d in self.dimensions.items()}

    def action(self, params: Mapping[str, Any]) -> Any:
        """An agent's action for named values: an arm's index, or a point (d,)."""
        point = self.encode(params)
        if not isinstance(self.domain, Arms):
            return point
        return int(np.abs(self.domain.coordinates - point).sum(axis=1).argmin())

    def params(self, action: Any) -> dict[str, Any]:
        """The named values of an agent's action."""
        if isinstance(self.domain, Arms):
            return self.decode(self.domain.coordinates[int(action)])
        return self.decode(np.asarray(action))

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, by name, that the constructor reads back."""
        return {name: DIMENSIONS.to_dict(d) for name, d in self.dimensions.items()}


def _named(given: Any) -> dict[str, Dimension]:
    if isinstance(given, Space):
        return dict(given.dimensions)
    if isinstance(given, Bounds):
        given = list(zip(*np.broadcast_arrays(*np.atleast_1d(given.lb, given.ub)), strict=True))
    if isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str):
        given = {f"x{i}": dimension for i, dimension in enumerate(given)}
    if not isinstance(given, Mapping) or not given:
        raise InvalidInput(f"a space is a dict or a list of dimensions, got {shown(given)}")
    for name in given:
        if not isinstance(name, str):
            raise InvalidInput(f"a dimension's name is a string, got {shown(name)}")
    return {name: _dimension(spec) for name, spec in given.items()}


def _dimension(spec: Any) -> Dimension:
    if isinstance(spec, Dimension):
        return spec
    if isinstance(spec, Mapping):
        return DIMENSIONS.from_dict(spec)
    pair = isinstance(spec, (Sequence, np.ndarray)) and not isinstance(spec, (str, bytes))
    if pair and np.ndim(spec) and len(spec) == 2:
        low, high = (number(end, "the end of a dimension") for end in spec)
        return Real(low, high)
    raise InvalidInput(f"a dimension is Real, Integer, Choice or (low, high), got {shown(spec)}")

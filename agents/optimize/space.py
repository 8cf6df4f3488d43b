"""Named dimensions as a domain: arms if all combinations can be listed, else the unit cube."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import Bounds, LinearConstraint

from gpbandits_env.agents.optimize.dimensions import (
    DIMENSIONS,
    Choice,
    Dimension,
    NumberRange,
    Params,
    Real,
)
from gpbandits_env.agents.optimize.inputs import by_label, is_value, located, rows
from gpbandits_env.agents.search.linear import LinearLimits
from gpbandits_env.arrays import Array, Plain, Settings, finite_array, is_number, listed
from gpbandits_env.display import Displayed
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput, one_of, shown

# The largest number of combinations that are listed as arms.
MOST_ARMS = 4096
# The draws of a uniform point before one outside the linear constraints is moved inside.
ATTEMPTS = 100


@dataclass(frozen=True, eq=False, repr=False)
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

    parts: tuple[tuple[Dimension, slice], ...]  # the coordinates of each dimension
    linear: LinearLimits | None = None

    @cached_property
    def free(self) -> Array | None:
        free = np.concatenate([np.full(d.width, float(d.size is None)) for d, _ in self.parts])
        return None if free.all() else free

    def snap(self, points: Array) -> Array:
        """The actions nearest to points (n, d); under linear constraints some may violate them."""
        snapped = self._rounded(points)
        return snapped if self.linear is None else self._rounded(self.linear.repaired(snapped))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Uniform actions; under linear constraints those that satisfy them, as far as found."""
        points = super().sample(rng, size)
        if self.linear is None:
            return points
        points = self._rounded(points)
        for _ in range(ATTEMPTS):
            outside = ~self.linear.proposable(points)
            if not outside.any():
                return points
            points[outside] = self._rounded(super().sample(rng, int(outside.sum())))
        return self.snap(points)

    def _rounded(self, points: Array) -> Array:
        snapped = points.copy()
        for dimension, part in self.parts:
            if dimension.size is not None:
                rows = points[:, part]
                snapped[:, part] = [dimension.encode(dimension.decode(row)) for row in rows]
        return snapped

    def exchanges(self, point: Array) -> Array:
        found = []
        for dimension, part in self.parts:
            if dimension.size is not None:
                others = dimension.others(dimension.decode(point[part]))
                moved = np.tile(point, (len(others), 1))
                moved[:, part] = [dimension.encode(other) for other in others]
                found.append(moved)
        exchanged = np.concatenate(found) if found else super().exchanges(point)
        return exchanged if self.linear is None else exchanged[self.linear.proposable(exchanged)]


class Space(Displayed):
    """Named dimensions, and the map between their values and points of [0, 1]^d.

    Args:
        dimensions: a dict of dimensions by name. Each is a `Dimension`, its dict
            {"type": "real", ...}, or a pair (low, high) for a real number. In a list, or in SciPy's
            `Bounds`, the dimensions are named x0, x1, ...
        linear: linear constraints of SciPy on the values, with one column for each dimension; that
            of a choice is 0. Points that violate one by more than 1e-9 (relative to the size of
            the space) are outside the space.

    Attributes:
        dimensions: the dimensions by name.
        dim: the number d of coordinates.
        groups: the index of the dimension of each coordinate, (d,).
        linear: the linear constraints.
        cube: the cube [0, 1]^d.
        domain: `Arms` if there are at most 4096 combinations, else the cube.
        named: whether the dimensions were given by name.
    Raises:
        InvalidInput: there are no dimensions, one of them is invalid, or no point satisfies all
            constraints.
    """

    def __init__(self, dimensions: "SpaceSpec", linear: Sequence[LinearConstraint] = ()) -> None:
        self.dimensions = _named(dimensions)
        self.named = isinstance(dimensions, (Mapping, Space))
        inherited = dimensions.linear if isinstance(dimensions, Space) else ()
        self.linear: tuple[LinearConstraint, ...] = (*inherited, *linear)
        ends = np.cumsum([0, *(d.width for d in self.dimensions.values())]).tolist()
        self.dim: int = ends[-1]
        self.groups = tuple(np.repeat(np.arange(len(self.dimensions)), np.diff(ends)).tolist())
        slices = (slice(a, b) for a, b in pairwise(ends))
        parts = tuple(zip(self.dimensions.values(), slices, strict=True))
        limits = _limits(self.linear, parts) if self.linear else None
        self.cube = Cube(np.zeros(self.dim), np.ones(self.dim), parts, limits)
        self.domain: Domain = self.cube
        sizes = [dimension.size for dimension in self.dimensions.values()]
        if None not in sizes and math.prod(filter(None, sizes)) <= MOST_ARMS:
            every = product(*(d.values() for d in self.dimensions.values()))
            rows = (dict(zip(self.dimensions, row, strict=True)) for row in every)
            points = np.array([self.encode(row) for row in rows])
            if limits is not None:
                points = points[limits.holds(points)]
            if not len(points):
                raise InvalidInput("no combination of values satisfies all linear constraints")
            self.domain = Arms(points)

    def _facts(self) -> Settings:
        return {"constraints": len(self.linear) or None, **self.dimensions}

    def check(self, params: Params | Sequence[Any]) -> Plain:
        """The named values, unchanged, in the order of the dimensions.

        Args:
            params: a dict by name, a row of a table, or a list in the order of the dimensions.
        Raises:
            InvalidInput: a value is missing or outside its dimension, there are too many, or they
                violate a linear constraint.
            UnknownName: there is no dimension of that name.
        """
        params = by_label(params, self.dimensions)
        if not isinstance(params, Mapping):
            values = listed(params, "a point that is no dict of values by name")
            if len(values) != len(self.dimensions):
                raise InvalidInput(
                    f"a point must have {len(self.dimensions)} values, or be a dict by name, got "
                    f"{shown(values)}"
                )
            params = dict(zip(self.dimensions, values, strict=True))
        checked = self._checked(params)
        if missing := [name for name in self.dimensions if name not in checked]:
            raise InvalidInput(f"there is no value for the dimension {missing[0]!r}")
        if not self.satisfies(checked):
            raise InvalidInput(f"the values {shown(checked)} violate a linear constraint")
        return checked

    def check_all(self, points: object) -> list[Plain]:
        """Checked values by name of one point or of several, each as in `check`, or of a table.

        Raises:
            InvalidInput, UnknownName: as in `check`.
        """
        points = by_label([] if points is None else points, self.dimensions)
        given: Any = [points] if isinstance(points, Mapping) else rows(points, "points")
        if any(map(is_value, given)):  # one point, or several if there is one dimension
            given = [[value] for value in given] if len(self.dimensions) == 1 else [given]
        checked = []
        for i, point in enumerate(given):
            with located(f"point {i}" if len(given) > 1 else ""):
                checked.append(self.check(point))
        return checked

    def _checked(self, params: Params) -> Plain:
        """The exact values of some dimensions, in their order."""
        for name in params:
            one_of(name, self.dimensions, "dimension")
        checked = {}
        for name in filter(params.__contains__, self.dimensions):
            with located(f"dimension {name!r}"):
                checked[name] = self.dimensions[name].check(params[name])
        return checked

    def satisfies(self, params: Params) -> bool:
        """Whether values of the dimensions satisfy the linear constraints."""
        limits = self.cube.linear
        return limits is None or bool(limits.holds(self.encode(params)[None])[0])

    def encode(self, params: Params) -> Array:
        """The point (d,) of checked values of all or some dimensions, NaN for the others."""
        point = np.full(self.dim, np.nan)
        for name, (dimension, part) in zip(self.dimensions, self.cube.parts, strict=True):
            if name in params:
                point[part] = dimension.encode(params[name])
        return point

    def encode_all(self, points: object) -> Array:
        """The points (n, d) of the unit cube of points as `check_all` takes them."""
        params = self.check_all(points)
        unit = np.array([self.encode(one) for one in params])
        return unit.reshape(len(params), self.dim)

    def decode(self, point: Array) -> Plain:
        """The named values nearest to a point (d,) of the unit cube."""
        values = (dimension.decode(point[part]) for dimension, part in self.cube.parts)
        return dict(zip(self.dimensions, values, strict=True))

    def action(self, params: Params) -> int | Array:
        """An agent's action for checked values: an arm's index, or a point (d,)."""
        return self.nearest(self.encode(params))

    def check_context(self, context: Params) -> Plain:
        """Some of the named values, unchanged.

        Raises:
            InvalidInput: it is no dict or row of a table, it is empty or complete, a value is
                outside its dimension, or no combination that agrees satisfies the linear
                constraints.
            UnknownName: there is no dimension of that name.
        """
        context = by_label(context, self.dimensions)
        checked = self._checked(context) if isinstance(context, Mapping) else {}
        if not 0 < len(checked) < len(self.dimensions):
            raise InvalidInput(
                f"a context must be a dict of some values by name, not all, got {shown(context)}"
            )
        self.nearest(np.zeros(self.dim), self.encode(checked))  # there is one
        return checked

    def joined(self, params: Params, context: Params) -> Plain:
        """The values nearest to checked values that agree with a checked context."""
        if not self.domain.finite:
            return {**params, **context}
        action = self.nearest(self.encode(params), self.encode(context))
        return self.params(action) | dict(context)

    def actual(self, point: Array) -> Plain:
        """The named values of the action nearest to the values at a point (d,) of the unit cube."""
        return self.params(self.nearest(self.encode(self.decode(point))))

    def nearest(self, point: Array, fixed: Array | None = None) -> int | Array:
        """An agent's action for a point (d,) of the unit cube: the nearest arm, or the point.

        The arm has the fixed coordinates (d,); others are NaN.
        """
        if not self.domain.finite:
            return point
        away = np.abs(self.domain.span - point).sum(axis=1)
        if fixed is not None:
            away[(np.abs(self.domain.span - fixed) > 0.0).any(axis=1)] = np.inf
        if np.isinf(away).all():
            raise InvalidInput("no combination in this context satisfies the linear constraints")
        return int(away.argmin())

    def key(self, params: Params) -> tuple[Any, ...]:
        """A hashable key of checked values; only equal points have equal keys."""
        return tuple(dimension.key(params[name]) for name, dimension in self.dimensions.items())

    def params(self, action: int | Array) -> Plain:
        """The named values of an agent's action."""
        return self.decode(self.domain.points(np.array([action]))[0])

    def shaped(self, params: Params) -> object:
        """Values in the form that a function takes: a dict if named, an array or a list."""
        if self.named:
            return dict(params)
        real = all(dimension.size is None for dimension in self.dimensions.values())
        return np.array([*params.values()]) if real else [*params.values()]

    def to_dict(self) -> Plain:
        """A dict by name that the constructor accepts; options stay as they are."""
        return {
            name: {"type": "choice", "options": list(d.options)}
            if isinstance(d, Choice)
            else DIMENSIONS.to_dict(d)
            for name, d in self.dimensions.items()
        }


# What a space is made of; see `Space`.
SpaceSpec: TypeAlias = Settings | Sequence[object] | Bounds | Space


def _named(given: object) -> dict[str, Dimension]:
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


def _dimension(name: str, spec: object) -> Dimension:
    if isinstance(spec, Dimension):
        return spec
    ends = listed(spec, "ends") if isinstance(spec, (list, tuple, np.ndarray)) else ()
    with located(f"dimension {name!r}"):
        if [is_number(end) for end in ends] == [True, True]:
            return Real(*ends)
        if isinstance(spec, Mapping):
            if spec.get("type") == "choice" and len(spec) == 2 and "options" in spec:
                return Choice(spec["options"])  # `from_dict` would change lists and dicts in it
            return DIMENSIONS.from_dict(spec)
    alone = "; a space of one dimension is [(low, high)]" if is_number(spec) else ""
    raise InvalidInput(
        f"dimension {name!r} must be Real(...), Integer(...), Choice((...)) or (low, high), got "
        f"{shown(spec)}{alone}"
    )


def _limits(
    linear: Sequence[LinearConstraint], parts: Sequence[tuple[Dimension, slice]]
) -> LinearLimits:
    """Linear constraints on values, as constraints on the numbers of the unit cube."""
    matrices = [finite_array(dense(one), "A of a linear constraint", ndim=2) for one in linear]
    for matrix in matrices:
        if matrix.shape[1] != len(parts):
            raise InvalidInput(
                f"A of a linear constraint needs a column for each of the {len(parts)} dimensions, "
                f"got {matrix.shape}"
            )
    matrix = np.concatenate(matrices)
    ends = [
        [np.broadcast_to(np.asarray(end, dtype=float), len(a)) for end in (one.lb, one.ub)]
        for one, a in zip(linear, matrices, strict=True)
    ]
    low, high = np.concatenate(ends, axis=1)
    if not (low <= high).all():
        raise InvalidInput("lb of a linear constraint must be at most ub")
    dim = parts[-1][1].stop
    scaled, (logs, free) = np.zeros((len(matrix), dim)), np.zeros((2, dim))
    for column, (dimension, part) in zip(matrix.T, parts, strict=True):
        free[part] = dimension.size is None
        if isinstance(dimension, NumberRange):
            scaled[:, part.start] = column * (dimension.high - dimension.low)
            low, high = low - column * dimension.low, high - column * dimension.low
            if dimension.log:
                logs[part.start] = math.log(dimension.high / dimension.low)
        elif column.any():
            raise InvalidInput(f"the coefficient of {shown(dimension)} must be 0")
    return LinearLimits(scaled, low, high, logs, free)


def dense(linear: LinearConstraint) -> Array:
    """The matrix of a linear constraint, with two dimensions, also if it is sparse."""
    matrix: Any = linear.A
    return np.atleast_2d(matrix.toarray() if hasattr(matrix, "toarray") else matrix)

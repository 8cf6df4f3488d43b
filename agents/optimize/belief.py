"""What an agent believes about the function, in the user's dimensions: predictions and importance.

Source: Saltelli et al. (2010), "Variance based sensitivity analysis of model output", Table 2 (b)
and (f), for the Sobol indices.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import Array, IntArray, Plain, listed
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.learning.scaling import binary_unit
from gpbandits_env.samplers import sobol

# The number of points of each of the two samples from which Sobol indices are estimated.
POWER = 11  # of two: the number of Sobol points


def params_of(space: Space, points: object) -> list[Plain]:
    """Checked values by name of one point or of several, each a dict or a list of values.

    Raises:
        InvalidInput: a point has another number of values, or lies outside the space.
        UnknownName: there is no dimension of some name.
    """
    points = by_label([] if points is None else points, space.dimensions)
    given: Any = [points] if isinstance(points, Mapping) else rows(points, "points")
    if given and all(map(is_value, given)):  # one point, or several if there is one dimension
        given = [[value] for value in given] if len(space.dimensions) == 1 else [given]
    checked = []
    for i, point in enumerate(given):
        try:
            checked.append(space.check(by_label(point, space.dimensions)))
        except (InvalidInput, UnknownName) as error:
            which = f"point {i}: " if len(given) > 1 else ""
            raise type(error)(f"{which}{error}") from None
    return checked


def by_label(given: Any, names: Iterable[str]) -> Any:
    """A table as a list of dicts, and a row of one as a dict; anything else as it is.

    So is a table whose columns, or a row whose labels, have none of the names.
    """
    table = hasattr(given, "columns")
    labels = list(given.columns if table else getattr(given, "keys", list)())
    if isinstance(given, Mapping) or not set(names) & set(labels):
        return given
    if not table:
        return dict(given)
    columns = [np.asarray(given[name]).tolist() for name in labels]
    return [dict(zip(labels, row, strict=True)) for row in zip(*columns, strict=True)]


def rows(given: object, name: str) -> tuple[Any, ...]:
    """The items of a list, or of an array-like such as a table's column or a tensor."""
    kept = isinstance(given, (np.generic, np.ma.MaskedArray))
    array = hasattr(given, "__array__") and not kept
    return listed(np.asarray(given) if array else given, name)


def is_value(item: ArrayLike) -> bool:
    """Whether an item is one value, and not a point of several values."""
    return not isinstance(item, Mapping) and (isinstance(item, str) or np.ndim(item) == 0)


def importance(space: Space, mean: Callable[[Array], Array], total: bool) -> dict[str, float]:
    """The Sobol index of each dimension for a function of unit points; see `Campaign`.

    The indices are exact if the space has at most 4096 combinations. Otherwise they are estimated
    from ``2**POWER (d + 2)`` points of a Sobol sequence, with an error of about 0.01.
    """
    estimate = _of_combinations if space.domain.finite else _of_samples
    return dict(zip(space.dimensions, estimate(space, mean, total), strict=True))


def _of_combinations(space: Space, mean: Callable[[Array], Array], total: bool) -> list[float]:
    points = space.domain.span
    f = mean(points)
    f = f / binary_unit(f)
    whole = float(f.var())
    if whole == 0.0:
        return [0.0] * len(space.dimensions)
    found = []
    for part in space.parts:
        own = np.zeros(space.dim, dtype=np.bool_)
        own[part] = True
        kept = points[:, ~own if total else own]
        explained = float(_group_means(f, kept).var()) / whole
        found.append(1.0 - explained if total else explained)
    return found


def _group_means(f: Array, by: Array) -> Array:
    """For each value of f (n,), the mean over those with the same coordinates ``by`` (n, k)."""
    if not by.shape[1]:
        return np.full(len(f), f.mean())
    group: IntArray = np.unique(by, axis=0, return_inverse=True)[1].ravel()
    return (np.bincount(group, f) / np.bincount(group))[group]


def _of_samples(space: Space, mean: Callable[[Array], Array], total: bool) -> list[float]:
    both = sobol(2 * space.dim, POWER, np.random.default_rng(0))
    a, b = space.cube.snap(both[:, : space.dim]), space.cube.snap(both[:, space.dim :])
    f_a, f_b = mean(a), mean(b)
    unit = binary_unit(np.concatenate([f_a, f_b]))
    f_a, f_b = f_a / unit, f_b / unit
    whole = float(np.concatenate([f_a, f_b]).var())
    found = []
    for part in space.parts:
        mixed = a.copy()
        mixed[:, part] = b[:, part]
        f_mixed = mean(mixed) / unit
        if total:
            share = 0.5 * float(np.mean((f_a - f_mixed) ** 2))  # (f), Jansen
        else:
            share = float(np.mean((f_b - f_b.mean()) * (f_mixed - f_a)))  # (b), Saltelli
        found.append(min(max(share / whole, 0.0), 1.0) if whole > 0.0 else 0.0)
    return found

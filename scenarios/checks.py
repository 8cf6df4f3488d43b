"""Checks of what a scenario declares, and of what a results file says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from gpbandits_env.errors import InvalidInput, StoreError, shown
from gpbandits_env.specs import check_kind, kinds_of

# What a results file keeps of its scenario, and is read back: the entries and their kinds.
RESOLVED: dict[str, type[Any]] = {
    "id": str,
    "source": str,
    "title": str,
    "env": str,
    "env_kwargs": dict,
    "points": list,
    "horizon": int,
    "trials": int,
    "seed": int,
    "agents": dict,
    "metric": str,
    "findings": list,
    "choices": list,
    "departures": list,
    "bounds": list,
}
# The entries that hold dicts, and what stands in each of them.
HOLDING: dict[str, dict[str, type[Any]]] = {
    "points": {},
    "agents": {"agent": str, "settings": dict, "note": str},
    "findings": {"type": str},
    "bounds": {"type": str},
}


def check_plain_fields(declared: Any) -> None:
    """Nothing, if the strings, numbers and truth values of a dataclass are such.

    Raises:
        InvalidInput: one is something else.
    """
    kinds = kinds_of(type(declared))  # type: ignore[arg-type]
    for field in fields(declared):
        check_kind(field.name, getattr(declared, field.name), kinds[field.name])


def check_items(values: Any, kind: type[Any], name: str) -> None:
    """Nothing, if it is a list of such things.

    Raises:
        InvalidInput: it is not.
    """
    if not isinstance(values, (tuple, list)):
        raise InvalidInput(f"{name} must be a list, got {shown(values)}")
    for item in values:
        if not isinstance(item, kind):
            raise InvalidInput(f"{name} must be a list of {kind.__name__}, got {shown(item)} in it")


def check_names(table: Any, name: str) -> None:
    """Nothing, if it is a dict whose keys are strings.

    Raises:
        InvalidInput: it is not.
    """
    if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table):
        raise InvalidInput(f"{name} must be a dict with names for keys, got {shown(table)}")


def check_grid(grid: Any) -> None:
    """Nothing, if it is a dict of lists, or a list of dicts, and nothing is in a list twice.

    Raises:
        InvalidInput: it is neither, or something is; or a list of a dict is empty.
    """
    if isinstance(grid, Mapping):
        check_names(grid, "grid")
        for key, values in grid.items():
            check_items(values, object, f"grid.{key}")
            if not values:
                raise InvalidInput(f"grid.{key} has no values; give one or more, or leave it out")
            _check_distinct(values, f"grid.{key}")
        return
    check_items(grid, Mapping, "grid")
    for point in grid:
        check_names(point, "a point of the grid")
    _check_distinct([dict(sorted(point.items())) for point in grid], "grid")


def _check_distinct(values: Sequence[Any], name: str) -> None:
    seen = set()
    for value in values:
        if repr(value) in seen:
            raise InvalidInput(f"{name} has {shown(value)} twice")
        seen.add(repr(value))


def check_resolved(plain: Any, path: Path) -> dict[str, Any]:
    """The scenario of a results file, if it is one.

    Raises:
        StoreError: something in it is missing or of another kind.
    """
    if not isinstance(plain, dict):
        raise _damaged(path, "it does not say what was run")
    _check(plain, RESOLVED, "scenario", path)
    for key, kinds in HOLDING.items():
        held = plain[key]
        for inner in held.values() if isinstance(held, dict) else held:
            if not isinstance(inner, dict):
                raise _damaged(path, f"the scenario's {key} cannot be read")
            _check(inner, kinds, key, path)
    if plain["horizon"] < 1 or plain["trials"] < 1:
        raise _damaged(path, "the scenario has no rounds or no trials")
    return plain


def _check(plain: Mapping[str, Any], kinds: Mapping[str, type[Any]], of: str, path: Path) -> None:
    for key, kind in kinds.items():
        if key not in plain:
            raise _damaged(path, f"{of}: {key!r} is missing")
        if not isinstance(plain[key], kind) or isinstance(plain[key], bool):
            raise _damaged(path, f"{of}: {key!r} is {shown(plain[key])}")


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(f"{path} is damaged ({what}); restore a copy or run again with --fresh")

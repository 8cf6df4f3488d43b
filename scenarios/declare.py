"""Declarations: frozen dataclasses whose fields are listed once.

The types of the fields determine the checks in Python, the keys and checks of a table in a TOML
file, the JSON that a results file keeps, and the errors about all of these.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin

from gpbandits_env.arrays import listed, mapping
from gpbandits_env.errors import GPBanditsError, InvalidInput, shown
from gpbandits_env.specs import arguments, check_kind, described, kinds_of

T = TypeVar("T")


def check(declared: Any) -> None:
    """Raise InvalidInput, with the name of the field, if a field is not of its declared type."""
    kinds = kinds_of(type(declared))  # type: ignore[arg-type]
    for field in fields(declared):
        _check(field.name, getattr(declared, field.name), kinds[field.name])


def read(cls: type[T], table: Any, where: str = "") -> T:
    """Make a declaration from a plain table, whose keys are the names of the fields.

    Args:
        cls: a dataclass that calls `check` when it is made.
        table: the table.
        where: its place in the file for error messages, e.g. "panels[0]".
    Raises:
        InvalidInput: it is not a table, a key is missing, or a value does not fit.
        UnknownName: a key or a name is unknown.
    """
    table = mapping(table, where or "a scenario", "a table")
    start = f"{where}." if where else ""

    def convert(name: str, value: Any, kind: Any) -> Any:
        item = _item_kind(kind)
        if isinstance(value, (list, tuple)) and isinstance(item, type) and is_dataclass(item):
            value = tuple(read(item, v, f"{start}{name}[{_id(v, i)}]") for i, v in enumerate(value))
        elif isinstance(value, list) and item is not None:
            value = tuple(value)
        _check(f"{start}{name}", value, kind)
        return value

    given = arguments(cls, table, start, f"key of {where}" if where else "key", convert)
    try:
        return cls(**given)
    except GPBanditsError as error:
        joint = "." if str(error).split()[0] in kinds_of(cls) else ": "  # type: ignore[arg-type]
        raise InvalidInput(f"{where}{joint}{error}" if where else str(error)) from None


def as_json(value: Any, **options: Any) -> str:
    """A value of a declaration as JSON: kernels, drifts, ... as their dicts, arrays as lists."""
    return json.dumps(value, default=_as_plain, **options)


def plain(value: Any) -> Any:
    """A value of a declaration as plain JSON data; see `as_json`."""
    return json.loads(as_json(value))


def finite(value: Any) -> Any:
    """The same, with None for numbers that are not finite."""
    return json.loads(as_json(value), parse_constant=lambda _: None)


def with_digits(value: Any, digits: int) -> Any:
    """The same, with at most so many significant digits of each fraction."""
    text = as_json(value)
    return json.loads(text, parse_float=lambda number: float(f"{float(number):.{digits}g}"))


def _as_plain(value: Any) -> Any:
    found = described(value)
    if found is not value:
        return found
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    cure = ": give a class of your own by its name, 'module:Class'" if callable(value) else ""
    raise InvalidInput(f"{shown(value)} cannot be written as JSON{cure}")


def first_difference(name: str, old: Any, new: Any) -> tuple[str, str, str]:
    """The name of the first value that differs, such as "env_kwargs.epsilon", and both values."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *new]:
            if old.get(key) != new.get(key) or (key in old) != (key in new):
                return first_difference(f"{name}.{key}", old.get(key, ...), new.get(key, ...))
    texts = ["not stated" if v is ... else json.dumps(v) for v in (old, new)]
    a, b = (text if len(text) <= 120 else text[:117] + "..." for text in texts)
    return name, a, b


def put(target: Any, path: str, value: Any) -> Any:
    """Plain data with another value at a dotted path, e.g. "drift.drifts.0.epsilon".

    A part of it is a key of a table, which is made if it is missing, or the number of an item of a
    list, from 0. What changes is copied.
    """
    return _put(target, path.split("."), value, path)


def _put(target: Any, parts: list[str], value: Any, path: str) -> Any:
    if not parts:
        return value
    key, *rest = parts
    if isinstance(target, (list, tuple)):
        if not key.isdecimal() or int(key) >= len(target):
            raise InvalidInput(
                f"{path}: the list has the items 0 to {len(target) - 1}, but no {key!r}"
            )
        items = list(target)
        items[int(key)] = _put(items[int(key)], rest, value, path)
        return items
    table = dict(target) if isinstance(target, Mapping) else {}
    return {**table, key: _put(table.get(key), rest, value, path)}


def check_names(table: Any, name: str) -> None:
    """Raise InvalidInput unless ``table`` is a dict whose keys are strings."""
    words = "a table whose keys are names"
    if not all(isinstance(key, str) for key in mapping(table, name, words)):
        raise InvalidInput(f"{name} must be {words}, got {shown(table)}")


def check_distinct(values: Collection[Any], name: str) -> None:
    """Raise InvalidInput if a list contains a value twice."""
    seen = set()
    for value in values:
        if repr(value) in seen:
            raise InvalidInput(f"{name} has {shown(value)} twice")
        seen.add(repr(value))


def _id(table: Any, index: int) -> Any:
    return table.get("id", index) if isinstance(table, Mapping) else index


def _item_kind(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def _check(name: str, value: Any, kind: Any) -> None:
    origin = get_origin(kind)
    if origin is tuple:
        item = _item_kind(kind)
        wanted = object if item is Any else get_origin(item) or item
        for each in listed(value, name):
            if not isinstance(each, wanted):
                said = f"{name} must be a list of {wanted.__name__}"
                raise InvalidInput(f"{said}, got {shown(each)} in it")
    elif origin is Mapping:
        check_names(value, name)
    else:
        check_kind(name, value, kind)

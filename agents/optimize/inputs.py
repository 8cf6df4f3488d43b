"""What a user gives: values with their noise and constraints, points and tables."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import LARGEST, listed, numbers
from gpbandits_env.errors import InvalidInput, UnknownName, shown

# What a function must return.
WITH_NOISE = (
    "with noise='returned' or noise={'replicates': n} the function must return a pair of its value "
    "and the standard deviation of its noise"
)
WITH_CONSTRAINTS = (
    "with constraints the function must return a pair of its value and the values of the "
    "constraints (a dict by name, or a list)"
)


@contextmanager
def located(where: str) -> Iterator[None]:
    """Let the messages of errors begin with the place of what is read."""
    try:
        yield
    except (InvalidInput, UnknownName) as error:
        raise type(error)(f"{where}: {error}" if where else str(error)) from None


def number(value: ArrayLike, name: str, *, finite: bool = True) -> float:
    """One number; raises `InvalidInput` for strings, booleans, arrays and infinities."""
    says = f"{name} must be a number, got {shown(value)}"
    try:
        found = numbers(value, name)
    except InvalidInput:
        raise InvalidInput(says) from None
    kind = np.asarray(value).dtype.kind
    if found.ndim or kind == "b" or (kind == "O" and not isinstance(value, int)):
        raise InvalidInput(says)
    if finite and not abs(found) <= LARGEST:
        raise InvalidInput(
            f"{name} must be finite and at most {LARGEST:g} in size, got {shown(value)}"
        )
    return float(found)


def moment(value: Any, name: str) -> float:
    """A time as a number; the error for a date or a duration says how it becomes one."""
    if isinstance(value, (date, timedelta, np.datetime64, np.timedelta64)):
        raise InvalidInput(
            f"{name} must be a number, got {shown(value)}: give the time since the first date, as "
            "(date - first) / timedelta(hours=1) of Python's datetime"
        )
    return number(value, name)


def single(value: Any, name: str = "value") -> float:
    """The number that a value is, or that an array holds; raises `InvalidInput` for others."""
    if hasattr(value, "__array__") and (array := np.asarray(value)).size == 1:
        value = np.nan if np.ma.is_masked(value) else array.ravel()[0]
    if isinstance(value, (bool, np.bool_)):
        value = float(value)
    return number(value, name, finite=False)


def measured(value: ArrayLike, *, worst: float) -> float:
    """A finite value, or NaN for a failed evaluation, given as NaN or as the infinity ``worst``.

    An array of one number counts as that number, a boolean as 0 or 1, and a masked value as NaN.

    Raises:
        InvalidInput: the value is no number, the other infinity, or above 1e150 in size.
    """
    says = "a value must be one number (NaN means that the evaluation failed)"
    try:
        found = single(value)
    except InvalidInput:
        pair = isinstance(value, tuple)
        cure = "; noise='returned' allows (value, sd), constraints (value, dict)" if pair else ""
        raise InvalidInput(f"{says}, got {shown(value)}{cure}") from None
    if np.isnan(found) or found == worst:
        return float("nan")
    if not abs(found) <= LARGEST:
        raise InvalidInput(f"{says}, finite and at most {LARGEST:g} in size, got {shown(value)}")
    return found


def pair_of(returned: object, rule: str) -> tuple[Any, Any]:
    """The value that a function returned, and what it returned beside it.

    NaN or an infinity alone means that the evaluation failed, with None beside it.

    Raises:
        InvalidInput: it is no such pair; the message begins with the rule.
    """
    if isinstance(returned, (tuple, list)) and len(returned) == 2:
        return returned[0], returned[1]
    with suppress(InvalidInput):
        if not np.isfinite(single(returned)):
            return returned, None
    raise InvalidInput(f"{rule}, got {shown(returned)}")


def constraints_by_name(names: Collection[str], given: Any) -> Mapping[str, Any]:
    """Values of constraints by name: a dict, or a list in the order of the names."""
    if isinstance(given, Mapping):
        return given
    values = listed(np.atleast_1d(given) if is_value(given) else given, "constraints")
    if len(values) != len(names):
        raise InvalidInput(f"constraints must have {len(names)} values, got {shown(given)}")
    return dict(zip(names, values, strict=True))


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
    several = isinstance(item, (Mapping, list, tuple))
    return not several and (isinstance(item, str) or np.ndim(item) == 0)


def one_each(given: object, name: str, n: int) -> list[Any]:
    """A list of one entry per evaluation, of None if nothing is given."""
    found = [None] * n if given is None else list(rows(given, name))
    if len(found) != n:
        raise InvalidInput(f"{name} must have one entry per evaluation, got {len(found)} for {n}")
    return found

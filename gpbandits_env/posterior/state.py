"""Checks of a snapshot before anything is restored from it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gpbandits_env.errors import InvalidInput, shown


def check_keys(state: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Nothing, if the snapshot has just these entries.

    Raises:
        InvalidInput: it has not, or is no mapping.
    """
    if not isinstance(state, Mapping) or set(state) != set(keys):
        got = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise InvalidInput(f"a snapshot of this posterior has entries {sorted(keys)}, got {got}")


def entries(state: Mapping[str, Any], key: str) -> int:
    """The length of an entry that must be a list of numbers (k,).

    Raises:
        InvalidInput: it is no array (k,).
    """
    value = state[key]
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise InvalidInput(f"snapshot entry {key!r} must be an array (k,), got {shown(value)}")
    return len(value)


def check_shape(state: Mapping[str, Any], key: str, *shapes: tuple[int, ...]) -> None:
    """Nothing, if the entry is an array of finite numbers of one of these shapes.

    Raises:
        InvalidInput: it is not.
    """
    value = state[key]
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape not in shapes:
        want = " or ".join(map(str, shapes))
        got = value.shape if isinstance(value, np.ndarray) else type(value).__name__
        raise InvalidInput(f"snapshot entry {key!r} must be an array of shape {want}, got {got}")
    if not np.isfinite(value).all():
        raise InvalidInput(f"snapshot entry {key!r} must be finite")

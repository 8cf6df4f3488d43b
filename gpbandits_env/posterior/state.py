"""Snapshots: what an object's state consists of is declared once; copying and checking follow."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np

from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput

# How an entry is checked: a function of value and name; one or several shapes of an array, in which
# a letter is the same size everywhere; or a letter, for a whole number up to that size.
Layout: TypeAlias = Callable[[Any, str], Any] | tuple[int | str, ...] | list[tuple[Any, ...]] | str


# A whole number, or a number, at least 0.
count, amount = partial(whole, minimum=0), partial(positive, zero=True)


def gain(value: Any, name: str) -> float:
    """An amount that may be infinite, as information is without noise."""
    return math.inf if value == math.inf else amount(value, name)


class Stateful:
    """An object whose state is some of its attributes; arrays are restored in place."""

    STATE: ClassVar[Mapping[str, Layout]] = {}

    def snapshot(self) -> dict[str, Any]:
        """The state as a plain dict of arrays, numbers and strings, all copied."""
        values = {key: vars(self)[self._attribute(key)] for key in self.STATE}
        return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()}

    def put(self, state: Mapping[str, Any]) -> None:
        """Take over the entries of a checked snapshot."""
        for key in self.STATE:
            name = self._attribute(key)
            now = vars(self)[name]
            if isinstance(now, np.ndarray):
                now[:] = state[key]
            else:
                setattr(self, name, type(now)(state[key]))

    def _attribute(self, key: str) -> str:
        return f"_{key}" if f"_{key}" in vars(self) else key


def check_state(state: Any, entries: Mapping[str, Layout], **sizes: int) -> None:
    """Check that a snapshot has just these entries, each as declared; some sizes are known.

    Raises:
        InvalidInput: it has not, or is no mapping.
    """
    if not isinstance(state, Mapping) or set(state) != set(entries):
        got = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise InvalidInput(f"a snapshot of this posterior has entries {sorted(entries)}, got {got}")
    for key, entry in entries.items():
        name, value = f"snapshot entry {key!r}", state[key]
        if isinstance(entry, str):
            whole(value, name, 0, sizes[entry])
        elif callable(entry):
            entry(value, name)
        else:
            _check_array(value, name, entry if isinstance(entry, list) else [entry], sizes)


def _check_array(
    value: Any, name: str, shapes: list[tuple[Any, ...]], sizes: dict[str, int]
) -> None:
    """Check for finite numbers in one of the shapes, and set unknown sizes."""
    is_array = isinstance(value, np.ndarray)
    for shape in shapes:
        if is_array and value.dtype == np.float64 and value.ndim == len(shape):
            wanted = tuple(
                sizes.setdefault(part, size) if isinstance(part, str) else part
                for part, size in zip(shape, value.shape, strict=True)
            )
            if value.shape == wanted:
                if np.isfinite(value).all():
                    return
                raise InvalidInput(f"{name} must be finite")
    known = [tuple(sizes.get(part, part) for part in shape) for shape in shapes]
    got = value.shape if is_array else type(value).__name__
    raise InvalidInput(f"{name} must be an array of shape {known}, got {got}")

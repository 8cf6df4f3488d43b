"""Checks of the arguments of the formulas: rounds, probabilities, curves.

Every function of this package raises `InvalidInput` for a number out of range.
"""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, finite_array, positive
from gpbandits_env.errors import InvalidInput

# Division by a smaller probability may overflow a float.
SMALLEST = 1e-150


def rounds(t: ArrayLike) -> Array:
    """Rounds or horizons: numbers that are at least 1."""
    checked = finite_array(t, "rounds, which count from 1,")
    if (checked < 1.0).any():
        raise InvalidInput(f"rounds count from 1, got {checked.min():g}")
    return checked


def probability(delta: float, name: str = "delta") -> float:
    """A number strictly between 0 and 1."""
    if not SMALLEST <= positive(delta, name) < 1.0:
        raise InvalidInput(f"{name} must lie strictly between 0 and 1, got {delta!r}")
    return delta


def nonnegative(values: ArrayLike, name: str, ndim: int | None = None) -> Array:
    """A number, or an array of numbers, at least 0."""
    checked = finite_array(values, name, ndim)
    if (checked < 0).any():
        raise InvalidInput(f"{name} must be at least 0, got {checked.min():g}")
    return checked


def log_tail(ratio: ArrayLike, a: float) -> Array:
    """The logarithm of a multiple of a, which must be positive."""
    least = float(np.min(ratio, initial=np.inf))
    if not least > 1.0:
        raise InvalidInput(f"a must be above {a / least:g} for this delta, got {a!r}")
    return np.asarray(np.log(ratio))


def curve(values: ArrayLike, name: str = "gain") -> tuple[Array, Array]:
    """The times 1, 2, ..., T of a curve (T,), and its numbers, which are at least 0."""
    checked = nonnegative(values, name, ndim=1)
    return np.arange(1.0, len(checked) + 1.0), checked

"""Array types, and the checks made once at the public edge."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.errors import InvalidInput

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


def finite_array(value: ArrayLike, name: str, ndim: int | None = None) -> Array:
    """A float64 array of finite numbers, or a clear error.

    Args:
        value: what the user gave.
        name: its name, for the error.
        ndim: the number of dimensions it must have, if fixed.
    Raises:
        InvalidInput: not numeric, not finite, or of another dimension.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiubO":  # complex numbers, dates and words would be cast
            raise TypeError(f"got {array.dtype}")
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} must be an array of numbers: {error}") from None
    if ndim is not None and array.ndim != ndim:
        raise InvalidInput(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InvalidInput(f"{name} must be finite, got NaN or infinity in it")
    return array


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, marked read-only."""
    array.flags.writeable = False
    return array


def positive(value: float, name: str, *, zero: bool = False) -> float:
    """A finite number above zero (or not below it), or a clear error.

    Raises:
        InvalidInput: not a number, not finite, or too small.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number, got {value!r}") from None
    if not np.isfinite(number) or number < 0 or (number == 0 and not zero):
        bound = "at least 0" if zero else "above 0"
        raise InvalidInput(f"{name} must be finite and {bound}, got {value!r}")
    return number


def whole(value: int, name: str, minimum: int = 1) -> int:
    """A whole number not below ``minimum``, or a clear error.

    Raises:
        InvalidInput: not a whole number, or too small.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InvalidInput(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise InvalidInput(f"{name} must be at least {minimum}, got {value}")
    return int(value)

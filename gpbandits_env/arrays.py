"""Array types, and the checks made once at the public edge."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.errors import InvalidInput, shown

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
# Points of a domain, or actions: arms (n,) as integers, or points (n, d) of a box.
Points: TypeAlias = NDArray[Any]
# The state of an object: plain data with arrays.
State: TypeAlias = dict[str, Any]
# Settings by name, as in TOML and JSON.
Settings: TypeAlias = Mapping[str, Any]
# The same as a new dict: JSON data, keyword arguments, the options of `reset`.
Plain: TypeAlias = dict[str, Any]
# What `reset` and `step` return beside the observation.
Info: TypeAlias = dict[str, Any]

# The type of an array's items, for functions that keep it.
Scalar = TypeVar("Scalar", bound=np.generic)

INT, FLOAT = np.dtype(np.int64), np.dtype(np.float64)
# One action per round is the common case, so its checks must cost next to nothing.
ONE, SINGLE = (1,), (None, 1)
# Squares of larger numbers, and sums of such squares, may overflow a float.
LARGEST = 1e150
# Far more than any count that fits in memory.
MOST = 10**15
# Values that differ by less than this part of their size are tied. Processors round differently:
# means and variances agree to about 1e-12, and the terms that cancel in a score magnify that.
TIE = 1e-9
# If at most this part of many values is asked for in order, the others are not sorted.
FEW = 4
# A tolerance of 0 cannot divide.
SMALLEST = float(np.finfo(float).tiny)


def finite_array(value: ArrayLike, name: str, ndim: int | None = None) -> Array:
    """A float64 array of finite numbers, at most 1e150 in size, with ``ndim`` dimensions if given.

    Raises:
        InvalidInput: the value is not numeric, not finite, too large, or has another dimension.
    """
    if (
        type(value) is np.ndarray
        and value.dtype is FLOAT
        and value.shape == ONE
        and ndim in SINGLE
        and -LARGEST <= value.item() <= LARGEST
    ):
        return value
    array = numbers(value, name)
    if ndim is not None and array.ndim != ndim:
        raise InvalidInput(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if not np.abs(array).max(initial=0.0) <= LARGEST:
        if np.isfinite(array).all():
            raise InvalidInput(f"{name} must be numbers of magnitude at most {LARGEST:g}")
        raise InvalidInput(f"{name} must be finite, got NaN or infinity")
    return array


def as_array(value: ArrayLike, name: str) -> NDArray[Any]:
    """The value as an array of any type; InvalidInput if its rows differ in length."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InvalidInput(f"{name} must be an array: {error}") from None


def kind_of(array: NDArray[Any]) -> str:
    """What an array holds, for messages: "strings" in place of NumPy's names such as <U1."""
    return "strings" if array.dtype.kind in "US" else str(array.dtype)


def numbers(value: ArrayLike, name: str) -> Array:
    """A float64 array, NaN and infinity included; InvalidInput if it is not numeric.

    Masked items are NaN: what lies below a mask is no datum.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiubO":  # complex numbers, dates and strings would be cast
            raise TypeError(f"got {kind_of(array)}")
        if array.dtype.kind == "O" and any(isinstance(item, (str, bytes)) for item in array.flat):
            raise TypeError("got strings")
        if value is None:  # inside of a table it is NaN
            raise TypeError("got None")
        found = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} must be an array of numbers: {error}") from None
    if isinstance(value, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(value), np.nan, found)
    return found


def one_each(value: ArrayLike, points: Points, name: str) -> Array:
    """What a user's code has returned: finite values (m,) of m points, or else InvalidInput."""
    values = numbers(value, f"values of {name}")
    # A sum is finite only if every term is: one pass, and no boolean array.
    if values.shape != (len(points),) or not math.isfinite(np.add.reduce(values)):
        raise InvalidInput(
            f"{name} must return finite values of shape ({len(points)},), one per point, but it "
            f"returned {shown(value)} for {shown(points)}"
        )
    return values


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, marked read-only."""
    array.flags.writeable = False
    return array


def leading(values: Array, size: float | Array | None = None) -> IntArray:
    """The first index along the last axis whose value is tied with the largest.

    Args:
        values: (..., n) without NaN.
        size: the size of the terms that the values are made of, a number or (...); by default the
            largest finite magnitude of a value.
    """
    top = values.max(axis=-1)
    tolerance = np.maximum(TIE * (_size(values) if size is None else size), SMALLEST)
    least = np.asarray(top - tolerance)
    return np.asarray((values >= least[..., None]).argmax(axis=-1))


def descending(
    values: Array, size: float | Array | None = None, most: int | None = None
) -> IntArray:
    """The indices along the last axis from the largest value down, those of ties in their order.

    Values are tied if the same number of whole tolerances lies between them and the largest.

    Args:
        values: (..., n) without NaN.
        size: see `leading`.
        most: if given, only so many of the first ones; a few of many take less time.
    """
    tolerance = np.asarray(TIE * (_size(values) if size is None else size))[..., None]
    top = values.max(axis=-1, keepdims=True, initial=-np.inf)
    below = np.subtract(top, values, out=np.zeros_like(values), where=values < top)
    with np.errstate(over="ignore"):
        steps = np.floor(below / np.maximum(tolerance, SMALLEST))
    if not most or FEW * most > values.shape[-1]:
        return np.argsort(steps, axis=-1, kind="stable")[..., :most]
    last = np.partition(steps, most - 1, axis=-1)[..., most - 1 : most]
    rows = zip(steps.reshape(-1, values.shape[-1]), last.ravel(), strict=True)
    top = [
        (kept := np.flatnonzero(row <= end))[np.argsort(row[kept], kind="stable")[:most]]
        for row, end in rows
    ]
    return np.array(top).reshape(*values.shape[:-1], most)


def _size(values: Array) -> Array:
    """The largest finite magnitude along the last axis, (...)."""
    return np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=-1, initial=0.0)


def is_number(value: object) -> bool:
    """Whether a value is one real number, of Python or of NumPy; a bool is none."""
    return isinstance(value, (float, int, np.floating, np.integer)) and not isinstance(value, bool)


def positive(value: float, name: str, *, zero: bool = False) -> float:
    """A number above 0 (at least 0 if ``zero``) and at most 1e150; otherwise InvalidInput."""
    if type(value) is float and 0.0 < value <= LARGEST:  # the fast path: called in every round
        return value
    if not is_number(value):
        raise InvalidInput(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:  # an integer with hundreds of digits
        number = np.inf
    if not 0 <= number <= LARGEST or (number == 0 and not zero):
        bound = "at least 0" if zero else "above 0"
        raise InvalidInput(
            f"{name} must be finite, {bound} and at most {LARGEST:g}, got {shown(value)}"
        )
    return number


def share(value: float, name: str) -> float:
    """A number in [0, 1]; otherwise InvalidInput."""
    if type(value) is float and 0.0 <= value <= 1.0:  # the fast path: called in every round
        return value
    if not is_number(value):
        raise InvalidInput(f"{name} must be a number in [0, 1], got {shown(value)}")
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{name} must lie in [0, 1], got {shown(value)}")
    return float(value)


def flag(value: bool, name: str) -> bool:
    """True or False; InvalidInput for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInput(f"{name} must be true or false, got {shown(value)}")
    return bool(value)


def listed(value: object, name: str) -> tuple[Any, ...]:
    """The items of a list, a tuple, a range or an array; anything else is InvalidInput."""
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, (Sequence, np.ndarray)):
        raise InvalidInput(f"{name} must be a list, got {shown(value)}")
    return tuple(np.atleast_1d(value) if isinstance(value, np.ndarray) else value)


def all_of(kind: type, value: object, name: str, kinds: str) -> tuple[Any, ...]:
    """The items of a list, one or more of this class; ``kinds`` says so in an InvalidInput."""
    items = listed(value, name)
    if not items or not all(isinstance(item, kind) for item in items):
        raise InvalidInput(f"{name} must be a list of one or more {kinds}, got {shown(value)}")
    return items


def mapping(value: object, name: str, kind: str = "a dict") -> Settings:
    """The same dict; anything else is InvalidInput: the name must be ``kind``."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be {kind}, got {shown(value)}")
    return value


def whole(value: int, name: str, minimum: int = 1, maximum: int | None = MOST) -> int:
    """A whole number from ``minimum`` to ``maximum`` (None: no limit); otherwise InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InvalidInput(f"{name} must be a whole number, got {shown(value)}")
    if value < minimum:
        raise InvalidInput(f"{name} must be at least {minimum}, got {shown(value)}")
    if maximum is not None and value > maximum:
        raise InvalidInput(f"{name} must be at most {maximum}, got {shown(value)}")
    return int(value)


def wholes(value: int | Sequence[int], name: str, minimum: int = 1) -> list[int]:
    """Whole numbers from ``minimum`` on, given as one or as a list; otherwise InvalidInput."""
    items = listed([value] if is_number(value) else value, name)
    return [whole(item, name, minimum) for item in items]


def own_noise(noise_var: ArrayLike, count: int) -> Array:
    """Checked variances of the noise of each reward, (count,), or NaN.

    Raises:
        InvalidInput: the shape is wrong, or a variance is negative or infinite.
    """
    found = numbers(noise_var, "noise_var")
    if found.shape != (count,) or np.isinf(found).any() or (found < 0.0).any():
        raise InvalidInput(
            f"noise_var must have shape ({count},), with numbers of at least 0 or NaN, got {found}"
        )
    return found

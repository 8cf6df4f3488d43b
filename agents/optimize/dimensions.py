"""Dimensions as a user has them: real, whole, logarithmic, or a choice; each in [0, 1]^width."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, finite_array, flag, listed, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.specs import Family


class Dimension(ABC):
    """One thing that can be set.

    Attributes:
        width: how many coordinates of the unit cube it takes.
        size: how many values it has; None if it is continuous.
    """

    width: int = 1

    @property
    @abstractmethod
    def size(self) -> int | None: ...

    @abstractmethod
    def encode(self, value: Any) -> list[float]:
        """The coordinates (width,) of a value.

        Raises:
            InvalidInput: it is none of this dimension.
        """

    @abstractmethod
    def decode(self, unit: Array) -> Any:
        """The value nearest to coordinates (width,) of the unit cube."""

    @abstractmethod
    def kept(self, value: Any) -> Any:
        """A value that `encode` takes as it is kept: exactly, in plain Python's own types."""

    def every(self) -> list[Any]:
        """All values of a dimension that is not continuous."""
        raise InvalidInput(f"{self!r} has a continuum of values")


DIMENSIONS: Family[Dimension] = Family("dimension")


def number(value: Any, name: str) -> float:
    """One finite number, or a clear error.

    Raises:
        InvalidInput: a word, a truth value, several numbers, or not finite.
    """
    one = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(one, bool) or not isinstance(one, (int, float, np.integer, np.floating)):
        raise InvalidInput(f"{name} must be a number, got {shown(value)}")
    return float(finite_array(one, name, 0))


def _ends(low: float, high: float, log: bool) -> None:
    number(low, "low")
    number(high, "high")
    if not low < high or (flag(log, "log") and low <= 0):
        above = " and above 0 where it is logarithmic" if log else ""
        raise InvalidInput(f"low must be below high{above}, got {shown(low)} and {shown(high)}")


@DIMENSIONS.register("real")
@dataclass(frozen=True)
class Real(Dimension):
    """A number between two ends.

    Args:
        low: the lower end.
        high: the upper end, above it.
        log: whether equal ratios matter, not equal differences.
    Raises:
        InvalidInput: ends out of order, not finite, or not above 0 on a logarithmic scale.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        _ends(self.low, self.high, self.log)

    @property
    def size(self) -> None:
        return None

    def encode(self, value: Any) -> list[float]:
        given = number(value, "a value")
        if not self.low <= given <= self.high:
            raise InvalidInput(f"{shown(value)} is not between {self.low} and {self.high}")
        return [_part(given, self.low, self.high, self.log)]

    def decode(self, unit: Array) -> float:
        low, high = float(self.low), float(self.high)
        return min(max(_whole_of(float(unit[0]), low, high, self.log), low), high)

    def kept(self, value: Any) -> float:
        return float(value)


@DIMENSIONS.register("integer")
@dataclass(frozen=True)
class Integer(Dimension):
    """A whole number between two ends, both included.

    Args:
        low: the smallest.
        high: the largest, above it.
        log: whether equal ratios matter, not equal differences.
    Raises:
        InvalidInput: as `Real`, or ends that are not whole.
    """

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            whole(end, "the end of an integer dimension", -(10**15))
        _ends(self.low, self.high, self.log)

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def encode(self, value: Any) -> list[float]:
        given = whole(value, "a value of an integer dimension", self.low, self.high)
        return [_part(given, self.low, self.high, self.log)]

    def decode(self, unit: Array) -> int:
        found = round(_whole_of(float(unit[0]), self.low, self.high, self.log))
        return min(max(found, self.low), self.high)

    def kept(self, value: Any) -> int:
        return int(value)

    def every(self) -> list[Any]:
        return list(range(self.low, self.high + 1))


@DIMENSIONS.register("choice")
@dataclass(frozen=True)
class Choice(Dimension):
    """One of some options without an order; each has a coordinate of its own (of two: one).

    Args:
        options: at least two different ones; for saving, such as JSON can hold.
    Raises:
        InvalidInput: fewer, or one of them twice.
    """

    options: tuple[Any, ...]

    def __post_init__(self) -> None:
        options = listed(self.options, "options")
        if len(options) < 2 or any(_index(options, o) != i for i, o in enumerate(options)):
            raise InvalidInput(
                f"a choice needs two different or more options, got {shown(options)}"
            )
        object.__setattr__(self, "options", options)

    @property
    def width(self) -> int:  # type: ignore[override]
        return 1 if len(self.options) == 2 else len(self.options)

    @property
    def size(self) -> int:
        return len(self.options)

    def encode(self, value: Any) -> list[float]:
        if (index := _index(self.options, value)) is None:
            raise InvalidInput(f"{shown(value)} is none of the options {shown(self.options)}")
        if self.width == 1:
            return [float(index)]
        return [float(i == index) for i in range(len(self.options))]

    def decode(self, unit: Array) -> Any:
        index = int(unit[0] >= 0.5) if self.width == 1 else int(np.argmax(unit))
        return self.options[index]

    def kept(self, value: Any) -> Any:
        return value

    def every(self) -> list[Any]:
        return list(self.options)


def _index(options: tuple[Any, ...], value: Any) -> int | None:
    """Where a value stands; 1, 1.0 and True are three different options."""
    same = (i for i, o in enumerate(options) if type(o) is type(value) and o == value)
    return next(same, None)


def _part(number: float, low: float, high: float, log: bool) -> float:
    if log:
        number, low, high = math.log(number), math.log(low), math.log(high)
    return min(max((number - low) / (high - low), 0.0), 1.0)


def _whole_of(part: float, low: float, high: float, log: bool) -> float:
    if log:
        return math.exp(math.log(low) + part * (math.log(high) - math.log(low)))
    return low + part * (high - low)

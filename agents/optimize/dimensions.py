"""Dimensions of a user's space: real, whole, logarithmic, or a choice; each in [0, 1]^width."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpbandits_env.arrays import MOST, Array, finite_array, flag, listed, numbers, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.specs import Family


class Dimension(ABC):
    """One setting of what is optimized."""

    @property
    def width(self) -> int:
        """How many coordinates of the unit cube it takes."""
        return 1

    @property
    def size(self) -> int | None:
        """How many values it has; None if it is continuous."""
        return None

    @abstractmethod
    def check(self, value: Any) -> Any:
        """The value, exactly, as a plain Python type; `InvalidInput` if it is out of range."""

    @abstractmethod
    def encode(self, value: Any) -> list[float]:
        """The coordinates (width,) of a checked value."""

    @abstractmethod
    def decode(self, unit: Array) -> Any:
        """The value nearest to coordinates (width,) of the unit cube."""

    def values(self) -> list[Any]:
        """All values of a dimension that is not continuous."""
        raise InvalidInput(f"{self!r} has a continuum of values")


DIMENSIONS: Family[Dimension] = Family("dimension")


def number(value: Any, name: str, *, finite: bool = True) -> float:
    """One number; `InvalidInput` for words, truth values, several numbers and infinities."""
    says = f"{name} must be a number, got {shown(value)}"
    try:
        found = numbers(value, name)
    except InvalidInput:
        raise InvalidInput(says) from None
    kind = np.asarray(value).dtype.kind
    if found.ndim or kind == "b" or (kind == "O" and not isinstance(value, int)):
        raise InvalidInput(says)
    return float(finite_array(found, name) if finite else found)


@dataclass(frozen=True)
class _Interval(Dimension):
    """The numbers between two ends."""

    low: float
    high: float
    log: bool = False

    def _set_ends(self, low: float, high: float) -> None:
        if not low < high or (flag(self.log, "log") and low <= 0):
            above = " and above 0 where it is logarithmic" if self.log else ""
            only = "; leave out what has one value only" if low == high else ""
            raise InvalidInput(f"low must be below high{above}, got {low} and {high}{only}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def encode(self, value: Any) -> list[float]:
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return [min(max((value - low) / (high - low), 0.0), 1.0)]

    def _between(self, part: float) -> float:
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return math.exp(low + part * (high - low))
        return self.low + part * (self.high - self.low)


@DIMENSIONS.register("real")
@dataclass(frozen=True)
class Real(_Interval):
    """A number between two ends.

    Args:
        low: the lower end.
        high: the upper end, above it.
        log: whether equal ratios matter, not equal differences.
    Raises:
        InvalidInput: ends out of order, not finite, or not above 0 on a logarithmic scale.
    """

    def __post_init__(self) -> None:
        self._set_ends(number(self.low, "low"), number(self.high, "high"))

    def check(self, value: Any) -> float:
        given = number(value, "a value")
        if not self.low <= given <= self.high:
            raise InvalidInput(f"{shown(value)} is not between {self.low} and {self.high}")
        return given

    def decode(self, unit: Array) -> float:
        return min(max(self._between(float(unit[0])), self.low), self.high)


@DIMENSIONS.register("integer")
@dataclass(frozen=True)
class Integer(_Interval):
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

    def __post_init__(self) -> None:
        ends = (self.low, self.high)
        self._set_ends(*(whole(end, "the end of an integer dimension", -MOST) for end in ends))

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def check(self, value: Any) -> int:
        return whole(value, "a value of an integer dimension", self.low, self.high)

    def decode(self, unit: Array) -> int:
        return min(max(round(self._between(float(unit[0]))), self.low), self.high)

    def values(self) -> list[Any]:
        return list(range(self.low, self.high + 1))


@DIMENSIONS.register("choice")
@dataclass(frozen=True)
class Choice(Dimension):
    """One of some options without an order; each has a coordinate of its own (of two: one).

    Args:
        options: at least two different ones; to be saved, such as JSON can hold.
    Raises:
        InvalidInput: fewer, or one of them twice.
    """

    options: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", listed(self.options, "options"))
        if self.size < 2 or any(self._index(o) != i for i, o in enumerate(self.options)):
            raise InvalidInput(
                f"a choice needs two different or more options, got {shown(self.options)}"
            )

    @property
    def width(self) -> int:
        return 1 if self.size == 2 else self.size

    @property
    def size(self) -> int:
        return len(self.options)

    def check(self, value: Any) -> Any:
        if self._index(value) is None:
            raise InvalidInput(f"{shown(value)} is none of the options {shown(self.options)}")
        return value

    def encode(self, value: Any) -> list[float]:
        index = self._index(value)
        return [float(index == i) for i in range(self.size)][-self.width :]  # of two: the last

    def decode(self, unit: Array) -> Any:
        return self.options[int(unit[0] >= 0.5) if self.width == 1 else int(np.argmax(unit))]

    def values(self) -> list[Any]:
        return list(self.options)

    def _index(self, value: Any) -> int | None:
        """The index of an option; 1, 1.0 and True are three different ones."""
        same = (i for i, o in enumerate(self.options) if type(o) is type(value) and o == value)
        return next(same, None)

"""Dimensions of a space: real, integer or a choice, each mapped to [0, 1]^width."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from gpbandits_env.agents.optimize.inputs import number
from gpbandits_env.arrays import MOST, Array, flag, listed, whole
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.specs import Family

# The values of all or some dimensions by name.
Params: TypeAlias = Mapping[str, Any]

# Of more integers than this, a search tries those at distances 1, 2, 4, 8, ...
MOST_VALUES = 32


class Dimension(ABC):
    """One parameter of the function to be optimized."""

    # Whether its values have an order.
    ordered: ClassVar[bool] = True

    @property
    def width(self) -> int:
        """The number of coordinates in the unit cube."""
        return 1

    @property
    def size(self) -> int | None:
        """The number of values; None if the dimension is continuous."""
        return None

    @abstractmethod
    def check(self, value: Any) -> Any:
        """The exact value as a plain Python type; raises `InvalidInput` if it is out of range."""

    @abstractmethod
    def encode(self, value: Any) -> list[float]:
        """The coordinates (width,) of a checked value."""

    @abstractmethod
    def decode(self, unit: Array) -> Any:
        """The value nearest to coordinates (width,) of the unit cube."""

    def key(self, value: Any) -> Any:
        """A hashable key of a checked value; only equal values have equal keys."""
        return value

    def values(self) -> list[Any]:
        """All values; the dimension must not be continuous."""
        raise InvalidInput(f"{self!r} is continuous: its values cannot be listed")

    def others(self, value: Any) -> list[Any]:
        """The values that a search tries instead of one; all others if there are few."""
        own = self.key(value)
        return [other for other in self.values() if self.key(other) != own]


DIMENSIONS: Family[Dimension] = Family("dimension")


@dataclass(frozen=True)
class NumberRange(Dimension):
    """An interval of numbers."""

    low: float
    high: float
    log: bool = False
    prior: InitVar[str | None] = field(default=None, kw_only=True)

    def _set_ends(self, low: float, high: float, prior: str | None) -> None:
        if prior is not None:
            log = one_of(prior, ("uniform", "log-uniform"), "prior") == "log-uniform"
            if self.log is True and not log:
                raise InvalidInput("log=True and prior='uniform' exclude each other: leave out one")
            object.__setattr__(self, "log", log)
        if not low < high or (flag(self.log, "log") and low <= 0):
            above = " and above 0 on a logarithmic scale" if self.log else ""
            only = "; leave out a dimension with a single value" if low == high else ""
            raise InvalidInput(f"low must be below high{above}, got {low} and {high}{only}")
        if self.log and math.log(low) == math.log(high):
            raise InvalidInput(f"{low} and {high} have the same logarithm: give log=False")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def encode(self, value: float) -> list[float]:
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return [min(max((value - low) / (high - low), 0.0), 1.0)]

    def decode(self, unit: Array) -> float:
        part = float(unit[0])
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            value = math.exp(low + part * (high - low))
        else:
            value = self.low + part * (self.high - self.low)
        return min(max(value, self.low), self.high)


@DIMENSIONS.register("real")
@dataclass(frozen=True)
class Real(NumberRange):
    """A real number in an interval.

    Args:
        low: the lower end.
        high: the upper end, above ``low``.
        log: whether the scale is logarithmic.
        prior: the same as in scikit-optimize: "log-uniform" for log=True, "uniform" for False.
    Raises:
        InvalidInput: the ends are not finite, low is not below high, or low is not above 0 on a
            logarithmic scale.
    """

    def __post_init__(self, prior: str | None) -> None:
        self._set_ends(number(self.low, "low"), number(self.high, "high"), prior)

    def check(self, value: float) -> float:
        given = number(value, "a value")
        if not self.low <= given <= self.high:
            raise InvalidInput(
                f"the value must lie between {self.low} and {self.high}, got {shown(value)}"
            )
        return given


@DIMENSIONS.register("integer")
@dataclass(frozen=True)
class Integer(NumberRange):
    """An integer in an interval, both ends included.

    Args:
        low: the smallest value.
        high: the largest value, above ``low``.
        log: whether the scale is logarithmic.
        prior: as in `Real`.
    Raises:
        InvalidInput: as in `Real`, or an end is not an integer.
    """

    low: int
    high: int

    def __post_init__(self, prior: str | None) -> None:
        low, high = (
            whole(end, "the end of an integer dimension", -MOST) for end in (self.low, self.high)
        )
        self._set_ends(low, high, prior)

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def check(self, value: Any) -> int:
        if isinstance(value, (float, np.floating)) and float(value).is_integer():
            value = int(value)  # as in a row of a table
        return whole(value, "a value of an integer dimension", self.low, self.high)

    def decode(self, unit: Array) -> int:
        return round(super().decode(unit))

    def values(self) -> list[int]:
        return list(range(self.low, self.high + 1))

    def others(self, value: int) -> list[int]:
        if self.size <= MOST_VALUES:
            return super().others(value)
        steps = [2**i for i in range((self.high - self.low).bit_length())]
        tried = (value + step for size in steps for step in (-size, size))
        return [other for other in tried if self.low <= other <= self.high]


@DIMENSIONS.register("choice")
@dataclass(frozen=True)
class Choice(Dimension):
    """One of several options without an order.

    Each option has its own coordinate in the unit cube; two options share one.

    Args:
        options: at least two different values; to be saved in a file they must fit JSON. Numbers
            and strings of NumPy become those of Python, and its arrays lists.
    Raises:
        InvalidInput: there are fewer than two options, or one occurs twice.
    """

    ordered = False
    options: tuple[object, ...]

    def __post_init__(self) -> None:
        options = tuple(map(_own, listed(self.options, "options")))
        object.__setattr__(self, "options", options)
        if self.size < 2 or any(self.index(o) != i for i, o in enumerate(self.options)):
            raise InvalidInput(
                f"a choice needs at least two options, all different, got {shown(self.options)}"
            )

    @property
    def width(self) -> int:
        return 1 if self.size == 2 else self.size

    @property
    def size(self) -> int:
        return len(self.options)

    def check(self, value: object) -> object:
        index = self.index(_own(value))
        if index is None:
            raise InvalidInput(
                f"the value must be one of the options {shown(self.options)}, got {shown(value)}"
            )
        return self.options[index]

    def encode(self, value: object) -> list[float]:
        index = self.index(value)
        return [float(index == i) for i in range(self.size)][-self.width :]  # the last of two

    def decode(self, unit: Array) -> object:
        return self.options[int(unit[0] >= 0.5) if self.width == 1 else int(np.argmax(unit))]

    def values(self) -> list[object]:
        return list(self.options)

    def key(self, value: Any) -> Any:
        try:
            hash(value)
        except TypeError:  # a list, for example
            return self.index(value)
        return type(value), value

    def index(self, value: object) -> int | None:
        """The index of an option; 1, 1.0 and True are three different options."""
        same = (i for i, o in enumerate(self.options) if type(o) is type(value) and o == value)
        return next(same, None)


Categorical = Choice  # the name in scikit-optimize


def _own(option: object) -> object:
    """An option, in the type of Python that a file gives back if it is of NumPy."""
    if isinstance(option, (np.generic, np.ndarray)) and option.dtype.kind in "biufU":
        return option.tolist()
    return option

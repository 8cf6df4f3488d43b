"""What a task is: a box of settings, and what trying one of them is worth."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput

SCALES = ("linear", "log", "integer")


@dataclass(frozen=True)
class Axis:
    """A coordinate of a task, or several alike.

    Attributes:
        name: what it sets.
        low: the lower end, in natural units.
        high: the upper end.
        scale: "linear"; "log", whose cube is logarithmic; or "integer", which is rounded to the
            nearest whole number before the task sees it.
        count: how many coordinates are alike.
    Raises:
        InvalidInput: another scale, or a logarithmic axis that reaches 0.
    """

    name: str
    low: float
    high: float
    scale: str = "linear"
    count: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.scale, str) or self.scale not in SCALES:
            raise InvalidInput(f"a scale is one of {SCALES}, got {self.scale!r}")
        if self.scale == "log" and not self.low > 0:
            raise InvalidInput(f"a logarithmic axis starts above 0, got {self.low!r}")


class Axes:
    """The coordinates of a box, in natural units and in the cube [-1, 1]^d.

    Args:
        axes: in the order of the coordinates.
    """

    def __init__(self, axes: tuple[Axis, ...]) -> None:
        count = [axis.count for axis in axes]
        self.axes = axes
        self.box = Box(
            np.repeat([axis.low for axis in axes], count),
            np.repeat([axis.high for axis in axes], count),
        )
        self.cube = Box(-np.ones(self.box.dim), np.ones(self.box.dim))
        self._log = np.repeat([axis.scale == "log" for axis in axes], count)
        self._integer = np.repeat([axis.scale == "integer" for axis in axes], count)
        low, high = self.box.low.copy(), self.box.high.copy()
        low[self._log], high[self._log] = np.log(low[self._log]), np.log(high[self._log])
        self._centre, self._half = (low + high) / 2.0, (high - low) / 2.0

    def natural(self, cube: Array) -> Array:
        """Points of the cube (n, d) in natural units, inside the box."""
        points = self._centre + self._half * cube
        if self._log.any():
            points[:, self._log] = np.exp(points[:, self._log])
        return np.clip(points, self.box.low, self.box.high)

    def to_cube(self, points: Array) -> Array:
        """Points in natural units (n, d) in the cube."""
        given = np.array(points)
        if self._log.any():
            given[:, self._log] = np.log(given[:, self._log])
        return np.clip((given - self._centre) / self._half, -1.0, 1.0)

    def rounded(self, points: Array) -> Array:
        """Points in natural units with their whole-numbered coordinates rounded."""
        if not self._integer.any():
            return points
        whole = np.array(points)
        whole[:, self._integer] = np.rint(whole[:, self._integer])
        return whole


@dataclass(frozen=True)
class Best:
    """What is known of a task's maximum.

    Attributes:
        action: (d,) the best point known, in natural units.
        optimum: what regret is counted against: the maximum, a bound above it, or the best found.
        accuracy: ``action`` is worth no less than ``optimum - accuracy``, and no action is worth
            more than ``optimum + accuracy``.
    """

    action: Array
    optimum: float
    accuracy: float


class Task(ABC):
    """Something to tune: settings in a box, and a value to maximise.

    A subclass is a frozen dataclass whose fields are the task's options, so that a task is small
    to pickle; what is large is loaded by `prepare` once a process. To add a task: a module with a
    subclass and its entry in `TASKS`, and a line of `gpbandits_env/tasks/__init__.py`.

    Attributes:
        noise_inside: whether an evaluation is random in itself (see `noisy`).
    """

    noise_inside: ClassVar[bool] = False

    @property
    @abstractmethod
    def axes(self) -> tuple[Axis, ...]:
        """The coordinates, in natural units."""

    @cached_property
    def coordinates(self) -> Axes:
        """The box of the axes, and the ways between it and the cube [-1, 1]^d."""
        return Axes(self.axes)

    def prepare(self) -> None:
        """Load what an evaluation needs; called when an environment is made.

        Raises:
            MissingExtra: a package is not installed.
            MissingData: a file is not there.
        """
        return

    def draw(self, rng: np.random.Generator) -> Array:
        """What differs between episodes, drawn at a reset: nothing, unless overridden."""
        return np.zeros(0)

    @abstractmethod
    def values(self, points: Array, drawn: Array) -> Array:
        """The noiseless values (n,) of points (n, d) in natural units, whole ones rounded."""

    def noisy(self, points: Array, drawn: Array, rng: np.random.Generator) -> Array:
        """The values (n,) with the noise that is inside the task; without, the noiseless ones."""
        return self.values(points, drawn)

    @abstractmethod
    def best(self, drawn: Array) -> Best:
        """What is known of the maximum; its docstring says how, and how accurately."""

    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Two numbers between which every value, noisy ones included, lies."""


@dataclass(frozen=True)
class TaskEntry:
    """A task that an environment can be made of.

    Attributes:
        summary: one line.
        make: the task; keyword arguments are its options.
        source: the paper and section.
    """

    summary: str
    make: Callable[..., Task]
    source: str


# Each task's own module adds it; `gpbandits_env.tasks` imports them all.
TASKS: dict[str, TaskEntry] = {}

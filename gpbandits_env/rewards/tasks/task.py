"""The interface of a task: a box of settings, and the value of each setting."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, IntArray, Scalar, frozen
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput

SCALES = ("linear", "log", "integer")


@dataclass(frozen=True)
class Axis:
    """A coordinate of a task, or several equal coordinates.

    Attributes:
        name: what the coordinate sets.
        low: the lower end, in natural units.
        high: the upper end.
        scale: "linear"; "log", which is logarithmic in the cube; or "integer", which is rounded to
            the nearest integer before the task is evaluated.
        count: the number of equal coordinates.
    Raises:
        InvalidInput: the scale is unknown, or a logarithmic axis does not start above 0.
    """

    name: str
    low: float
    high: float
    scale: str = "linear"
    count: int = 1

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise InvalidInput(f"a scale must be one of {SCALES}, got {self.scale!r}")
        if self.scale == "log" and not self.low > 0:
            raise InvalidInput(f"a logarithmic axis must start above 0, got {self.low!r}")


class Axes:
    """The coordinates of a box, in natural units and in the cube [-1, 1]^d.

    Args:
        axes: the axes, in the order of the coordinates.
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
        points[:, self._log] = np.exp(points[:, self._log])
        return np.clip(points, self.box.low, self.box.high)

    def to_cube(self, points: Array) -> Array:
        """Points in natural units (n, d) in the cube."""
        given = np.array(points)
        given[:, self._log] = np.log(given[:, self._log])
        return np.clip((given - self._centre) / self._half, -1.0, 1.0)

    def rounded(self, points: Array) -> Array:
        """Points in natural units, with integer coordinates rounded."""
        return np.where(self._integer, np.rint(points), points)


@dataclass(frozen=True)
class Best:
    """What is known about the maximum of a task.

    Attributes:
        action: (d,) the best known point, in natural units.
        optimum: the reference value for regret: the maximum, an upper bound, or the best found.
        accuracy: the value of ``action`` is at least ``optimum - accuracy``, and no value exceeds
            ``optimum + accuracy``.
    """

    action: Array
    optimum: float
    accuracy: float


class Task(ABC):
    """A tuning problem: settings in a box, and a value to maximize.

    A subclass is a frozen dataclass; its fields are the options of the task, so that tasks are
    cheap to pickle. Large data are loaded by `prepare` once per process. To add a task, write a
    module with a subclass and its entry in `TASKS`, and add a line to
    `gpbandits_env/rewards/tasks/__init__.py`.

    Attributes:
        noise_inside: whether the evaluation itself is random (see `noisy`).
    """

    noise_inside: ClassVar[bool] = False

    @property
    @abstractmethod
    def axes(self) -> tuple[Axis, ...]:
        """The coordinates, in natural units."""

    @cached_property
    def coordinates(self) -> Axes:
        """The box of the axes, with its maps to and from the cube [-1, 1]^d."""
        return Axes(self.axes)

    def prepare(self) -> None:
        """Load the data that an evaluation needs; called when an environment is made.

        Raises:
            MissingExtra: a package is not installed.
            MissingData: a file is missing.
        """
        return

    def draw(self, rng: np.random.Generator) -> Array:
        """The latent quantities of an episode, drawn at each reset; by default there are none."""
        return np.zeros(0)

    @abstractmethod
    def values(self, points: Array, latent: Array) -> Array:
        """The noiseless values (n,) of points (n, d) in natural units, with rounded integers.

        ``latent`` is the result of `draw`.
        """

    def noisy(self, points: Array, latent: Array, rng: np.random.Generator) -> Array:
        """The values (n,) with the noise of the task itself; noiseless by default."""
        return self.values(points, latent)

    @abstractmethod
    def best(self, latent: Array) -> Best:
        """What is known about the maximum; an override documents its method and its accuracy."""


@dataclass(frozen=True)
class TaskEntry:
    """An entry in the list of tasks for environments.

    Attributes:
        summary: a description in one line.
        make: a function that makes the task; keyword arguments are its options.
        source: the paper and section.
    """

    summary: str
    make: Callable[..., Task]
    source: str


# The module of each task adds its entry; `gpbandits_env.rewards.tasks` imports all of them.
TASKS: dict[str, TaskEntry] = {}


@dataclass(frozen=True, eq=False)
class Split(Generic[Scalar]):
    """Training rows (n, p) and held-out rows (k, p), with a last column of ones, and their targets.

    The training targets are values (n,) or one-hot (n, classes); the held-out targets are values or
    labels. All arrays are read-only, because they are loaded once per process and shared.
    """

    inputs: NDArray[Scalar]
    targets: NDArray[Scalar]
    held_inputs: NDArray[Scalar]
    held_targets: NDArray[Scalar] | IntArray

    def __post_init__(self) -> None:
        for array in (self.inputs, self.targets, self.held_inputs, self.held_targets):
            frozen(array)

"""Tasks: a box of settings, the value of each setting, and both as functions of an environment."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, IntArray, Points, Scalar, all_of, frozen, one_each
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.rewards.functions import ArmFunction, Function, StaticProcess


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
        UnknownName: there is no such scale.
        InvalidInput: a logarithmic axis does not start above 0.
    """

    name: str
    low: float
    high: float
    scale: str = "linear"
    count: int = 1

    def __post_init__(self) -> None:
        one_of(self.scale, ("linear", "log", "integer"), "scale of an axis")
        if self.scale == "log" and not self.low > 0:
            raise InvalidInput(f"a logarithmic axis must start above 0, got {self.low!r}")


class Axes:
    """The coordinates of a box, in natural units and in the cube [-1, 1]^d.

    Args:
        axes: the axes, in the order of the coordinates.
    """

    def __init__(self, axes: tuple[Axis, ...]) -> None:
        self.axes, each = axes, [axis for axis in axes for _ in range(axis.count)]
        low, high = np.reshape([(axis.low, axis.high) for axis in each], (-1, 2)).T
        self.box = Box(low, high)
        self.cube = Box(-np.ones(self.box.dim), np.ones(self.box.dim))
        self._log = np.array([axis.scale == "log" for axis in each])
        self._integer = np.array([axis.scale == "integer" for axis in each])
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
        return Axes(all_of(Axis, self.axes, f"axes of {type(self).__name__}", "objects Axis"))

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


class TaskFunction(Function):
    """A task with the result of `Task.draw` for an episode; points are in its box or the cube.

    Raises:
        InvalidInput: ``best`` of the task returns no `Best`, or its action is not in the box.
    """

    def __init__(self, task: Task, latent: Array, scaled: bool) -> None:
        self.task, self.latent, self.scaled = task, frozen(np.array(latent)), scaled
        best, axes = task.best(self.latent), task.coordinates
        if not isinstance(best, Best):
            raise InvalidInput(
                f"best of the task {type(task).__name__} must return a Best, got {shown(best)}"
            )
        try:
            action = axes.box.check([best.action])
        except InvalidInput as error:
            said = f"the best action of the task {type(task).__name__} must fit its axes: {error}"
            raise InvalidInput(said) from None
        self.best_action = frozen(np.array((axes.to_cube(action) if scaled else action)[0]))
        self.optimum, self.accuracy = best.optimum, best.accuracy

    def __call__(self, actions: Points) -> Array:
        return values_of(self.task, self.natural(actions), self.latent)

    def natural(self, actions: Points) -> Array:
        """Checked actions (m, d) in natural units, with integer coordinates rounded."""
        axes = self.task.coordinates
        return axes.rounded(axes.natural(actions) if self.scaled else actions)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.task, self.latent, self.scaled)


def values_of(task: Task, points: Array, latent: Array) -> Array:
    """The values (n,) of a task, which may be the user's own, at points (n, d).

    Raises:
        InvalidInput: they have another shape, or are not finite.
    """
    return one_each(task.values(points, latent), points, f"the task {type(task).__name__}")


class NoisyTaskFunction(TaskFunction):
    """A task with random evaluations."""

    def noisy(self, actions: Points, rng: np.random.Generator) -> Array:
        """The rewards (m,) of checked actions, with the noise of the task itself."""
        return self.task.noisy(self.natural(actions), self.latent, rng)


class TaskProcess(StaticProcess):
    """The functions of a task.

    On arms, all arms are evaluated when a function is drawn (only once if the task draws nothing),
    and the maximum is exact.

    Args:
        task: a prepared task.
        scaled: whether the domain is in the cube [-1, 1]^d instead of natural units.
        arms: arms inside the box or the cube; by default the domain is the whole box or cube.
    Raises:
        InvalidInput: arms are given for a task with its own noise, which a table cannot represent.
    """

    def __init__(self, task: Task, scaled: bool = False, arms: Arms | None = None) -> None:
        if arms is not None and task.noise_inside:
            raise InvalidInput("a task with its own noise runs in its box, not on a grid")
        axes = task.coordinates
        self.task, self.scaled = task, scaled
        self.domain: Arms | Box = arms if arms is not None else axes.cube if scaled else axes.box
        self._kept: Function | None = None

    def draw(self, rng: np.random.Generator) -> Function:
        latent = self.task.draw(rng)
        if self._kept is not None and not latent.size:
            return self._kept
        kind = NoisyTaskFunction if self.task.noise_inside else TaskFunction
        function: Function = kind(self.task, latent, self.scaled)
        if self.domain.finite:
            function = ArmFunction(function(self.domain.span))
        if not latent.size:
            self._kept = function
        return function


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

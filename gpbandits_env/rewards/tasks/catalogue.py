"""A task by name, and test functions as tasks."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, Settings, finite_array, mapping, whole
from gpbandits_env.domains import Box, two_corners
from gpbandits_env.errors import InvalidInput, all_known, one_of
from gpbandits_env.rewards.functions import TEST_FUNCTIONS, TestFunction
from gpbandits_env.rewards.functions.catalogue import dimension, function_named
from gpbandits_env.rewards.tasks.task import TASKS, Axis, Best, Task
from gpbandits_env.specs import class_named


@dataclass(frozen=True)
class Analytic(Task):
    """One of `TEST_FUNCTIONS` as a task, in its usual box or in another box.

    Args:
        name: the name of the function.
        dim: the number of coordinates, for functions of any dimension.
        box: the usual box by default.
    Raises:
        UnknownName: there is no such function.
        InvalidInput: the function does not have this dimension, or the box excludes the maximum.
    """

    name: str
    dim: int | None = None
    box: Box | None = None

    def __post_init__(self) -> None:
        best, (low, high) = self._given.maximizer(self._box.dim), self._box.span
        if not ((low <= best) & (best <= high)).all():
            raise InvalidInput(
                f"the maximum of {self.name!r} is outside of its box; use another box"
            )

    @cached_property
    def _given(self) -> TestFunction:
        return function_named(self.name)

    @cached_property
    def _box(self) -> Box:
        size = dimension(self.name, None if self.box is None else self.box.dim, self.dim)
        return self._given.box(size) if self.box is None else self.box

    @property
    def axes(self) -> tuple[Axis, ...]:
        ends = self._box.span.T.tolist()
        return tuple(Axis(f"x{i}", low, high) for i, (low, high) in enumerate(ends, start=1))

    def values(self, points: Array, latent: Array) -> Array:
        return self._given.values(points)

    def best(self, latent: Array) -> Best:
        """The stated maximum of the function; see `TestFunction`."""
        given, size = self._given, self._box.dim
        return Best(given.maximizer(size), given.peak(size), given.accuracy(size))


def make_task(
    name: str,
    options: Settings | None = None,
    dim: int | None = None,
    box: Sequence[ArrayLike] | Box | None = None,
) -> Task:
    """A task by name.

    Args:
        name: one of `TASKS` or of `TEST_FUNCTIONS`, or "module:Class" for a task of your own.
        options: the options of the task.
        dim: the dimension of a test function that allows any.
        box: another box (low, high) for a test function.
    Raises:
        UnknownName: there is no such task, or it has no such option.
        InvalidInput: dim or box is given for a task that is not a test function, a value is out of
            range, or there is no such class.
    """
    make: Callable[..., Task] | None = None
    if isinstance(name, str) and ":" in name:
        make = class_named(name, Task, "task")  # type: ignore[type-abstract]
    else:
        known_tasks = [*TASKS, *TEST_FUNCTIONS]
        if one_of(name, known_tasks, "task", more="your own as module:Class") in TASKS:
            make = TASKS[name].make
    options = mapping({} if options is None else options, "the options of a task")
    known = () if make is None else tuple(inspect.signature(make).parameters)
    all_known(options, known, f"option of the task {name!r}", "" if known else "there are none")
    if make is None:
        if box is not None and not isinstance(box, Box):
            low, high = (finite_array(corner, "box") for corner in two_corners(box))
            size = whole(TEST_FUNCTIONS[name].dim or dim or high.size, "dim")
            box = Box(low if low.ndim else np.full(size, low), high)
        return Analytic(name, dim, box)
    if dim is not None or box is not None:
        raise InvalidInput(f"dim and box are for test functions; {name!r} takes task_options")
    return make(**options)

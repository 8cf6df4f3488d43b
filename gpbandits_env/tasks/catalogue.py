"""The tasks there are, one line each."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.functions import TEST_FUNCTIONS
from gpbandits_env.tasks.analytic import Analytic, corners
from gpbandits_env.tasks.base import Task
from gpbandits_env.tasks.boston import Boston
from gpbandits_env.tasks.logistic import MnistLogistic
from gpbandits_env.tasks.network import network_100, network_500
from gpbandits_env.tasks.push import push_3d, push_4d
from gpbandits_env.tasks.ramp import RampLoss


@dataclass(frozen=True)
class TaskEntry:
    """A task that an environment can be made of.

    Attributes:
        summary: one line.
        make: the task; its keyword arguments are the task's options.
        source: the paper and section.
    """

    summary: str
    make: Callable[..., Task]
    source: str


TASKS: dict[str, TaskEntry] = {
    "mnist-logistic": TaskEntry(
        "tune a logistic regression on digits", MnistLogistic, "bedi2022, Section 4.3"
    ),
    "push-3d": TaskEntry("push a disc to a goal: place and time", push_3d, "ren2024, Section 5"),
    "push-4d": TaskEntry("push a disc: place, time and angle", push_4d, "ren2024, Section 5"),
    "boston": TaskEntry("train a regression network", Boston, "ren2024, Section 5"),
    "network-100": TaskEntry("10 x 10 output weights", network_100, "tranthe2020, Section 5"),
    "network-500": TaskEntry("50 x 10 output weights", network_500, "tranthe2020, Section 5"),
    "ramp-loss": TaskEntry("a support vector machine", RampLoss, "tranthe2020, Section 5"),
}


def make_task(
    name: str,
    options: Mapping[str, Any] | None = None,
    dim: int | None = None,
    box: Any = None,
) -> Task:
    """A task by name.

    Args:
        name: one of `TASKS`, or of `TEST_FUNCTIONS`.
        options: the task's own.
        dim: of a test function of any dimension.
        box: another box for a test function, (low, high).
    Raises:
        UnknownName: no such task, or no such option.
        InvalidInput: dim or box for a task that is not a test function, or a value out of range.
    """
    if not isinstance(name, str):
        raise unknown("task", name, [*TASKS, *TEST_FUNCTIONS])
    if options is not None and not isinstance(options, Mapping):
        raise InvalidInput(f"the options of a task are a dict, got {shown(options)}")
    if name in TEST_FUNCTIONS:
        for key in options or {}:
            raise unknown(f"option of the test function {name!r}", key, (), "there are none")
        size = TEST_FUNCTIONS[name].dim or dim
        return Analytic(name, dim, None if box is None else corners(box, size))
    if name not in TASKS:
        raise unknown("task", name, [*TASKS, *TEST_FUNCTIONS])
    if dim is not None or box is not None:
        raise InvalidInput(f"dim and box belong to a test function; {name!r} takes task_options")
    make = TASKS[name].make
    known = inspect.signature(make).parameters
    for key in options or {}:
        if key not in known:
            raise unknown(f"option of the task {name!r}", key, known)
    return make(**(options or {}))

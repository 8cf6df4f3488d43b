"""The tasks there are, one line each."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.functions import TEST_FUNCTIONS
from gpbandits_env.tasks.analytic import Analytic, corners
from gpbandits_env.tasks.base import Task
from gpbandits_env.tasks.boston import Boston
from gpbandits_env.tasks.logistic import MnistLogistic
from gpbandits_env.tasks.network import OutputWeights
from gpbandits_env.tasks.push import Push
from gpbandits_env.tasks.ramp import RampLoss

BEDI, REN = "bedi2022, Section 4.3", "ren2024, Section 5"
TRAN = "tranthe2020, Section 5"


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


TASKS: dict[str, TaskEntry] = {
    name: TaskEntry(summary, make, source)
    for name, summary, make, source in (
        ("mnist-logistic", "tune a logistic regression on digits", MnistLogistic, BEDI),
        ("push-3d", "push a disc to a goal: place and time", partial(Push, False), REN),
        ("push-4d", "push a disc: place, time and angle", partial(Push, True), REN),
        ("boston", "train a regression network", Boston, REN),
        ("network-100", "10 x 10 output weights", partial(OutputWeights, 10), TRAN),
        ("network-500", "50 x 10 output weights", partial(OutputWeights, 50), TRAN),
        ("ramp-loss", "a support vector machine", RampLoss, TRAN),
    )
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

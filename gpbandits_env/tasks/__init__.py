"""Tasks: settings in a box whose value is computed by training, simulating or optimising."""

from gpbandits_env.tasks.base import Axes, Axis, Best, Task
from gpbandits_env.tasks.catalogue import TASKS, Analytic, TaskEntry, make_task
from gpbandits_env.tasks.source import TaskFunction, TaskProcess

__all__ = [
    "TASKS",
    "Analytic",
    "Axes",
    "Axis",
    "Best",
    "Task",
    "TaskEntry",
    "TaskFunction",
    "TaskProcess",
    "make_task",
]

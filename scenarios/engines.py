"""Where tasks are played: in this process, or in worker processes."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import joblib

from gpbandits_env.scenarios.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.runner import Task, run_task

Results: TypeAlias = Iterator[list[TrialRecord | TrialFailure]]


def default_jobs() -> int:
    """The number of processors that this process may use."""
    return int(joblib.cpu_count())


@contextmanager
def results(tasks: Sequence[Task], jobs: int) -> Iterator[Results]:
    """The results of the tasks, in the tasks' own order whatever finishes first.

    Args:
        tasks: what to play.
        jobs: worker processes; 1 plays here.
    """
    if jobs == 1 or len(tasks) < 2:
        yield (run_task(task) for task in tasks)
        return
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=min(jobs, len(tasks)), return_as="generator")
        with _interrupts_ignored():
            generator = parallel(joblib.delayed(_work)(task) for task in tasks)
    try:
        yield generator
    finally:
        generator.close()


def _work(task: Task) -> list[TrialRecord | TrialFailure]:
    """A worker's task; Ctrl-C, which a terminal sends to workers too, is the driver's to answer."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return run_task(task)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Start worker processes deaf to Ctrl-C: a signal ignored here is ignored in its children.

    It takes a few hundredths of a second, in which a Ctrl-C is lost.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""Where tasks are played: in this process, or in worker processes."""

import signal
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
        with _interrupts_held_back():
            generator = parallel(joblib.delayed(run_task)(task) for task in tasks)
    try:
        yield generator
    finally:
        generator.close()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let worker processes start with Ctrl-C blocked: a terminal sends it to them as well.

    What blocks a signal here is inherited by the workers; here it arrives a moment later.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

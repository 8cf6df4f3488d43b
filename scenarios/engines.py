"""Where tasks are played: in this process, in worker processes, or on a cluster."""

import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.scenarios.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.runner import Task, run_task

Results: TypeAlias = Iterator[list[TrialRecord | TrialFailure]]
CLUSTERS = ("dask", "ray")
NAMES = ("local", *CLUSTERS)
# How often work is begun again after a worker was killed.
REVIVALS = 3


@dataclass(frozen=True)
class Engine:
    """Where to play.

    Args:
        name: "local" (processes of this machine), "dask" or "ray".
        address: of a running cluster's scheduler, e.g. "tcp://host:8786" for Dask, "auto" or
            "ray://host:10001" for Ray; None starts a cluster of this machine.
    Raises:
        UnknownName: no such engine.
        InvalidInput: an address for the local engine.
    """

    name: str = "local"
    address: str | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise unknown("engine", self.name, NAMES)
        if self.name == "local" and self.address is not None:
            raise InvalidInput(
                f"the local engine has no address (got {self.address!r}); give it with "
                "--engine dask or --engine ray"
            )


LOCAL = Engine()


def default_jobs() -> int:
    """The number of processors that this process may use."""
    return int(joblib.cpu_count())


@contextmanager
def results(tasks: Sequence[Task], jobs: int, engine: Engine = LOCAL) -> Iterator[Results]:
    """The results of the tasks, in the tasks' own order whatever finishes first.

    A task is played again if the worker that had it was killed.

    Args:
        tasks: what to play.
        jobs: worker processes; 1 plays here. A cluster that has an address has its own number.
        engine: where to play.
    Raises:
        MissingExtra: the engine's package is not installed.
        InvalidInput: no cluster at the address.
    """
    if engine.name in CLUSTERS:
        cluster = import_module(f"gpbandits_env.scenarios.engine_{engine.name}")
        opened: AbstractContextManager[Results] = cluster.results(tasks, jobs, engine.address)
        with opened as stream:
            yield stream
        return
    if jobs == 1 or len(tasks) < 2:
        yield (run_task(task) for task in tasks)
        return
    generator = _processes(tasks, jobs)
    try:
        yield generator
    finally:
        generator.close()


def _processes(
    tasks: Sequence[Task], jobs: int
) -> Generator[list[TrialRecord | TrialFailure], None, None]:
    """Worker processes; new ones for what is left if one of them was killed."""
    done = 0
    for revival in range(REVIVALS + 1):
        stream = _pool(tasks[done:], jobs)
        try:
            for result in stream:
                done += 1
                yield result
            return
        except BrokenProcessPool:
            if revival == REVIVALS:
                raise
        finally:
            stream.close()


def _pool(
    tasks: Sequence[Task], jobs: int
) -> Generator[list[TrialRecord | TrialFailure], None, None]:
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=min(jobs, len(tasks)), return_as="generator")
        with _interrupts_ignored():
            generator = parallel(joblib.delayed(_work)(task) for task in tasks)
    try:
        yield from generator
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

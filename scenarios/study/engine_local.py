"""Tasks in this process, or in processes of this machine by joblib's loky.

Each worker is a pool of one process, so that when one dies it is known what it had, and the others
run on.
"""

import signal
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import Any

from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from gpbandits_env.scenarios.study.pool import Pool, Results, WorkerDied, run_timed
from gpbandits_env.scenarios.study.runner import PlannedTrial

# How often a task is begun again whose worker died.
REVIVALS = 3
# Seconds after which an idle process ends, so that none outlives a killed driver for long.
IDLE = 60.0
# So that BLAS makes no threads that it may not use.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")}


@contextmanager
def opened(jobs: int, address: str | None) -> Iterator[Pool]:
    """So many processes, which are killed at the end, whatever they do; this one, if it is one."""
    if jobs == 1:
        yield Here()
        return
    processes = Processes(jobs)
    try:
        yield processes
    finally:
        processes.end()


class Here(Pool):
    """This process, which runs a portion when its result is waited for."""

    slots, suspects, revivals = 1, 1, REVIVALS

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        self._tasks = tasks
        return 0

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        return list(handles)

    def result(self, handle: Any) -> tuple[Results, float]:
        return run_timed(self._tasks)


class Processes(Pool):
    """Processes of this machine; when one dies, the next portion has a new one."""

    def __init__(self, jobs: int) -> None:
        self.slots = self.suspects = jobs
        self.revivals = REVIVALS
        self._pools: list[Any] = [None] * jobs
        self._free, self._busy = list(range(jobs)), dict[Future[Any], int]()

    def submit(self, tasks: Sequence[PlannedTrial]) -> "Future[tuple[Results, float]]":
        worker = self._free.pop()
        pool = self._pools[worker]
        if pool is None:
            with _interrupts_ignored():
                pool = ProcessPoolExecutor(
                    1, timeout=IDLE, initializer=_ignore_interrupts, env=ONE_THREAD
                )
                self._pools[worker] = pool
                future = pool.submit(run_timed, tasks)  # which starts the process
        else:
            future = pool.submit(run_timed, tasks)
        self._busy[future] = worker
        return future

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        return wait(handles, return_when=FIRST_COMPLETED).done

    def result(self, handle: "Future[tuple[Results, float]]") -> tuple[Results, float]:
        worker = self._busy.pop(handle)
        self._free.append(worker)
        try:
            return handle.result()
        except BrokenProcessPool as error:
            self._end(worker)
            raise WorkerDied(str(error)) from error

    def end(self) -> None:
        """Kill all processes."""
        for worker in range(len(self._pools)):
            self._end(worker)

    def _end(self, worker: int) -> None:
        if (pool := self._pools[worker]) is not None:
            pool.shutdown(wait=True, kill_workers=True)
            self._pools[worker] = None


def _ignore_interrupts() -> None:
    """Ctrl-C, which a terminal sends to workers too, is the driver's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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

"""Tasks in this process, or in processes of this machine by joblib's loky.

Each worker is a pool of one process. So when one dies, its tasks are
known, and the others continue.
"""

import os
import signal
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from runpy import run_path
from typing import Any

from joblib.externals.loky.backend import resource_tracker
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from gpbandits_env.scenarios.study import worker
from gpbandits_env.scenarios.study.pool import Pool, Results, WorkerDied, run_timed, start_quietly
from gpbandits_env.scenarios.study.runner import PlannedTrial

# How often a task is restarted whose worker died.
REVIVALS = 3
# Seconds after which an idle process ends.
IDLE = 60.0
# Seconds between two looks for dead workers, while no task ends.
LOOK = 0.5
# What joblib warns of in the thread on which a pool depends, when an idle process ends while it is
# given a task. The task gets a new process; but where warnings are errors, the thread would end and
# the run would wait forever.
RESTARTED = "A worker stopped while some jobs were given to the executor"
# BLAS then starts no threads that it may not use.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")}


@contextmanager
def opened(jobs: int, address: str | None) -> Iterator[Pool]:
    """A pool of ``jobs`` processes, which are killed at the end; for 1 job, this process."""
    if jobs == 1:
        yield Here()
        return
    processes = Processes(jobs)
    try:
        yield processes
    finally:
        processes.end()


class Here(Pool):
    """This process, which runs a portion when its result is requested."""

    slots, suspects, revivals = 1, 1, REVIVALS

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        self._tasks = tasks
        return 0

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        return list(handles)

    def result(self, handle: Any) -> tuple[Results, float]:
        return run_timed(self._tasks)


class Processes(Pool):
    """Processes of this machine; when one dies, the next portion gets a new one."""

    def __init__(self, jobs: int) -> None:
        warnings.filterwarnings("ignore", RESTARTED, UserWarning)
        self.slots = self.suspects = jobs
        self.revivals = REVIVALS
        self._pools: list[Any] = [None] * jobs
        self._free, self._busy = list(range(jobs)), dict[Future[Any], int]()
        # Ctrl-C in `concurrent.futures.wait` may leave locks of futures held, for which the threads
        # of the pools, and so the end of the run, would wait forever.
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()

    def submit(self, tasks: Sequence[PlannedTrial]) -> "Future[tuple[Results, float]]":
        place = self._free.pop()
        with _signals_blocked():
            try:
                future = self._pool(place).submit(run_timed, tasks)
            except BrokenProcessPool:  # its process was killed while it was idle
                self._end(place)
                future = self._pool(place).submit(run_timed, tasks)
        self._busy[future] = place
        future.add_done_callback(self._done.put)
        return future

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        while True:
            try:
                return [self._done.get(timeout=LOOK)]
            except Empty:
                for place in self._busy.values():
                    _end_result_of_dead(self._pools[place])

    def result(self, handle: "Future[tuple[Results, float]]") -> tuple[Results, float]:
        place = self._busy.pop(handle)
        self._free.append(place)
        try:
            return handle.result()
        except BrokenProcessPool as error:
            self._end(place)
            raise WorkerDied(str(error)) from error

    def end(self) -> None:
        """Kill all processes."""
        for place in range(len(self._pools)):
            self._end(place)

    def _pool(self, place: int) -> ProcessPoolExecutor:
        if self._pools[place] is None:
            start_quietly(resource_tracker)
            first = worker.__file__, {"driver": os.getpid()}, worker.RUN_NAME
            self._pools[place] = ProcessPoolExecutor(
                1, timeout=IDLE, initializer=run_path, initargs=first, env=ONE_THREAD
            )
        return self._pools[place]

    def _end(self, place: int) -> None:
        if (pool := self._pools[place]) is not None:
            _end_result_of_dead(pool)
            # The pool's thread forgets the task that waits, and then looks for it by its number.
            with suppress(Empty):
                pool._work_ids.get_nowait()
            pool.shutdown(wait=True, kill_workers=True)
            self._pools[place] = None


def _end_result_of_dead(pool: Any) -> None:
    """Let a pool notice that its worker was killed while it returned a result.

    The pool reads the rest of the result then, and would wait for it forever, because this process
    has the writing end of the pipe too. Without that end, the pool reads the end of the file.
    """
    workers = list((pool._processes or {}).values())
    if workers and all(worker.exitcode for worker in workers):  # not 0, not running
        writer = pool._result_queue._writer
        # The pool's thread closes the same connection as soon as it reads the end. It must find no
        # handle by then: a handle that is closed twice may be that of another file.
        handle, writer._handle = writer._handle, None
        if handle is not None:
            type(writer)(handle, readable=False).close()


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Start processes that ignore signals of a terminal: children inherit blocked signals.

    This process handles such a signal at the end of the block. Workers unblock it when they are
    ready, but joblib's tracker, which cleans up after a killed driver, never receives it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*worker.ENDING, signal.SIGQUIT))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

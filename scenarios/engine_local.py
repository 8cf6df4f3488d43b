"""Tasks in processes of this machine, by joblib's loky.

Each worker is a pool of one process with one task at a time, rather than all in one pool of
`joblib.Parallel`: when a process dies it is known which task it had, and the others play on.
"""

import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import Any

from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from gpbandits_env.scenarios.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.runner import Task, died, run_task

# How often a task is begun again whose worker died.
REVIVALS = 3
# Seconds after which an idle process ends, so that none outlives a killed driver for long.
IDLE = 60.0
# So that BLAS makes no threads that it may not use.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")}


class Worker:
    """A process, and a new one when that died."""

    def __init__(self) -> None:
        self._pool: Any = None

    def play(self, task: Task) -> "Future[TrialRecord | TrialFailure]":
        """Begin a task; only when the one before is done."""
        if self._pool is not None:
            return self._submit(task)
        with _interrupts_ignored():
            self._pool = ProcessPoolExecutor(1, timeout=IDLE, initializer=_deaf, env=ONE_THREAD)
            return self._submit(task)  # which starts the process

    def end(self) -> None:
        """Kill the process, whatever it does; the next task has a new one."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def _submit(self, task: Task) -> "Future[TrialRecord | TrialFailure]":
        future: Future[TrialRecord | TrialFailure] = self._pool.submit(run_task, task)
        return future


def results(
    tasks: Sequence[Task], jobs: int
) -> Generator[list[TrialRecord | TrialFailure], None, None]:
    """The results of the tasks as they are done.

    Args:
        tasks: what to play.
        jobs: worker processes; fewer if there are fewer tasks.
    """
    free = [Worker() for _ in range(min(jobs, len(tasks)))]
    waiting, deaths = deque(range(len(tasks))), Counter[int]()
    playing: dict[Future[TrialRecord | TrialFailure], tuple[int, Worker]] = {}
    found: list[TrialRecord | TrialFailure] = []
    workers = tuple(free)
    try:
        while True:
            # Workers get their next task before the caller stores what they have done.
            while free and waiting:
                worker, index = free.pop(), waiting.popleft()
                playing[worker.play(tasks[index])] = index, worker
            if found:
                yield found
            if not playing:
                return
            found = []
            for future in wait(playing, return_when=FIRST_COMPLETED).done:
                index, worker = playing.pop(future)
                free.append(worker)
                try:
                    found.append(future.result())
                except BrokenProcessPool as error:
                    worker.end()
                    deaths[index] += 1
                    if deaths[index] > REVIVALS:
                        found.append(died(tasks[index], error))
                    else:
                        waiting.append(index)
    finally:
        for worker in workers:
            worker.end()


def _deaf() -> None:
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

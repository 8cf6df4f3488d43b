"""Tasks in processes of this machine, by joblib's loky.

Each worker is a pool of one process, rather than all in one pool of `joblib.Parallel`: when a
process dies it is known what it had, and the others play on. Tasks that take milliseconds are given
by the dozen, since sending one takes as long; if the process dies, they are played one by one.
"""

import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeAlias

from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from gpbandits_env.scenarios.results.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.study.runner import Task, died, run_tasks

Results: TypeAlias = list[TrialRecord | TrialFailure]

# How often a task is begun again whose worker died.
REVIVALS = 3
# Seconds of work that a worker is given at a time, of more tasks than one if they are short.
PORTION, MOST = 0.1, 100
# Seconds after which an idle process ends, so that none outlives a killed driver for long.
IDLE = 60.0
# So that BLAS makes no threads that it may not use.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")}


class Worker:
    """A process, and a new one when that died."""

    def __init__(self) -> None:
        self._pool: Any = None

    def play(self, tasks: Sequence[Task]) -> "Future[tuple[Results, float]]":
        """Begin tasks; only when those before are done."""
        if self._pool is not None:
            return self._submit(tasks)
        with _interrupts_ignored():
            self._pool = ProcessPoolExecutor(1, timeout=IDLE, initializer=_deaf, env=ONE_THREAD)
            return self._submit(tasks)  # which starts the process

    def end(self) -> None:
        """Kill the process, whatever it does; the next task has a new one."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def _submit(self, tasks: Sequence[Task]) -> "Future[tuple[Results, float]]":
        future: Future[tuple[Results, float]] = self._pool.submit(_played, tasks)
        return future


class Queue:
    """The tasks that wait, by their numbers, and how many to give at a time.

    Args:
        tasks: how many there are.
        workers: how many share them.
    """

    def __init__(self, tasks: int, workers: int) -> None:
        self._waiting, self._alone = deque(range(tasks)), deque[int]()
        self._workers, self._deaths = workers, Counter[int]()
        self._pace: float | None = None

    def __bool__(self) -> bool:
        return bool(self._waiting or self._alone)

    def take(self) -> list[int]:
        """The next portion, at least one; a suspect comes alone, when all others were given."""
        if not self._waiting:
            return [self._alone.popleft()]
        few = 1 if self._pace is None else int(PORTION / max(self._pace, PORTION / MOST))
        fair = len(self._waiting) // (2 * self._workers)
        return [self._waiting.popleft() for _ in range(max(1, min(few, fair)))]

    def done_in(self, seconds: float) -> None:
        """A portion took so long a task."""
        self._pace = seconds if self._pace is None else 0.5 * (self._pace + seconds)

    def died(self, portion: Sequence[int]) -> bool:
        """A process died of a portion: whether it is given up, rather than played again."""
        if len(portion) == 1:
            self._deaths[portion[0]] += 1
            if self._deaths[portion[0]] > REVIVALS:
                return True
        self._alone.extend(portion)
        return False


def results_here(tasks: Sequence[Task]) -> Iterator[Results]:
    """The results of the tasks, played in this process."""
    queue = Queue(len(tasks), 1)
    while queue:
        found, seconds = _played([tasks[i] for i in queue.take()])
        queue.done_in(seconds)
        yield found


def results(tasks: Sequence[Task], jobs: int) -> Generator[Results, None, None]:
    """The results of the tasks as they are done.

    Args:
        tasks: what to play.
        jobs: worker processes; fewer if there are fewer tasks.
    """
    free = [Worker() for _ in range(min(jobs, len(tasks)))]
    queue, workers = Queue(len(tasks), len(free)), tuple(free)
    playing: dict[Future[tuple[Results, float]], tuple[list[int], Worker]] = {}
    found: Results = []
    try:
        while True:
            # Workers get their next task before the caller stores what they have done.
            while free and queue:
                worker, portion = free.pop(), queue.take()
                playing[worker.play([tasks[i] for i in portion])] = portion, worker
            if found:
                yield found
            if not playing:
                return
            found = []
            for future in wait(playing, return_when=FIRST_COMPLETED).done:
                portion, worker = playing.pop(future)
                free.append(worker)
                try:
                    records, seconds = future.result()
                except BrokenProcessPool as error:
                    worker.end()
                    if queue.died(portion):
                        found.append(died(tasks[portion[0]], error))
                else:
                    found += records
                    queue.done_in(seconds)
    finally:
        for worker in workers:
            worker.end()


def _played(tasks: Sequence[Task]) -> tuple[Results, float]:
    """Results, and the seconds that a task took."""
    start = perf_counter()
    found = run_tasks(tasks)
    return found, (perf_counter() - start) / len(tasks)


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

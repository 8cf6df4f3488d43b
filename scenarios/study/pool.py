"""How tasks go to workers, and what happens when a worker dies: the same for every engine.

joblib's own loop cannot do this: with every backend, `joblib.Parallel` ends altogether when a
worker dies and does not say which task killed it, and its Ray backend returns nothing before
everything is done. So each engine is a small `Pool`: on this machine processes of joblib's loky,
else a cluster's own interface.
"""

import socket
from collections import Counter, deque
from collections.abc import Collection, Generator, Iterable, Sequence
from time import perf_counter
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from gpbandits_env.scenarios.results.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.study.runner import PlannedTrial, died, run_tasks

Results: TypeAlias = list[TrialRecord | TrialFailure]

# Seconds of work that a worker is given at a time, of more tasks than one if they are short:
# sending one that takes milliseconds takes as long.
PORTION, MOST = 0.1, 100
PATIENCE = 10.0  # seconds for a connection to be accepted


class WorkerDied(Exception):
    """The worker that had a portion of tasks is gone."""


class Pool(Protocol):
    """Workers of one kind.

    Attributes:
        slots: portions that it is given at a time.
        suspects: the same, of tasks that may have killed a worker.
        revivals: how often a task is begun again that was alone when its worker died.
    """

    slots: int
    suspects: int
    revivals: int

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        """Begin `run_timed` of a portion; a handle of it."""

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        """Those that are done, one at least."""

    def result(self, handle: Any) -> tuple[Results, float]:
        """What `run_timed` returned.

        Raises:
            WorkerDied: the worker did not survive it.
            ClusterLost: the cluster has gone away, or its workers cannot run tasks.
        """


class Queue:
    """The numbers of the tasks that wait for a pool, and how many it gets at a time."""

    def __init__(self, tasks: int, pool: Pool) -> None:
        self._waiting, self._alone = deque(range(tasks)), deque[int]()
        self._pool, self._deaths = pool, Counter[int]()
        self._pace: float | None = None

    def gives(self, running: int) -> bool:
        """Whether there is a portion for a pool that runs so many."""
        if self._waiting:
            return running < self._pool.slots
        return bool(self._alone) and running < self._pool.suspects

    def take(self) -> list[int]:
        """The next portion, at least one; a suspect comes alone, when all others were given."""
        if not self._waiting:
            return [self._alone.popleft()]
        few = 1 if self._pace is None else int(PORTION / max(self._pace, PORTION / MOST))
        fair = len(self._waiting) // (2 * self._pool.slots)
        return [self._waiting.popleft() for _ in range(max(1, min(few, fair)))]

    def done_in(self, seconds: float) -> None:
        """A portion took so long a task."""
        self._pace = seconds if self._pace is None else 0.5 * (self._pace + seconds)

    def died(self, portion: Sequence[int]) -> bool:
        """A worker died of a portion: whether it is given up, rather than begun again."""
        if len(portion) == 1:
            self._deaths[portion[0]] += 1
            if self._deaths[portion[0]] > self._pool.revivals:
                return True
        self._alone.extend(portion)
        return False


def results(tasks: Sequence[PlannedTrial], pool: Pool) -> Generator[Results, None, None]:
    """The results of the tasks as they are done, in lists of what was done at the same time."""
    queue = Queue(len(tasks), pool)
    running: dict[Any, list[int]] = {}
    found: Results = []
    while True:
        # Workers get their next task before the caller stores what they have done.
        while queue.gives(len(running)):
            portion = queue.take()
            running[pool.submit([tasks[i] for i in portion])] = portion
        if found:
            yield found
        if not running:
            return
        found = []
        for handle in pool.wait(running):
            portion = running.pop(handle)
            try:
                records, seconds = pool.result(handle)
            except WorkerDied as error:
                if queue.died(portion):
                    found.append(died(tasks[portion[0]], error))
            else:
                found += records
                queue.done_in(seconds)


def run_timed(tasks: Sequence[PlannedTrial]) -> tuple[Results, float]:
    """The results of tasks, and the seconds that one took."""
    start = perf_counter()
    found = run_tasks(tasks)
    return found, (perf_counter() - start) / len(tasks)


def check_reachable(address: str) -> None:
    """Nothing, if HOST:PORT or SCHEME://HOST:PORT accepts a connection, or has no port.

    A cluster's own client would try for minutes.

    Raises:
        OSError: nobody answers there.
        ValueError: it is no address.
    """
    found = urlsplit(address if "://" in address else f"//{address}")
    if found.hostname and found.port:
        socket.create_connection((found.hostname, found.port), PATIENCE).close()

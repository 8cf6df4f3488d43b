"""Sends tasks to workers and handles the death of a worker, in the same way for every engine.

joblib's own loop cannot do this. With every backend, `joblib.Parallel` stops completely when a
worker dies, and does not say which task killed it. Its Ray backend returns nothing before
everything is done. So each engine is a small `Pool`: processes of this machine, which joblib's loky
starts, otherwise the interface of the cluster.
"""

import socket
from collections import Counter, deque
from collections.abc import Collection, Generator, Iterable, Sequence
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from gpbandits_env.errors import ClusterLost
from gpbandits_env.scenarios.results.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.study.runner import PlannedTrial, died

Results: TypeAlias = list[TrialRecord | TrialFailure]

# Tasks are sent together, because sending one takes milliseconds, as a short one does. A worker
# returns those that it had no time to start. If it dies, each of them is sent by itself afterwards,
# and only one whose worker dies again is a suspect.
MOST = 100
PATIENCE = 10.0  # seconds for a connection to be accepted


class WorkerDied(Exception):
    """The worker that had a portion of tasks is gone."""


class Pool(Protocol):
    """Workers of one kind.

    Attributes:
        slots: the number of portions that it gets at a time.
        suspects: the same for tasks whose worker died although they were sent by themselves.
        revivals: how often such a task is restarted.
        cluster: the name of the cluster.
        lost: the errors that say that the cluster is gone.
    """

    slots: int = 1
    suspects: int = 1
    revivals: int = 0
    cluster: str = ""
    lost: tuple[type[Exception], ...] = ()

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        """Start `run_tasks` of a portion, and return its handle."""

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        """Wait until at least one handle is done, and return those that are."""

    def result(self, handle: Any) -> Results:
        """The result of `run_tasks`, which is that of the first tasks at least.

        Raises:
            WorkerDied: the worker did not survive it.
        """


class Queue:
    """The numbers of the tasks that wait for a pool."""

    def __init__(self, tasks: int, pool: Pool) -> None:
        self._waiting, self._single, self._alone = deque(range(tasks)), deque[int](), deque[int]()
        self._pool, self._deaths = pool, Counter[int]()

    def gives(self, running: int) -> bool:
        """Whether there is a portion for a pool that runs ``running`` portions."""
        if self._waiting or self._single:
            return running < self._pool.slots
        return bool(self._alone) and running < self._pool.suspects

    def take(self) -> list[int]:
        """The next portion of at least one task. Suspects come last."""
        if not self._waiting:
            return [(self._single or self._alone).popleft()]
        fair = min(MOST, len(self._waiting) // (2 * self._pool.slots))
        return [self._waiting.popleft() for _ in range(max(1, fair))]

    def put_back(self, tasks: Sequence[int]) -> None:
        """Put tasks first again, for which a portion had no time."""
        self._waiting.extendleft(reversed(tasks))

    def died(self, portion: Sequence[int]) -> bool:
        """Note that a worker died; return whether the portion is given up, not restarted."""
        if len(portion) == 1:
            self._deaths[portion[0]] += 1
            if self._deaths[portion[0]] > self._pool.revivals:
                return True
        (self._alone if len(portion) == 1 else self._single).extend(portion)
        return False


def results(tasks: Sequence[PlannedTrial], pool: Pool) -> Generator[Results, None, None]:
    """Yield the results of the tasks as they finish, in lists of those that finish together.

    A task is run again if its worker dies. If that happens repeatedly, the result of the task is a
    failure, and the other tasks continue.

    Raises:
        ClusterLost: the connection to the cluster is lost, or its workers cannot run trials.
    """
    try:
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
                    records = pool.result(handle)
                except WorkerDied as error:
                    if queue.died(portion):
                        found.append(died(tasks[portion[0]], error))
                else:
                    found += records
                    queue.put_back(portion[len(records) :])
    except pool.lost as error:
        first, *_ = f"{type(error).__name__}: {str(error).strip()}".splitlines()  # of very many
        raise ClusterLost(
            f"the {pool.cluster} cluster is gone, or its workers cannot run trials ({first}); "
            "check that it runs, with this version of gpbandits-env on every machine"
        ) from error


def check_reachable(address: str) -> None:
    """Check that HOST:PORT or SCHEME://HOST:PORT accepts a connection, if it has a port.

    The client of a cluster would try for minutes. ValueError: it is not an address.
    """
    found = urlsplit(address if "://" in address else f"//{address}")
    if found.hostname and found.port:
        socket.create_connection((found.hostname, found.port), PATIENCE).close()

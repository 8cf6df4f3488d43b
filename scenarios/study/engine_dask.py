"""Tasks on a Dask cluster, submitted to its scheduler."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

import distributed
from distributed.comm.addressing import get_address_host_port
from distributed.utils import silence_logging_cmgr

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.study.pool import Pool, Results, WorkerDied, check_reachable
from gpbandits_env.scenarios.study.runner import PlannedTrial, run_tasks

PATIENCE = "30s"
# Seconds without a result after which we check that the cluster has workers.
WATCH = 10.0
# Seconds for disconnecting from a cluster, which may be gone.
FAREWELL = 5
# A worker may have several threads. Trials in them do not affect each other's results, but they
# would not be faster, and each would count the time of the others as its own.
_ONE_AT_A_TIME = Lock()
_log = logging.getLogger(__name__)


@contextmanager
def opened(jobs: int, address: str) -> Iterator[Pool]:
    """The cluster of a scheduler. Tasks that are still running at the end are cancelled."""
    made: Any = distributed.Client
    try:
        # A failed client stays alive for a minute, so check the address before making one.
        get_address_host_port(address)
        check_reachable(address)
        client = made(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address!r}: {error}") from None
    try:
        yield DaskCluster(client)
    finally:
        # The scheduler drops the tasks of a client that disconnects; it may be gone itself.
        with silence_logging_cmgr(logging.CRITICAL), suppress(Exception):
            client.close(FAREWELL)


class DaskCluster(Pool):
    """A Dask cluster.

    Dask restarts a task whose worker died, up to four times. It blames the death on all tasks of
    the worker, including those that had not started. So suspects run one by one at the end.
    """

    slots, revivals = 1000, 1
    cluster, lost = "Dask", (Exception,)

    def __init__(self, client: Any) -> None:
        self._client = client
        self._done: SimpleQueue[Any] = SimpleQueue()

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        future = self._client.submit(_work, tasks, pure=False)
        future.add_done_callback(self._done.put)
        return future

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        warned = False
        while True:
            try:
                return [self._done.get(timeout=WATCH)]
            except Empty:
                if not self._client.scheduler_info()["workers"] and not warned:
                    _log.warning("the Dask scheduler has no workers; waiting until some connect")
                    warned = True

    def result(self, handle: Any) -> Results:
        try:
            return handle.result()
        except distributed.KilledWorker as error:
            raise WorkerDied(str(error)) from error
        finally:
            handle.release()


def _work(tasks: Sequence[PlannedTrial]) -> Results:
    with _ONE_AT_A_TIME:
        return run_tasks(tasks)

"""Tasks on a Dask cluster, submitted to its scheduler."""

import logging
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

import distributed
from distributed.comm.addressing import get_address_host_port
from distributed.utils import silence_logging_cmgr

from gpbandits_env.arrays import Plain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.study.pool import (
    Pool,
    Results,
    WorkerDied,
    check_reachable,
    run_timed,
    start_quietly,
)
from gpbandits_env.scenarios.study.runner import PlannedTrial
from gpbandits_env.scenarios.study.worker import begin

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
def opened(jobs: int, address: str | None) -> Iterator[Pool]:
    """The cluster of a scheduler or, without an address, a new one of ``jobs`` processes.

    Tasks that are still running at the end are cancelled.
    """
    with _cluster(jobs) if address is None else _joined(address) as client:
        yield DaskCluster(client)


@contextmanager
def _cluster(jobs: int) -> Iterator[Any]:
    start_quietly(resource_tracker)
    cluster: Any = distributed.LocalCluster
    made = cluster(
        n_workers=jobs,
        threads_per_worker=1,
        # There is no dashboard, but a scheduler serves its health by HTTP: avoid port 8787.
        dashboard_address=None,
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        # Otherwise every task that Ctrl-C cancels and every death that we report logs a line.
        silence_logs=logging.CRITICAL,
    )
    try:
        with _joined(made.scheduler_address) as client:
            client.register_worker_callbacks(partial(begin, os.getpid()))
            client.cluster = made  # our own cluster, in which we can start workers
            yield client
    finally:
        # Dask cannot end a worker that it is just starting again; it ends with this process.
        with suppress(AssertionError):
            made.close()


@contextmanager
def _joined(address: str) -> Iterator[Any]:
    made: Any = distributed.Client
    try:
        # A failed client stays alive for a minute, so check the address before making one.
        get_address_host_port(address)
        check_reachable(address)
        client = made(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address!r}: {error}") from None
    try:
        yield client
    finally:
        # The scheduler drops the tasks of a client that disconnects; it may be gone itself.
        with silence_logging_cmgr(logging.CRITICAL), suppress(Exception):
            client.close(FAREWELL)


class DaskCluster(Pool):
    """A Dask cluster.

    Dask restarts a task whose worker died, up to four times. It blames the death on all tasks of
    the worker, including those that had not started. So suspects run one by one at the end.
    """

    slots, suspects, revivals = 1000, 1, 1
    cluster, lost = "Dask", (Exception,)

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: Plain = {}
        self._done: SimpleQueue[str] = SimpleQueue()

    def submit(self, tasks: Sequence[PlannedTrial]) -> str:
        future = self._client.submit(_work, tasks, pure=False)
        key: str = future.key
        self._futures[key] = future
        future.add_done_callback(lambda done: self._done.put(done.key))
        return key

    def wait(self, handles: Collection[Any]) -> Iterable[str]:
        warned = False
        while True:
            try:
                return [self._done.get(timeout=WATCH)]
            except Empty:
                warned = self._look(warned)

    def result(self, handle: str) -> tuple[Results, float]:
        future = self._futures.pop(handle)
        try:
            return future.result()
        except distributed.KilledWorker as error:
            raise WorkerDied(str(error)) from error
        finally:
            future.release()

    def _look(self, warned: bool) -> bool:
        """Warn once if the cluster has no workers; return whether the warning was given."""
        idle = not self._client.scheduler_info()["workers"]
        if idle and self._client.cluster is not None:
            # A nanny gives up if its worker dies while it is being started.
            lost = len(self._client.cluster.worker_spec)
            self._client.cluster.scale(0)
            self._client.cluster.scale(lost)
        elif idle and not warned:
            _log.warning("the Dask scheduler has no workers; waiting until some connect")
            return True
        return warned


def _work(tasks: Sequence[PlannedTrial]) -> tuple[Results, float]:
    with _ONE_AT_A_TIME:
        return run_timed(tasks)

"""Tasks on a Dask cluster.

Tasks are submitted one by one rather than through joblib's Dask backend: results come as they are
done, and Dask itself plays a task again whose worker died. (Ray's joblib backend can return
nothing before everything is done, and so the two would differ.)
"""

import logging
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

import distributed
from distributed.comm.addressing import get_address_host_port
from distributed.utils import silence_logging_cmgr

from gpbandits_env.errors import ClusterLost, InvalidInput
from gpbandits_env.scenarios.results.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.study.engine_address import knock
from gpbandits_env.scenarios.study.runner import Task, died, run_task

PATIENCE = "30s"
# Seconds without a result after which it is asked whether anybody is working.
WATCH = 10.0
# Seconds for the goodbye to a cluster, which may be gone.
FAREWELL = 5
# Tasks that are sent in one message.
MESSAGE = 500
# A worker process keeps one environment, and a worker may have several threads.
_ONE_AT_A_TIME = Lock()
_log = logging.getLogger(__name__)


@contextmanager
def results(
    tasks: Sequence[Task], jobs: int, address: str | None
) -> Iterator[Iterator[list[TrialRecord | TrialFailure]]]:
    """The results of the tasks as they are done; what is left is cancelled at the end.

    Args:
        tasks: what to play.
        jobs: worker processes, if a cluster of this machine is to be started.
        address: of a scheduler; None to start a cluster.
    Raises:
        InvalidInput: no scheduler answers at the address.
        ClusterLost: it has gone away meanwhile, or its workers cannot play.
    """
    with _cluster(jobs) if address is None else _joined(address) as client:
        yield _played(client, tasks)


@contextmanager
def _cluster(jobs: int) -> Iterator[Any]:
    """A cluster of this machine, and its client."""
    cluster: Any = distributed.LocalCluster
    with (
        cluster(
            n_workers=jobs,
            threads_per_worker=1,
            # No dashboard; but a scheduler serves its health by HTTP: anywhere but at 8787.
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            # Else every task that Ctrl-C cancels, and every death that we tell of, is a line.
            silence_logs=logging.CRITICAL,
        ) as made,
        _joined(made.scheduler_address) as client,
    ):
        client.register_worker_callbacks(_deaf)
        client.cluster = made  # ours, to start workers in
        yield client


@contextmanager
def _joined(address: str) -> Iterator[Any]:
    """The client of a scheduler."""
    made: Any = distributed.Client
    try:
        # A client that fails lingers for a minute, so that it is not made in vain.
        get_address_host_port(address)
        knock(address)
        client = made(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address!r}: {error}") from None
    try:
        yield client
    finally:
        # The scheduler forgets what a client that leaves has asked for; it may be gone itself.
        with silence_logging_cmgr(logging.CRITICAL), suppress(Exception):
            client.close(FAREWELL)


def _played(client: Any, tasks: Sequence[Task]) -> Iterator[list[TrialRecord | TrialFailure]]:
    """The results; tasks whose workers died come last, one by one.

    Dask blames a death on all tasks that the worker had, those too that it had not begun.
    """
    suspects = []
    for index, found in _finished(client, tasks):
        if isinstance(found, distributed.KilledWorker):
            suspects.append(tasks[index])
        else:
            yield [found]
    for task in suspects:
        for _, found in _finished(client, [task]):
            dead = isinstance(found, distributed.KilledWorker)
            yield [died(task, found) if dead else found]


def _finished(client: Any, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
    """(index, result or KilledWorker) of each task as it is done."""
    futures = client.map(_work, tasks, pure=False, batch_size=MESSAGE)
    numbers = {future.key: i for i, future in enumerate(futures)}
    ready: SimpleQueue[Any] = SimpleQueue()
    for future in futures:
        future.add_done_callback(ready.put)
    del futures[:]
    for _ in tasks:
        future = _next(client, ready)
        try:
            found = future.result()
        except distributed.KilledWorker as error:
            found = error
        except Exception as error:
            raise _lost(client, error) from error
        yield numbers[future.key], found
        future.release()


def _next(client: Any, ready: "SimpleQueue[Any]") -> Any:
    """The next future that is done; says so, if nobody is there to play."""
    told = False
    while True:
        try:
            return ready.get(timeout=WATCH)
        except Empty:
            pass
        try:
            idle = not client.scheduler_info()["workers"]
        except Exception as error:
            raise _lost(client, error) from error
        if idle and client.cluster is not None:
            # A nanny gives up if its worker dies while it is being started.
            lost = len(client.cluster.worker_spec)
            client.cluster.scale(0)
            client.cluster.scale(lost)
        elif idle and not told:
            told = True
            _log.warning("the Dask scheduler has no workers; waiting for some to come")


def _lost(client: Any, error: Exception) -> ClusterLost:
    return ClusterLost(
        f"the Dask cluster is gone, or its workers cannot play ({type(error).__name__}: {error}); "
        "check that it runs, with this version of gpbandits-env on every worker"
    )


def _deaf() -> None:
    """Ctrl-C, which a terminal sends to workers too, is the driver's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(task: Task) -> TrialRecord | TrialFailure:
    with _ONE_AT_A_TIME:
        return run_task(task)

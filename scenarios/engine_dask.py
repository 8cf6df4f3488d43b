"""Tasks on a Dask cluster.

Tasks are submitted one by one rather than through joblib's Dask backend: results come as they are
done, and Dask itself plays a task again whose worker died. (Ray's joblib backend can return
nothing before everything is done, and so the two would differ.)
"""

import logging
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from gpbandits_env.errors import InvalidInput, require_extra
from gpbandits_env.scenarios.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.runner import Task, run_task

PATIENCE = "30s"
# A worker process keeps one environment, and a worker may have several threads.
_ONE_AT_A_TIME = Lock()


@contextmanager
def results(
    tasks: Sequence[Task], jobs: int, address: str | None
) -> Iterator[Iterator[list[TrialRecord | TrialFailure]]]:
    """The results of the tasks in their own order; what is left is cancelled at the end.

    Args:
        tasks: what to play.
        jobs: worker processes, if a cluster of this machine is to be started.
        address: of a scheduler; None to start a cluster.
    Raises:
        MissingExtra: no `distributed`.
        InvalidInput: no scheduler answers at the address.
    """
    client = _client(jobs, address)
    futures: list[Any] = []
    try:
        futures += client.map(_work, tasks, pure=False)
        yield _in_order(futures)
    finally:
        client.cancel(futures)
        client.close()


def _in_order(futures: list[Any]) -> Iterator[list[TrialRecord | TrialFailure]]:
    for future in futures:
        yield future.result()
        future.release()


def _client(jobs: int, address: str | None) -> Any:
    try:
        import distributed
    except ImportError:
        raise require_extra("distributed", "dask") from None
    client: Any = distributed.Client
    if address is None:
        own = client(
            n_workers=jobs,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,  # else every task that Ctrl-C cancels is a warning
            set_as_default=False,
        )
        own.run(_deaf)
        return own
    try:
        return client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address!r}: {error}") from None


def _deaf() -> None:
    """Ctrl-C, which a terminal sends to workers too, is the driver's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(task: Task) -> list[TrialRecord | TrialFailure]:
    with _ONE_AT_A_TIME:
        return run_task(task)

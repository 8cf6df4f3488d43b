"""Tasks on a Ray cluster.

Tasks are remote calls rather than joblib's Ray backend, which can return nothing before everything
is done; Ray itself plays a task again whose worker died.
"""

import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from gpbandits_env.errors import InvalidInput, require_extra
from gpbandits_env.scenarios.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.runner import Task, run_task

RETRIES = 3
PATIENCE = 10.0  # seconds for a connection to be accepted


@contextmanager
def results(
    tasks: Sequence[Task], jobs: int, address: str | None
) -> Iterator[Iterator[list[TrialRecord | TrialFailure]]]:
    """The results of the tasks in their own order; what is left is cancelled at the end.

    Args:
        tasks: what to play.
        jobs: worker processes, if a cluster of this machine is to be started.
        address: of a cluster; None to start one.
    Raises:
        MissingExtra: no `ray`.
        InvalidInput: no cluster answers at the address.
    """
    try:
        import ray
    except ImportError:
        raise require_extra("ray", "ray") from None
    _connect(ray, jobs, address)
    play = ray.remote(num_cpus=1, max_retries=RETRIES)(run_task)
    waiting: list[Any] = []
    try:
        waiting += [play.remote(task) for task in tasks]
        yield _in_order(ray, waiting)
    finally:
        for left in waiting:
            ray.cancel(left, force=True)
        ray.shutdown()


def _in_order(ray: Any, waiting: list[Any]) -> Iterator[list[TrialRecord | TrialFailure]]:
    while waiting:
        yield ray.get(waiting[0])
        # Nothing else refers to the result, so that Ray can free it.
        waiting.pop(0)


def _connect(ray: Any, jobs: int, address: str | None) -> None:
    if address is not None:
        _knock(address)
    own = {"num_cpus": jobs, "include_dashboard": False} if address is None else {}
    try:
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=True,
            **own,
        )
    except (ConnectionError, ValueError) as error:
        raise _silent(address, error) from None


def _knock(address: str) -> None:
    """Whether anything listens at HOST:PORT or ray://HOST:PORT: Ray itself tries for minutes."""
    try:
        found = urlsplit(address if "://" in address else f"//{address}")
        if found.hostname and found.port:
            socket.create_connection((found.hostname, found.port), PATIENCE).close()
    except (OSError, ValueError) as error:
        raise _silent(address, error) from None


def _silent(address: str | None, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"no Ray cluster answers at {address!r}: {error}; is it running, and is its token set "
        "here too (RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH as where it was started)?"
    )

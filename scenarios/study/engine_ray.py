"""Tasks on a Ray cluster.

Tasks are remote calls rather than joblib's Ray backend, which can return nothing before everything
is done; Ray itself plays a task again whose worker died.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import islice
from typing import Any

import ray
from ray import exceptions

from gpbandits_env.errors import ClusterLost, InvalidInput, MissingExtra
from gpbandits_env.scenarios.results.records import TrialFailure, TrialRecord
from gpbandits_env.scenarios.study.engine_address import knock
from gpbandits_env.scenarios.study.runner import Task, died, run_task

RETRIES = 3
# Tasks that Ray knows of at the same time: it looks at all of them whenever it is asked.
KNOWN = 1000


@contextmanager
def results(
    tasks: Sequence[Task], jobs: int, address: str | None
) -> Iterator[Iterator[list[TrialRecord | TrialFailure]]]:
    """The results of the tasks as they are done; what is left is cancelled at the end.

    Args:
        tasks: what to play.
        jobs: worker processes, if a cluster of this machine is to be started.
        address: of a cluster; None to start one.
    Raises:
        InvalidInput: no cluster answers at the address.
        ClusterLost: it has gone away meanwhile, or its workers cannot play.
    """
    _connect(jobs, address)
    playing: dict[Any, Task] = {}
    try:
        yield _finished(tasks, playing)
    finally:
        _leave(playing)


def _finished(
    tasks: Sequence[Task], playing: dict[Any, Task]
) -> Iterator[list[TrialRecord | TrialFailure]]:
    """The results; ``playing`` holds what Ray is still to play."""
    try:
        yield from _as_done(tasks, playing)
    except (exceptions.RayError, ConnectionError) as error:
        raise ClusterLost(
            f"the Ray cluster is gone, or its workers cannot play ({_short(error)}); "
            "check that it runs, with this version of gpbandits-env on every machine"
        ) from error


def _as_done(
    tasks: Sequence[Task], playing: dict[Any, Task]
) -> Iterator[list[TrialRecord | TrialFailure]]:
    play = ray.remote(num_cpus=1, max_retries=RETRIES)(run_task)
    waiting = iter(tasks)
    while True:
        for task in islice(waiting, KNOWN - len(playing)):
            playing[play.remote(task)] = task
        if not playing:
            return
        (done,), _ = ray.wait(list(playing))
        # Nothing else refers to the result, so that Ray can free it.
        yield [_result(done, playing.pop(done))]


def _result(done: Any, task: Task) -> TrialRecord | TrialFailure:
    try:
        found: TrialRecord | TrialFailure = ray.get(done)
        return found
    except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
        return died(task, error)


def _leave(playing: Iterable[Any]) -> None:
    # Of a cluster that is gone nothing can be cancelled.
    with suppress(Exception):
        for left in playing:
            ray.cancel(left, force=True)
    with suppress(Exception):
        ray.shutdown()


def _connect(jobs: int, address: str | None) -> None:
    own: dict[str, Any] = {}
    if address is None:
        own = {"num_cpus": jobs, "include_dashboard": False}
    try:
        if address is not None:
            # Ray itself tries for minutes.
            knock(_found() if address == "auto" else address)
            if address.startswith("ray://") and find_spec("grpc") is None:
                raise MissingExtra(
                    f"{address!r} is of Ray's client, which needs a package of its own: pip "
                    "install 'ray[client]'; or give HOST:PORT on a machine of the cluster"
                )
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=True,
            **own,
        )
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"no Ray cluster answers at {address!r}: {error}; is it running, and is its token "
            "set here too (RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH as where it was started)?"
        ) from None


def _found() -> str:
    """Where "auto" is: RAY_ADDRESS, a cluster of this machine, or where one was, in that order."""
    try:
        from ray._private.services import get_ray_address_from_environment
    except ImportError:  # it is Ray's own business, and may move
        return "auto"
    return str(get_ray_address_from_environment("auto", None))


def _short(error: Exception) -> str:
    """The first line of what Ray says, which may be pages."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"

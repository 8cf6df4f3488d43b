"""Tasks on a Ray cluster, as remote calls."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

import ray
from ray import exceptions

from gpbandits_env.errors import InvalidInput, MissingExtra
from gpbandits_env.scenarios.study.pool import Pool, Results, WorkerDied, check_reachable
from gpbandits_env.scenarios.study.runner import PlannedTrial, run_tasks

RETRIES = 3


@contextmanager
def opened(jobs: int, address: str | None) -> Iterator[Pool]:
    """The cluster at an address, by default "auto".

    Tasks that are still running at the end are cancelled.
    """
    address = address or "auto"
    try:
        check_reachable(_found() if address == "auto" else address)
        if address.startswith("ray://") and find_spec("grpc") is None:
            raise MissingExtra(
                f"{address!r} is an address for Ray's client, which needs another package: pip "
                "install 'ray[client]'; or give HOST:PORT on a machine of the cluster"
            )
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"no Ray cluster answers at {address!r}: {error}; is it running ('ray start --head' "
            "starts one), and is its token set here too (RAY_AUTH_MODE=token, and "
            "RAY_AUTH_TOKEN_PATH as where it was started)?"
        ) from None
    cluster = RayCluster()
    try:
        yield cluster
    finally:
        # If the cluster is gone, there is nothing to cancel.
        with suppress(Exception):
            for left in cluster.running:
                ray.cancel(left, force=True)
        with suppress(Exception):
            ray.shutdown()


class RayCluster(Pool):
    """A Ray cluster; Ray restarts a task whose worker died, up to three times."""

    # Ray goes through all submitted tasks in every call.
    slots, suspects = 1000, 1000
    cluster, lost = "Ray", (exceptions.RayError, ConnectionError)

    def __init__(self) -> None:
        self.running: set[Any] = set()
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(run_tasks)

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        handle = self._run.remote(tasks)
        self.running.add(handle)
        return handle

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        return ray.wait(list(handles))[0]

    def result(self, handle: Any) -> Results:
        self.running.discard(handle)  # lets Ray free the result
        try:
            return ray.get(handle)
        except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
            raise WorkerDied(str(error)) from error


def _found() -> str:
    """The address of "auto": RAY_ADDRESS, a cluster of this machine, or the last one, in order."""
    try:
        from ray._private.services import get_ray_address_from_environment
    except ImportError:  # it is Ray's own business, and may move
        return "auto"
    return str(get_ray_address_from_environment("auto", None))

"""Tasks on a Ray cluster, as remote calls."""

import logging
import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ray
from ray import exceptions

from gpbandits_env.arrays import Plain
from gpbandits_env.errors import InvalidInput, MissingExtra
from gpbandits_env.scenarios.study import worker
from gpbandits_env.scenarios.study.pool import Pool, Results, WorkerDied, check_reachable, run_timed
from gpbandits_env.scenarios.study.runner import PlannedTrial

RETRIES = 3
LOOPBACK = "127.0.0.1"


@contextmanager
def opened(jobs: int, address: str | None) -> Iterator[Pool]:
    """The cluster at the address or, without an address, a new one of ``jobs`` processes.

    Tasks that are still running at the end are cancelled. A new cluster ends with this process,
    even if it is killed (not on Windows).
    """
    with nullcontext() if address else _guarded():
        _connect(jobs, address)
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
    slots, suspects, revivals = 1000, 1000, 0
    cluster, lost = "Ray", (exceptions.RayError, ConnectionError)

    def __init__(self) -> None:
        self.running: set[Any] = set()
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(run_timed)

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        handle = self._run.remote(tasks)
        self.running.add(handle)
        return handle

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        return ray.wait(list(handles))[0]

    def result(self, handle: Any) -> tuple[Results, float]:
        self.running.discard(handle)  # lets Ray free the result
        try:
            return ray.get(handle)
        except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
            raise WorkerDied(str(error)) from error


@contextmanager
def _guarded() -> Iterator[None]:
    """Let a process watch this one, and end what Ray has started here if this one is killed."""
    if sys.platform == "win32":  # a process keeps the number of a parent that has ended
        yield
        return
    import psutil  # Ray's copy

    command = [sys.executable, "-I", "-S", worker.__file__, str(os.getpid())]
    folder = str(Path(psutil.__file__).parents[1])
    # A group of its own, because it must not receive the signals of a terminal.
    with subprocess.Popen([*command, folder], process_group=0) as guard:
        try:
            yield
        finally:
            guard.kill()


def _connect(jobs: int, address: str | None) -> None:
    own: Plain = {}
    if address is None:
        own = {"num_cpus": jobs, "include_dashboard": False, "_node_ip_address": LOOPBACK}
    try:
        if address is not None:
            check_reachable(_found() if address == "auto" else address)
            if address.startswith("ray://") and find_spec("grpc") is None:
                raise MissingExtra(
                    f"{address!r} is an address for Ray's client, which needs another package: pip "
                    "install 'ray[client]'; or give HOST:PORT on a machine of the cluster"
                )
        with _loopback_as_given() if address is None else nullcontext():
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


@contextmanager
def _loopback_as_given() -> Iterator[None]:
    """Make Ray use 127.0.0.1 as given, as it does on macOS and Windows.

    On other systems Ray replaces it by the machine's address, for clusters of several machines, and
    a cluster of this machine would listen to the network.
    """
    try:
        from ray._private import ray_constants
    except ImportError:  # it is Ray's own business, and may move
        yield
        return
    before = getattr(ray_constants, "ENABLE_RAY_CLUSTER", None)
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def _found() -> str:
    """The address of "auto": RAY_ADDRESS, a cluster of this machine, or the last one, in order."""
    try:
        from ray._private.services import get_ray_address_from_environment
    except ImportError:  # it is Ray's own business, and may move
        return "auto"
    return str(get_ray_address_from_environment("auto", None))

"""Where tasks run: in this process, in worker processes, or on a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module

import joblib

from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput, one_of, optional
from gpbandits_env.scenarios.study.pool import Pool, Results
from gpbandits_env.scenarios.study.pool import results as pool_results
from gpbandits_env.scenarios.study.runner import PlannedTrial

# The package that each cluster needs; the extra has the name of the cluster.
CLUSTERS = {"dask": "distributed", "ray": "ray"}
NAMES = ("local", *CLUSTERS)


@dataclass(frozen=True)
class Engine:
    """Where to run.

    Args:
        name: "local" (processes of this machine), "dask" or "ray".
        address: that of a running cluster's scheduler, e.g. "tcp://host:8786" for Dask, "auto" or
            "host:6379" for Ray, from one of its machines ("ray://host:10001", from elsewhere,
            needs Ray's own extra ``ray[client]`` here); None starts a cluster of this machine.
    Raises:
        UnknownName: there is no such engine.
        InvalidInput: the local engine got an address, or the address is empty.
        MissingExtra: the engine's package is not installed.
    """

    name: str = "local"
    address: str | None = None

    def __post_init__(self) -> None:
        one_of(self.name, NAMES, "engine")
        if self.name == "local" and self.address is not None:
            raise InvalidInput(
                f"the local engine takes no address (got {self.address!r}); use it with "
                "--engine dask or --engine ray"
            )
        if self.address is not None and not self.address.strip():
            raise InvalidInput(
                f"the address of a cluster is empty (got {self.address!r}); leave it out to "
                "start a cluster on this machine"
            )
        if self.name in CLUSTERS:
            optional(CLUSTERS[self.name], self.name)


LOCAL = Engine()


def workers(jobs: int | None) -> int:
    """The number of worker processes: one per processor by default."""
    return int(joblib.cpu_count()) if jobs is None else whole(jobs, "jobs")


@contextmanager
def opened(jobs: int, engine: Engine = LOCAL) -> Iterator[Pool]:
    """The workers of an engine, which end with the block; see `results`."""
    module = import_module(f"gpbandits_env.scenarios.study.engine_{engine.name}")
    with module.opened(jobs, engine.address) as pool:
        yield pool


@contextmanager
def results(
    tasks: Sequence[PlannedTrial], jobs: int, engine: Engine = LOCAL, pool: Pool | None = None
) -> Iterator[Iterator[Results]]:
    """Yield the results of the tasks as they finish, in lists of those that finish together.

    A task is run again if its worker dies. If that happens repeatedly, the result of the task is a
    failure, and the other tasks continue.

    Args:
        tasks: the trials to run.
        jobs: the number of worker processes; 1 runs in this process. A cluster with an address has
            its own number of workers.
        engine: where to run.
        pool: open workers to use instead of new ones.
    Raises:
        InvalidInput: no cluster answers at the address.
        ClusterLost: the connection to the cluster is lost, or its workers cannot run trials.
    """
    with (
        nullcontext(pool) if pool else opened(jobs, engine) as used,
        closing(pool_results(tasks, used)) as found,
    ):
        yield found

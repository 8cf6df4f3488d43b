"""Where tasks run: in this process, in worker processes, or on a cluster."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module

import joblib

from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput, one_of, optional, shown
from gpbandits_env.scenarios.study.pool import Pool

# The package that each cluster needs; the extra has the name of the cluster.
CLUSTERS = {"dask": "distributed", "ray": "ray"}
NAMES = ("local", *CLUSTERS)


@dataclass(frozen=True)
class Engine:
    """Where to run.

    Args:
        name: "local" (processes of this machine), "dask" or "ray".
        address: that of a running cluster's scheduler, e.g. "tcp://host:8786" for Dask, "auto" (the
            default) or "host:6379" for Ray, from one of its machines ("ray://host:10001", from
            elsewhere, needs Ray's own extra ``ray[client]`` here).
    Raises:
        UnknownName: there is no such engine.
        InvalidInput: the local engine got an address, Dask got none, or the address is empty.
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
        given = self.address
        if given is not None and not (isinstance(given, str) and given.strip()):
            raise InvalidInput(
                f"the address of a cluster is a text, got {given!r}; it is like "
                "tcp://host:8786 for Dask and host:6379 for Ray"
            )
        if self.name in CLUSTERS:
            optional(CLUSTERS[self.name], self.name)
        if self.name == "dask" and self.address is None:
            raise InvalidInput(
                "Dask needs the address of a scheduler, --address tcp://HOST:8786; start one with "
                "'dask scheduler', and 'dask worker tcp://HOST:8786 --nworkers -1 --nthreads 1' on "
                "each machine"
            )


LOCAL = Engine()


def workers(jobs: int | None) -> int:
    """The number of worker processes: one per processor by default."""
    return int(joblib.cpu_count()) if jobs is None else whole(jobs, "jobs")


def opened(jobs: int, engine: Engine = LOCAL) -> AbstractContextManager[Pool]:
    """The workers of an engine, which end with the block.

    Args:
        jobs: the number of worker processes; 1 runs in this process. A cluster has its own number.
        engine: where they run.
    Raises:
        InvalidInput: no cluster answers at the address, or ``engine`` is no `Engine`.
    """
    if not isinstance(engine, Engine):
        raise InvalidInput(f"engine must be an Engine, such as Engine('dask'), got {shown(engine)}")
    module = import_module(f"gpbandits_env.scenarios.study.engine_{engine.name}")
    return module.opened(jobs, engine.address)

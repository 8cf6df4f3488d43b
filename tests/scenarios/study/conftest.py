from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from gpbandits_env.scenarios.study import Engine


@pytest.fixture
def started() -> Callable[[str, int], AbstractContextManager[Engine]]:
    """The engine of a new cluster of this machine, with so many workers; "local" needs none."""

    @contextmanager
    def start(name: str, workers: int) -> Iterator[Engine]:
        if name == "dask":
            distributed = pytest.importorskip("distributed")
            with distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            ) as cluster:
                yield Engine(name, cluster.scheduler_address)
        elif name == "ray":
            utils = pytest.importorskip("ray.cluster_utils")
            head = {"num_cpus": workers, "include_dashboard": False}
            cluster = utils.Cluster(initialize_head=True, head_node_args=head)
            try:
                yield Engine(name, cluster.address)
            finally:
                cluster.shutdown()
        else:
            yield Engine(name)

    return start

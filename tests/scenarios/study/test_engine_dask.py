"""Dask clusters whose workers are killed, and those that are slow to come, idle, or lost."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from contextlib import closing, contextmanager, suppress

import numpy as np
import pytest

from gpbandits_env.errors import ClusterLost
from gpbandits_env.scenarios.study import engines, run_trial
from gpbandits_env.scenarios.study.engines import Engine
from gpbandits_env.scenarios.study.pool import results
from gpbandits_env.scenarios.study.run import plan, run_study

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")


@pytest.fixture
def dask_forks(monkeypatch):
    """Workers of Dask are forked from a process that has imported everything.

    By default Dask starts interpreters; each takes a second.
    """
    if "forkserver" in multiprocessing.get_all_start_methods():  # not on Windows
        worker = dask.config.config["distributed"]["worker"]
        monkeypatch.setitem(worker, "multiprocessing-method", "forkserver")
        # Otherwise Dask replaces the list of modules that follows.
        monkeypatch.setattr("distributed.utils._forkserver_preload_set", True, raising=False)
        modules = ["distributed", "gpbandits_env.scenarios.study.pool"]
        multiprocessing.get_context("forkserver").set_forkserver_preload(modules)


@pytest.fixture
def dask_cluster(dask_forks):
    """Start a cluster without a server at a port that another test's cluster has."""

    @contextmanager
    def start(workers, threads=1):
        with distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        ) as cluster:
            yield cluster
            kill_workers(cluster)

    return start


def kill_workers(cluster):
    """Dask would wait some seconds for a trial that sleeps."""
    for pid in [nanny.pid for nanny in cluster.workers.values() if nanny.pid]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_on_dask_killed_workers_do_no_harm(check_kills, dask_cluster, monkeypatch):
    # Dask restarts it twice: a trial may lose its own worker, and that of another one.
    monkeypatch.setitem(dask.config.config["distributed"]["scheduler"], "allowed-failures", 2)
    # Else the cluster gives a worker up that has not come back after 15 seconds, on a busy machine.
    monkeypatch.setitem(dask.config.config["distributed"]["deploy"], "lost-worker-timeout", "5m")
    with dask_cluster(1) as cluster:
        check_kills(Engine("dask", cluster.scheduler_address), 1)
        cluster.wait_for_workers(1, timeout=60)  # old versions do not close while a worker starts


def test_on_dask_results_come_as_they_are_done(odd, dask_cluster):
    tasks = plan(odd("Slow").cells(), 2, 0)
    with dask_cluster(2) as cluster:
        engine = Engine("dask", cluster.scheduler_address)
        with (
            engines.opened(2, engine) as pool,
            closing(results([tasks[0], tasks[1], tasks[3]], pool)) as stream,
        ):
            found = [record.key for _ in range(2) for record in next(stream)]
        assert sorted(key.trial for key in found) == [0, 1]
        assert {key.agent for key in found} == {"quick"}
        with distributed.Client(cluster, set_as_default=False) as client:
            # The sleeper's owner has left, so that nobody wants it any more.
            assert not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))


def test_a_dask_scheduler_that_is_killed_keeps_what_is_done(odd, dask_cluster, held, tmp_path):
    path = tmp_path / "lost.sqlite"
    scenario = odd("Slow", quick_first=True)
    with dask_cluster(1) as cluster:

        def end():
            while held(path) < 1:
                time.sleep(0.05)
            kill_workers(cluster)
            cluster.close(timeout=5)

        ending = threading.Thread(target=end, daemon=True)
        ending.start()
        with pytest.raises(ClusterLost, match=r"[12] of 4 trials are kept in .*lost.sqlite; the s"):
            run_study(
                scenario, path, engine=Engine("dask", cluster.scheduler_address), progress=False
            )
        ending.join(20)
    assert held(path) >= 1


def test_a_dask_cluster_without_workers_is_told(odd, dask_cluster, caplog, monkeypatch):
    """The results of its worker, which has several threads, are those of this process."""
    from gpbandits_env.scenarios.study import engine_dask

    monkeypatch.setattr(engine_dask, "WATCH", 0.05)
    scenario = odd(trials=4, horizon=50)
    info, looks = distributed.Client.scheduler_info, []
    with dask_cluster(0, threads=4) as cluster, caplog.at_level(logging.WARNING):

        def looking(client, *told, **more):
            looks.append(told)
            if len(looks) == 3:
                cluster.scale(1)
            return info(client, *told, **more)

        monkeypatch.setattr(distributed.Client, "scheduler_info", looking)
        engine = Engine("dask", cluster.scheduler_address)
        with (
            engines.opened(4, engine) as pool,
            closing(results(plan(scenario.cells(), 4, 0), pool)) as stream,
        ):
            found = [record for records in stream for record in records]
    assert sum("has no workers; waiting" in text for text in caplog.messages) == 1
    assert len(found) == 4
    for record in found:
        alone = run_trial(scenario, "quick", record.key.trial).rounds
        assert all(np.array_equal(record.rounds[name], alone[name]) for name in alone)

"""Dask clusters that are slow to come, idle, or lost."""

import logging
import socket
import threading
import time
from contextlib import suppress

import pytest

from gpbandits_env.errors import ClusterLost
from gpbandits_env.scenarios.study import engines
from gpbandits_env.scenarios.study.engines import Engine
from gpbandits_env.scenarios.study.run import plan, run_study


def test_on_dask_results_come_as_they_are_done(odd, dask_cluster):
    from distributed import Client

    tasks = plan(odd("Slow").cells(), odd("Slow").trials, 0)
    with dask_cluster(2) as cluster:
        engine = Engine("dask", cluster.scheduler_address)
        with engines.results([tasks[0], tasks[1], tasks[3]], 2, engine) as stream:
            found = [record.key for _ in range(2) for record in next(stream)]
        assert sorted(key.trial for key in found) == [0, 1]
        assert {key.agent for key in found} == {"quick"}
        with Client(cluster, set_as_default=False) as client:
            # The sleeper's owner has left, so that nobody wants it any more.
            assert not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))


def test_a_dask_scheduler_that_is_killed_keeps_what_is_done(odd, dask_cluster, held, tmp_path):
    path = tmp_path / "lost.sqlite"
    scenario = odd("Slow", quick_first=True)
    cluster = dask_cluster(1)
    engine = Engine("dask", cluster.scheduler_address)

    def end():
        while held(path) < 1:
            time.sleep(0.05)
        cluster.close(timeout=5)

    ending = threading.Thread(target=end, daemon=True)
    ending.start()
    with pytest.raises(ClusterLost, match=r"[12] of 4 trials are kept in .*lost.sqlite; the same"):
        run_study(scenario, path, engine=engine, progress=False)
    ending.join(20)
    assert held(path) >= 1


def test_a_dask_cluster_without_workers_is_told(odd, dask_cluster, caplog, monkeypatch):
    from gpbandits_env.scenarios.study import engine_dask

    monkeypatch.setattr(engine_dask, "WATCH", 0.2)
    task = plan(odd("Slow").cells(), odd("Slow", quick_first=True).trials, 0)[
        1
    ]  # of the quick agent
    with dask_cluster(0) as cluster, caplog.at_level(logging.WARNING):
        threading.Timer(1.0, cluster.scale, (1,)).start()
        engine = Engine("dask", cluster.scheduler_address)
        with engines.results([task], 1, engine) as stream:
            assert [record.key for record in next(stream)] == [task.key]
    assert sum("has no workers; waiting" in text for text in caplog.messages) == 1


def test_a_dask_cluster_of_this_machine_leaves_the_dashboards_port_alone():
    """A warning would be an error here."""
    pytest.importorskip("distributed")
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # somebody has it: so much the better
            taken.bind(("127.0.0.1", 8787))
        taken.listen()
        with engines.results([], 1, Engine("dask")) as stream:
            assert list(stream) == []

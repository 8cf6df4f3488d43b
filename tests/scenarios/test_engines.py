"""Studies on clusters of real worker processes: the same numbers, and killed workers do no harm."""

import gc
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from gpbandits_env.errors import ClusterLost, InvalidInput, MissingExtra, UnknownName
from gpbandits_env.scenarios import engine_local, engines
from gpbandits_env.scenarios.engines import Engine
from gpbandits_env.scenarios.folders import look_in
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.store import Store
from gpbandits_env.scenarios.study import plan, run_study

SCENARIO = Scenario(
    id="test/cluster",
    source="a test",
    title="A small study",
    env="gpbandits/StaticGP-v0",
    env_kwargs={"grid": [100], "kernel": {"type": "se", "lengthscale": 0.2}},
    agents=(AgentEntry("gp-ucb", "gp-ucb"), AgentEntry("ei", "ei")),
    horizon=4000,
    trials=4,
)


ODD = """
import os, time
from gpbandits_env.agents import GPAgent

class Poison(GPAgent):
    def acquisition(self):
        os._exit(3)

class Slow(GPAgent):
    def acquisition(self):
        time.sleep(60.0)
"""


def dask_cluster(workers, threads=1):
    """A cluster without a server at a port that another test's cluster has."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        dashboard_address=None,
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    )


@pytest.fixture
def odd(tmp_path):
    """A short study with an agent of a module of one's own: odd("Poison")."""
    (tmp_path / "odd_learners.py").write_text(ODD, encoding="utf-8")
    look_in(str(tmp_path))
    quick = AgentEntry("quick", "random")

    def made(name, quick_first=False):
        odd = AgentEntry("odd", f"odd_learners:{name}")
        agents = (quick, odd) if quick_first else (odd, quick)
        return replace(SCENARIO, agents=agents, horizon=5, trials=2)

    return made


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    path = tmp_path_factory.mktemp("local") / "local.sqlite"
    assert run_study(SCENARIO, path, jobs=1, progress=False).done == 8
    return numbers(path)


def numbers(path):
    """A digest of all that does not depend on the clock."""
    with Store.open(path) as store:
        return store.digest()


def killing(pids, after=1.0):
    """Kill one of the workers that `pids` lists, a while after the first is there."""

    def kill():
        while not (found := pids()):
            time.sleep(0.05)
        time.sleep(after)
        for pid in pids() or found:
            try:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return
            except ProcessLookupError:
                continue

    killed = []
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread, killed


def test_dask_gives_the_same_numbers(local, tmp_path):
    pytest.importorskip("distributed")

    path = tmp_path / "dask.sqlite"
    with dask_cluster(2, threads=2) as cluster:
        engine = Engine("dask", cluster.scheduler_address)
        outcome = run_study(SCENARIO, path, engine=engine, progress=False)
    assert outcome.done == 8
    assert numbers(path) == local


def test_dask_survives_a_killed_worker(local, tmp_path):
    pytest.importorskip("distributed")
    from distributed import Client

    path = tmp_path / "dask.sqlite"
    with (
        dask_cluster(2) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        workers = list(client.run(os.getpid).values())
        thread, killed = killing(lambda: workers, after=0.5)
        engine = Engine("dask", cluster.scheduler_address)
        outcome = run_study(SCENARIO, path, engine=engine, progress=False)
        thread.join(10)
    assert killed
    assert outcome.done == 8
    assert numbers(path) == local


def test_ray_gives_the_same_numbers_though_a_worker_is_killed(local, tmp_path):
    pytest.importorskip("ray")
    import psutil

    def workers():
        children = psutil.Process().children(recursive=True)
        return [c.pid for c in children if "ray::run_task" in "".join(c.cmdline()[:1])]

    path = tmp_path / "ray.sqlite"
    thread, killed = killing(workers, after=0.5)
    outcome = run_study(SCENARIO, path, engine=Engine("ray"), jobs=2, progress=False)
    thread.join(10)
    assert killed
    assert outcome.done == 8
    assert numbers(path) == local


def test_local_processes_survive_a_killed_worker(local, tmp_path, monkeypatch):
    psutil = pytest.importorskip("psutil")
    before = {c.pid for c in psutil.Process().children(recursive=True)}

    def workers():
        children = psutil.Process().children(recursive=True)
        busy = [c for c in children if c.pid not in before and "tracker" not in str(c.cmdline())]
        return [c.pid for c in busy]

    path = tmp_path / "local.sqlite"
    thread, killed = killing(workers, after=0.7)
    outcome = run_study(SCENARIO, path, jobs=2, progress=False)
    thread.join(10)
    assert killed
    assert outcome.done == 8
    assert numbers(path) == local


@pytest.mark.parametrize("name", ["local", "dask", "ray"])
def test_a_trial_that_kills_its_worker_fails_alone(name, odd, tmp_path, monkeypatch):
    pytest.importorskip({"dask": "distributed", "local": "joblib"}.get(name, name))
    if name == "dask":
        from gpbandits_env.scenarios import engine_dask

        monkeypatch.setattr(engine_dask, "WATCH", 1.0)
    scenario, path = replace(odd("Poison"), trials=1), tmp_path / "poison.sqlite"
    outcome = run_study(scenario, path, jobs=2, engine=Engine(name), progress=False)
    assert outcome.done == 1
    assert [str(f.key) for f in outcome.failures] == ["agent 'odd', trial 0"]
    assert outcome.failures[0].error.startswith("WorkerDied: ")
    with Store.open(path) as store:
        assert store.trials(0, "quick") == [0]


def test_results_come_as_they_are_done_not_in_order(odd):
    """The first task sleeps for a minute; the others are there long before."""
    tasks = plan(odd("Slow"), odd("Slow").cells(), set(), 0)
    labels = [task.key.agent for task in tasks]
    assert labels == ["odd", "quick", "odd", "quick"]
    begun = time.monotonic()
    with engines.results([tasks[0], tasks[1], tasks[3]], 2) as stream:
        found = [record.key for _ in range(2) for record in next(stream)]
    assert found == [tasks[1].key, tasks[3].key]
    assert time.monotonic() - begun < 30  # and the sleeper is not waited for


def test_short_tasks_are_given_by_the_dozen():
    queue = engine_local.Queue(1000, 2)
    assert queue.take() == [0]  # nobody knows yet how long they take
    queue.done_in(0.01)
    assert queue.take() == list(range(1, 11))
    queue.done_in(0.0)
    assert len(queue.take()) == 20  # about 5 ms a task
    queue.done_in(1e-9)
    for _ in range(20):
        queue.done_in(1e-9)
    assert len(queue.take()) == engine_local.MOST
    queue.done_in(3.0)
    assert len(queue.take()) == 1
    end = engine_local.Queue(8, 2)
    end.done_in(1e-6)
    assert [len(end.take()) for _ in range(7)] == [2, 1, 1, 1, 1, 1, 1]  # nobody waits at the end
    assert not end


def test_what_a_process_died_of_is_played_one_by_one_and_given_up_in_the_end():
    queue = engine_local.Queue(12, 1)
    queue.done_in(0.02)
    portion = queue.take()
    assert portion == [0, 1, 2, 3, 4]
    assert not queue.died(portion)
    later = [queue.take() for _ in range(7)]
    while queue:
        later.append(queue.take())
    assert later[-5:] == [[0], [1], [2], [3], [4]]
    assert sorted(i for given in later for i in given) == list(range(12))
    given_up = [queue.died([2]) for _ in range(engine_local.REVIVALS + 1)]
    assert given_up == [False] * engine_local.REVIVALS + [True]


def test_idle_processes_end_and_the_next_task_has_a_new_one(odd, monkeypatch):
    monkeypatch.setattr(engine_local, "IDLE", 1.0)
    worker, task = engine_local.Worker(), plan(odd("Slow"), odd("Slow").cells(), set(), 0)[1]
    try:
        assert worker.play([task]).result(30)[0][0].key == task.key
        deadline = time.monotonic() + 20
        while worker._pool._processes and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not worker._pool._processes
        assert worker.play([task]).result(30)[0][0].key == task.key
    finally:
        worker.end()


def test_on_dask_results_come_as_they_are_done(odd):
    pytest.importorskip("distributed")
    from distributed import Client

    tasks = plan(odd("Slow"), odd("Slow").cells(), set(), 0)
    with dask_cluster(2) as cluster:
        engine = Engine("dask", cluster.scheduler_address)
        with engines.results([tasks[0], tasks[1], tasks[3]], 2, engine) as stream:
            found = [record.key for _ in range(2) for record in next(stream)]
        assert sorted(key.trial for key in found) == [0, 1]
        assert {key.agent for key in found} == {"quick"}
        with Client(cluster, set_as_default=False) as client:
            # The sleeper's owner has left, so that nobody wants it any more.
            assert not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))


def test_a_dask_scheduler_that_is_killed_keeps_what_is_done(odd, tmp_path):
    pytest.importorskip("distributed")

    path = tmp_path / "lost.sqlite"
    scenario = odd("Slow", quick_first=True)
    cluster = dask_cluster(2)
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


def test_a_dask_cluster_without_workers_is_told(odd, caplog, monkeypatch):
    pytest.importorskip("distributed")

    from gpbandits_env.scenarios import engine_dask

    monkeypatch.setattr(engine_dask, "WATCH", 0.2)
    task = plan(odd("Slow", True), odd("Slow").cells(), set(), 0)[1]  # of the quick agent
    with (
        dask_cluster(0) as cluster,
        caplog.at_level(logging.WARNING),
    ):
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


def held(path):
    """How many trials a results file holds, while another process may be writing it."""
    if not path.is_file():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        try:
            return db.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:  # its tables are not there yet
            return 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local", "dask", "ray"])
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(name, tmp_path, as_in_a_terminal):
    """About a minute each: the command line, interrupted as a terminal does it."""
    pytest.importorskip({"dask": "distributed", "local": "psutil"}.get(name, name))
    path, whole = tmp_path / "stopped.sqlite", tmp_path / "whole.sqlite"
    command = [
        *(sys.executable, "-m", "gpbandits_env.scenarios.cli"),
        *("run", "srinivas2010/se-1d", "--trials", "4", "--horizon", "1500", "--jobs", "2"),
    ]
    subprocess.run([*command, "--out", str(whole)], check=True, capture_output=True, timeout=100)
    resumed = [*command, "--out", str(path), "--engine", name]
    with subprocess.Popen(
        resumed, stderr=subprocess.PIPE, text=True, **as_in_a_terminal
    ) as process:
        while held(path) < 4:
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # workers of this machine get it too
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    assert 4 <= held(path) < 20
    again = subprocess.run(resumed, check=True, capture_output=True, text=True, timeout=200)
    assert "20/20" in again.stderr  # progress
    assert numbers(path) == numbers(whole)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "http://127.0.0.1:9"])
def test_no_dask_cluster_at_the_address(address):
    pytest.importorskip("distributed")
    begun = time.monotonic()
    with (
        pytest.raises(InvalidInput, match="no Dask scheduler answers"),
        engines.results([], 1, Engine("dask", address)),
    ):
        pass
    gc.collect()  # a client that was made in vain would take a minute to go
    assert time.monotonic() - begun < 15


def test_no_ray_cluster_where_auto_says(monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    begun = time.monotonic()
    with (
        pytest.raises(InvalidInput, match="no Ray cluster answers at 'auto'"),
        engines.results([], 1, Engine("ray", "auto")),
    ):
        pass
    assert time.monotonic() - begun < 25


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "head:99999", "nowhere"])
def test_no_ray_cluster_at_the_address(address):
    pytest.importorskip("ray")
    begun = time.monotonic()
    with (
        pytest.raises(InvalidInput, match="no Ray cluster answers"),
        engines.results([], 1, Engine("ray", address)),
    ):
        pass
    assert time.monotonic() - begun < 25


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("daks",), UnknownName),
        (("local", "tcp://x:1"), InvalidInput),
        (("dask", ""), InvalidInput),
        (("ray", " "), InvalidInput),
    ],
)
def test_engines_that_there_are_not(arguments, error):
    with pytest.raises(error):
        Engine(*arguments)


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_missing_extra_is_told_at_once(name, monkeypatch):
    monkeypatch.setitem(sys.modules, engines.CLUSTERS[name], None)  # as if it were not there
    with pytest.raises(MissingExtra, match=rf"pip install 'gpbandits-env\[{name}\]'"):
        Engine(name)

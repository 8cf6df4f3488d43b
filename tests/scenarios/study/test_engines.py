"""Studies on clusters of real worker processes: the same numbers, and killed workers do no harm."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from gpbandits_env.errors import InvalidInput, MissingExtra, UnknownName
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study import engine_local, engines
from gpbandits_env.scenarios.study.engines import Engine
from gpbandits_env.scenarios.study.run import run_study

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


def test_dask_gives_the_same_numbers_though_a_worker_is_killed(local, dask_cluster, tmp_path):
    from distributed import Client

    path = tmp_path / "dask.sqlite"
    with dask_cluster(2, threads=4) as cluster, Client(cluster, set_as_default=False) as client:
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
        return [c.pid for c in children if "ray::run_timed" in "".join(c.cmdline()[:1])]

    path = tmp_path / "ray.sqlite"
    thread, killed = killing(workers, after=0.5)
    outcome = run_study(SCENARIO, path, engine=Engine("ray"), jobs=2, progress=False)
    thread.join(10)
    assert killed
    assert outcome.done == 8
    assert numbers(path) == local


@pytest.mark.slow
def test_a_ray_cluster_of_this_machine_listens_to_it_alone():
    pytest.importorskip("ray")
    import psutil

    with engines.results([], 1, Engine("ray")):
        time.sleep(5.0)  # its agents come later
        found = [
            connection.laddr.ip
            for process in [psutil.Process(), *psutil.Process().children(recursive=True)]
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        ]
    assert found
    assert {address.removeprefix("::ffff:") for address in found} <= {"127.0.0.1", "::1"}


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
def test_a_trial_that_kills_its_worker_fails_alone(name, odd, one_worker, tmp_path, monkeypatch):
    pytest.importorskip({"dask": "distributed", "local": "joblib"}.get(name, name))
    if name == "dask":
        import dask

        # Dask itself does not restart it; otherwise it does so three times.
        monkeypatch.setitem(dask.config.config["distributed"]["scheduler"], "allowed-failures", 0)
        monkeypatch.setattr("gpbandits_env.scenarios.study.engine_dask.WATCH", 1.0)
    else:
        tries = {"local": "engine_local.REVIVALS", "ray": "engine_ray.RETRIES"}[name]
        monkeypatch.setattr(f"gpbandits_env.scenarios.study.{tries}", 1)
    scenario, path = odd("Poison", trials=1), tmp_path / "poison.sqlite"
    jobs = 2 if name == "local" else 1  # one job would be played in this process
    outcome = run_study(scenario, path, jobs=jobs, engine=Engine(name), progress=False)
    assert outcome.done == 1
    assert [str(f.key) for f in outcome.failures] == ["agent 'odd', trial 0"]
    assert outcome.failures[0].error.startswith("WorkerDied: ")
    with Store.open(path) as store:
        assert store.trials(0, "quick") == [0]


@pytest.mark.timeout(60, method="thread")  # otherwise its end hangs too
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_worker_that_dies_while_it_returns_a_result_is_noticed(
    odd, one_worker, tmp_path, monkeypatch
):
    monkeypatch.setattr("gpbandits_env.scenarios.study.engine_local.REVIVALS", 0)
    outcome = run_study(odd("Half", trials=1), tmp_path / "a.sqlite", jobs=2, progress=False)
    assert outcome.done == 1
    assert [str(f.key) for f in outcome.failures] == ["agent 'odd', trial 0"]
    assert outcome.failures[0].error.startswith("WorkerDied: ")


def test_the_pool_may_close_a_pipe_of_the_dead_at_the_same_moment():
    reader, writer = multiprocessing.Pipe(duplex=False)
    close = writer._close

    def close_and_be_closed():  # by the pool's thread, which reads the end before this returns
        close()
        writer.close()

    writer._close = close_and_be_closed
    dead = {1: SimpleNamespace(exitcode=-9)}
    queue = SimpleNamespace(_writer=writer)
    engine_local._end_result_of_dead(SimpleNamespace(_processes=dead, _result_queue=queue))
    with pytest.raises(EOFError):
        reader.recv_bytes()
    writer.close()
    reader.close()


@pytest.mark.skipif(sys.platform == "win32", reason="timers of POSIX")
def test_ctrl_c_meets_no_lock_of_a_future_while_a_run_waits(monkeypatch):
    """An exception between taking a lock and entering its block would leave it held forever."""
    monkeypatch.setattr(engine_local, "LOOK", 1e-5)
    processes, future, held = engine_local.Processes(1), Future(), []
    processes._pools[0] = SimpleNamespace(submit=lambda *_: future, _processes={})
    assert processes.submit([]) is future
    usual = signal.signal(signal.SIGALRM, lambda *_: held.append(future._condition._is_owned()))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        threading.Timer(0.3, future.set_result, [([], 0.0)]).start()
        assert list(processes.wait([future])) == [future]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, usual)
    assert len(held) > 20
    assert not any(held)


@pytest.fixture
def used(monkeypatch):
    """One process, which counts tasks, has done so once and is idle."""
    monkeypatch.setattr(engine_local, "run_timed", len)
    processes = engine_local.Processes(1)
    assert counted(processes, ["a task"]) == 1
    yield processes
    processes.end()


def counted(processes, tasks):
    handle = processes.submit(tasks)
    assert list(processes.wait([handle])) == [handle]
    return processes.result(handle)


def test_a_run_may_end_as_it_hands_out_a_task(used):
    """An exception in the thread of the pool would be printed, and fails this test."""
    thread, ending = used._pools[0]._executor_manager_thread, threading.Event()
    looks = thread.is_shutting_down
    thread.is_shutting_down = lambda: ending.wait(60) and looks()
    used.submit([])
    threading.Timer(0.3, ending.set).start()  # when the end has been announced
    used.end()


def test_a_process_that_was_killed_while_idle_is_replaced(used):
    (process,) = used._pools[0]._processes.values()
    os.kill(process.pid, signal.SIGKILL)
    while used._pools[0]._flags.broken is None:
        time.sleep(0.01)
    assert counted(used, ["a task", "another"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local", "dask", "ray"])
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    name, held, tmp_path, as_in_a_terminal
):
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
    assert "the same command resumes from there" in said
    assert "Traceback" not in said
    assert 4 <= held(path) < 20
    again = subprocess.run(resumed, check=True, capture_output=True, text=True, timeout=200)
    assert "20/20" in again.stderr  # progress
    assert numbers(path) == numbers(whole)


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

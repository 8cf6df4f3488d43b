"""Engines: the same numbers everywhere, and what ends, or is killed, does no harm."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpbandits_env.errors import InvalidInput, MissingExtra, UnknownName
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import engine_local, engines
from gpbandits_env.scenarios.study.engines import Engine


def numbers(path):
    """A digest of all that does not depend on the clock."""
    with Store.open(path) as store:
        return store.digest()


def digests(engine, jobs, folder, *names, **environ):
    """Those of some of the ten studies, without limits on threads in the environment."""
    free = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    script = str(Path(__file__).with_name("ten_studies.py"))
    done = subprocess.run(
        [sys.executable, script, engine, str(jobs), str(folder), *names],
        env=free | environ,
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_numbers_do_not_depend_on_blas_threads(tmp_path):
    """On a small grid the driver's rehearsal makes the sampler that its trials use."""
    one, two = (digests("local", jobs, tmp_path, "grid") for jobs in (1, 2))
    assert one == two


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("name", ["local", "dask", "ray"])
def test_ten_studies_have_the_same_numbers_everywhere(name, started, tmp_path, monkeypatch):
    """About three minutes: with one and two jobs, and with and without a limit on threads."""
    limit, found = {"OPENBLAS_NUM_THREADS": "1"}, []
    alone = digests("local", 1, tmp_path, **limit)
    for variable in [k for k in os.environ if k.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(variable)
    for jobs, environ in [(1, {}), (2, {}), (2, limit)]:
        folder = tmp_path / str(len(found))
        with monkeypatch.context() as patch:
            for variable, value in environ.items():
                patch.setenv(variable, value)  # that of the workers of a cluster too
            with started(name, jobs) as engine:
                where = f"{name}={engine.address or ''}"
                found.append(digests(where, jobs, folder, **environ))
    assert found == [alone] * 3


@pytest.mark.timeout(600)  # much slower where other programs take the processors
def test_on_ray_killed_workers_do_no_harm(check_kills, started, monkeypatch):
    ray = pytest.importorskip("ray")
    from gpbandits_env.scenarios.study import engine_ray

    monkeypatch.setattr(engine_ray, "RETRIES", min(engine_ray.RETRIES, 1))
    with started("ray", 2) as engine:
        check_kills(engine, 2)
    assert not ray.is_initialized()


@pytest.fixture
def used(monkeypatch):
    """One process, which counts tasks, has done so once and is idle."""
    monkeypatch.setattr(engine_local, "run_tasks", len)
    processes = engine_local.Processes(1)
    assert counted(processes, ["a task"]) == 1
    yield processes
    processes.close()


def counted(processes, tasks):
    handle = processes.submit(tasks)
    assert list(processes.wait([handle])) == [handle]
    return processes.result(handle)


def test_a_process_that_was_killed_while_idle_is_replaced(used):
    (process,) = used._processes.values()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert counted(used, ["a task", "another"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local", "dask", "ray"])
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    name, started, held, tmp_path, as_in_a_terminal
):
    """About a minute each: the command line, interrupted as a terminal does it."""
    path, whole = tmp_path / "stopped.sqlite", tmp_path / "whole.sqlite"
    command = [
        *(sys.executable, "-m", "gpbandits_env.scenarios.cli"),
        *("run", "srinivas2010/se-1d", "--trials", "4", "--horizon", "1500", "--jobs", "2"),
    ]
    subprocess.run([*command, "--out", str(whole)], check=True, capture_output=True, timeout=100)
    with started(name, 2) as engine:
        resumed = [*command, "--out", str(path), "--engine", name]
        resumed += ["--address", engine.address] if engine.address else []
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
        (("dask",), InvalidInput),
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

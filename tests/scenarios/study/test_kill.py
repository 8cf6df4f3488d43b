"""A run that is killed or stopped keeps what is done, and resumes to the uninterrupted result."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

# The children are forked from a process that has imported everything, and play the study again.
# Each is killed as it begins an SQL statement, so that kills fall everywhere: before there are
# tables, within a trial and between trials.
DRIVER = """
import json, os, signal, sys
from pathlib import Path
from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.results import store
from gpbandits_env.scenarios.study import run_study

folder = Path(sys.argv[1])
scenario = Scenario(
    id="test/kill", source="", title="", env="gpbandits/StaticGP-v0",
    env_kwargs={"grid": [60], "noise_var": 0.1},
    agents=(AgentEntry("gp-ucb", "gp-ucb"), AgentEntry("ei", "ei")), horizon=8, trials=6,
)
begun, last, connect = 0, 0, store.connect

def count(statement):
    global begun
    begun += 1
    if begun == last:
        os.kill(os.getpid(), signal.SIGKILL)

def counting(*how):
    connection = connect(*how)
    connection.set_trace_callback(count)
    return connection

store.connect = counting

def run(path):
    run_study(scenario, path, jobs=1, progress=False)

def child(path):
    pid = os.fork()
    if pid == 0:
        run(path)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def digest(path):
    with store.Store.open(path) as opened:
        return opened.digest(), len(opened.done())

run(folder / "whole.sqlite")
whole, statements = digest(folder / "whole.sqlite"), begun
killed, kept, same = 0, [], 0
for i in range(8):
    path = folder / f"{i}.sqlite"
    begun, last = 0, 1 + i**2 * statements // 72  # three of them before any trial
    killed += child(path) == -signal.SIGKILL
    last = 0
    kept.append(digest(path)[1] if path.exists() and not store.Store.is_empty(path) else 0)
    same += child(path) == 0 and digest(path) == whole
print(json.dumps({"killed": killed, "kept": kept, "same": same, "total": whole[1]}))
"""

# A terminal that is closed sends SIGHUP too: see below.
MORE = [("SIGINT", 1), ("SIGTERM", 2), ("SIGHUP", 1), ("SIGHUP", 2)]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def test_killed_eight_times_resumes_to_the_uninterrupted_result(tmp_path):
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(tmp_path)],
        capture_output=True, text=True, env=env, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["killed"], result["same"], result["total"]) == (8, 8, 12), result
    assert any(0 < kept < 12 for kept in result["kept"]), result  # between trials


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("SIGINT", 2),
        ("SIGTERM", 1),
        *(pytest.param(*which, marks=pytest.mark.slow) for which in MORE),
    ],
)
def test_a_signal_ends_a_run_and_keeps_what_is_done(name, jobs, tmp_path, as_in_a_terminal):
    command = [
        sys.executable, "-m", "gpbandits_env.scenarios.cli", "run", "srinivas2010/se-1d",
        "--trials", "500", "--horizon", "400", "--jobs", str(jobs), "--out", "a.sqlite",
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        **as_in_a_terminal,
    )
    store = tmp_path / "a.sqlite"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _trials(store) == 0 and process.poll() is None:
        time.sleep(0.05)
    number = getattr(signal, name)
    os.killpg(process.pid, number)  # what a terminal does, or a scheduler
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number, errors
    last = errors.rstrip().splitlines()[-1]
    assert last.startswith(f"stopped: {_trials(store)} of 2500 trials are kept in a.sqlite;")
    assert "the same command resumes from there" in last
    assert "Traceback" not in errors
    assert 0 < _trials(store) < 2500


def test_a_terminal_that_is_closed_ends_a_run(tmp_path, as_in_a_terminal):
    import pty
    import select

    ours, theirs = pty.openpty()
    command = [
        "run", "srinivas2010/se-1d", "--trials", "500", "--horizon", "400", "--jobs", "1",
        "--out", "a.sqlite",
    ]  # fmt: skip
    code = (
        "import fcntl, sys, termios\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        f"import gpbandits_command as c\nc.main({command!r})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, **as_in_a_terminal,
    )  # fmt: skip
    os.close(theirs)
    store, deadline = tmp_path / "a.sqlite", time.monotonic() + 60
    while time.monotonic() < deadline and _trials(store) == 0 and process.poll() is None:
        if select.select([ours], [], [], 0.05)[0]:
            os.read(ours, 4096)
    os.close(ours)
    assert process.wait(30) == 128 + signal.SIGHUP
    assert 0 < _trials(store) < 2500


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_during_imports_is_silent(name, as_in_a_terminal):
    code = (
        "import builtins, os, signal\n"
        "import gpbandits_command as c\n"
        "there = builtins.__import__\n"
        "def importing(name, *args, **more):\n"
        "    if name == 'scipy':\n"
        f"        os.kill(os.getpid(), signal.{name})\n"
        "    return there(name, *args, **more)\n"
        "builtins.__import__ = importing\n"
        "c.main(['run', 'srinivas2010/se-1d', '--out', '/nowhere/a.sqlite'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, **as_in_a_terminal
    )
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == -getattr(signal, name)


def _trials(path):
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as db:
        try:
            return db.execute("SELECT count(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:  # not made yet
            return 0

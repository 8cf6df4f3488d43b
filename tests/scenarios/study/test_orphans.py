"""Workers end with their driver, whatever killed it and whatever they were doing."""

import os
import signal
import subprocess
import sys
import time

import pytest

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(not hasattr(os, "getsid"), reason="needs sessions")

# Trials of 2,000 rounds return more than a pipe holds. Children of `nohup` and of a script's `&`
# ignore two signals.
DRIVER = """
import signal
import sys
from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.study import run_study

if __name__ == "__main__":
    for name in ("SIGHUP", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    scenario = Scenario(
        id="test/orphans", source="", title="", env="gpbandits/StaticGP-v0",
        env_kwargs={"grid": [60], "noise_var": 0.1},
        agents=(AgentEntry("random", "random"),), horizon=int(sys.argv[2]), trials=200,
    )
    run_study(scenario, sys.argv[1], jobs=2, progress=False)
"""


@pytest.fixture
def driver(tmp_path):
    """Start a run in a session of its own, by which its processes are found."""
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    started = []

    def start(horizon):
        command = [sys.executable, "driver.py", str(tmp_path / "a.sqlite"), str(horizon)]
        with open(tmp_path / "stderr", "w", encoding="utf-8") as stderr:
            started.append(
                subprocess.Popen(command, cwd=tmp_path, stderr=stderr, start_new_session=True)
            )
        return started[-1]

    yield start
    for process in started:
        for left in alive(process):
            os.kill(left, signal.SIGKILL)
        process.wait(10)


def alive(process):
    """Those of its session that run."""
    found = []
    for other in psutil.process_iter():
        try:
            if os.getsid(other.pid) == process.pid and other.status() != psutil.STATUS_ZOMBIE:
                found.append(other.pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def until(done, seconds):
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.05)
    return done()


def test_nobody_outlives_a_driver_that_is_killed_at_the_start(driver):
    process = driver(2000)
    assert until(lambda: len(alive(process)) >= 4, 60)
    process.kill()
    assert process.wait(10) == -signal.SIGKILL
    assert until(lambda: not alive(process), 4.0), alive(process)  # an interpreter starts first


def test_a_worker_that_hands_over_a_large_result_is_no_orphan(driver, held, tmp_path):
    """Its driver stands still, so that the pipe is full when it is killed."""
    process = driver(2000)
    assert until(lambda: held(tmp_path / "a.sqlite") > 0, 60)
    process.send_signal(signal.SIGSTOP)
    assert until(lambda: all_wait(process), 60), states(process)
    process.kill()
    assert process.wait(10) == -signal.SIGKILL
    assert until(lambda: not alive(process), 20.0), alive(process)
    assert (tmp_path / "stderr").read_text() == ""  # no word of semaphores


def all_wait(process):
    """Whether each of its session waits or stands still, whenever one looks for a while."""
    looks = []
    while len(looks) < 20 and all(looks):
        looks.append(set(states(process).values()) <= {"sleeping", "stopped"})
        time.sleep(0.01)
    return all(looks)


def states(process):
    return {pid: psutil.Process(pid).status() for pid in alive(process)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_nobody_outlives_a_driver_that_is_killed(name, driver, held, tmp_path):
    """These end a program that uses the library at once; the command line answers two of them."""
    process = driver(2000)
    assert until(lambda: held(tmp_path / "a.sqlite") > 0, 60)
    assert len(alive(process)) >= 4  # two workers and a tracker
    process.send_signal(getattr(signal, name))
    assert process.wait(10) == -getattr(signal, name)
    assert until(lambda: not alive(process), 20.0), alive(process)
    assert (tmp_path / "stderr").read_text() == ""  # no word of semaphores

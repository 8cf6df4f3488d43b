"""Kill runs and workers at random moments: results must be equal, and no process may remain.

    python benchmarks/kills.py --drivers 50 --workers 50

Each round starts a study with two worker processes in a session of its own. It kills the driver
(SIGKILL), checks that no process of the session runs 3 seconds later, and resumes the study; or it
kills one worker and lets the study end. Then the results file must equal that of an undisturbed
run. A kill comes up to half a second after a random number of trials is stored; every tenth driver
is killed while it starts. The exit code is 1 if any round fails. A round takes about 10 seconds.
The script needs psutil, and Linux or macOS.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import psutil

from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import run_study

GRACE = 3.0
SCENARIO = Scenario(
    id="test/kills",
    source="",
    title="",
    env="gpbandits/StaticGP-v0",
    env_kwargs={"grid": [60], "noise_var": 0.1},
    agents=(AgentEntry("gp-ucb", "gp-ucb"), AgentEntry("ei", "ei")),
    horizon=800,
    trials=16,
)


def started(path):
    """Start the study in a process and a session of its own."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    code = 1
    try:
        outcome = run_study(SCENARIO, path, jobs=2, progress=False)
        code = int(outcome.done != outcome.total)
    finally:
        os._exit(code)


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def alive(session):
    """The numbers of the processes of a session that are running."""
    found = {}
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = " ".join(process.cmdline())
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def left_behind(session):
    deadline = time.monotonic() + GRACE
    while (found := alive(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def digest(path):
    with Store.open(path) as store:
        return store.digest()


def kept(path):
    if not path.exists() or Store.is_empty(path):
        return 0
    with Store.open(path) as store:
        return len(store.done())


def waited(pid, path, trials, delay):
    """Wait until the study has stored some trials, and a while longer; whether it still runs."""
    while kept(path) < trials:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return False
        time.sleep(0.05)
    time.sleep(delay)
    return not os.waitpid(pid, os.WNOHANG)[0]


def kill_driver(path, trials, delay):
    """The problems, and the number of trials at the kill; None if the study had ended before."""
    pid, problems = started(path), []
    if not waited(pid, path, trials, delay):
        return [], None
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    if found := left_behind(pid):
        problems.append(f"left behind: {found}")
    done = kept(path)
    if ended(started(path)):
        problems.append("did not resume")
    return problems, done


def kill_worker(path, trials, delay, rng):
    pid, problems = started(path), []
    if not waited(pid, path, max(1, trials), delay):
        return [], None
    workers = [p for p, line in alive(pid).items() if p != pid and "popen_loky" in line]
    if workers:
        os.kill(rng.choice(workers), signal.SIGKILL)
    done = kept(path)
    if ended(pid):
        problems.append("the run failed")
    if found := left_behind(pid):
        problems.append(f"left behind: {found}")
    return problems, done if workers else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drivers", type=int, default=50, help="Drivers to kill.")
    parser.add_argument("--workers", type=int, default=50, help="Workers to kill.")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng, bad = random.Random(given.seed), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert ended(started(folder / "whole.sqlite")) == 0
        whole, total = digest(folder / "whole.sqlite"), 2 * SCENARIO.trials
        rounds = ["driver"] * given.drivers + ["worker"] * given.workers
        killed = dict.fromkeys(("driver", "worker"), 0)
        for i, kind in enumerate(rounds):
            path, trials, delay = (
                folder / f"{i}.sqlite",
                rng.randrange(1, total - 4),
                rng.uniform(0, 0.5),
            )
            if i % 10 == 0:
                trials, delay = 0, rng.uniform(0.0, 3.0)
            if kind == "driver":
                problems, done = kill_driver(path, trials, delay)
            else:
                problems, done = kill_worker(path, trials, delay, rng)
            killed[kind] += done is not None
            if digest(path) != whole:
                problems.append("another store")
            bad += bool(problems)
            words = "; ".join(problems) or "equal, nothing left"
            moment = "missed" if done is None else f"at {done} of {total} trials"
            print(f"{kind} {i}: {moment}: {words}", flush=True)
    print(f"killed: {killed['driver']} drivers, {killed['worker']} workers; {bad} rounds failed")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()

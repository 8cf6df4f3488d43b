"""What a results file notices of an environment: other data and defaults, but no other rounding."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gpbandits_env.envs import gp
from gpbandits_env.errors import StoreError
from gpbandits_env.gp.threads import blas_threads
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study import rehearsal, run_study
from gpbandits_env.scenarios.study.rehearsal import changed, rehearse
from gpbandits_env.scenarios.study.runner import forget_environments, make_agent

READINGS = 20.0 + np.random.default_rng(7).standard_normal((900, 40)).cumsum(axis=1)
REPLAY = Scenario(
    id="own/replay",
    source="a test",
    title="replay",
    env="gpbandits/Replay-v0",
    env_kwargs={"readings": "readings.csv"},
    agents=(AgentEntry("tv-gp-ucb", "tv-gp-ucb", {"epsilon": 0.1}),),
    horizon=5,
    trials=1,
)
RESUME = """
import json, sys
from gpbandits_env.scenarios.study import run_study
from gpbandits_env.scenarios.study.rehearsal import rehearse
from test_rehearsal import REPLAY

for trials in map(int, sys.argv[1:]):
    outcome = run_study(REPLAY.select(trials=trials), "a.sqlite", jobs=1, progress=False)
problem, _ = rehearse(REPLAY.cells()[0])
print(json.dumps([outcome.done, problem.kernel.covariance.tolist()]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(READINGS)
    forget_environments()
    return tmp_path


def write(readings):
    np.savetxt("readings.csv", readings, delimiter=",")


def resumed(trials, **environ):
    """Run so many trials in a process of its own; their number, and the covariance of the arms."""
    free = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    places = os.pathsep.join([os.path.dirname(__file__), free.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", RESUME, str(trials)],
        env=free | {"PYTHONPATH": places} | environ,
        check=False,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_run_resumes_on_another_processor_and_with_other_threads(folder):
    here, covariance = resumed(1, OPENBLAS_NUM_THREADS="1")
    older, other = resumed(2, OPENBLAS_CORETYPE="Nehalem")
    assert (here, older, resumed(3, OPENBLAS_NUM_THREADS="2")[0]) == (1, 2, 3)
    with closing(sqlite3.connect("a.sqlite")) as db:
        sessions = [json.loads(row[0]) for row in db.execute("SELECT info FROM sessions")]
    if sessions[0]["machine"]["blas"] != sessions[1]["machine"]["blas"]:  # it has other kernels
        assert covariance != other
    assert [s["blas_threads"] for s in sessions[::2]] == [1, min(2, os.cpu_count())]


def study(scenario=REPLAY):
    return run_study(scenario, "a.sqlite", jobs=1, progress=False)


def test_the_driver_computes_with_one_blas_thread(folder, monkeypatch):
    """In its rehearsal and for theory curves: trials and files get what it has computed."""
    found = {}

    def curve(self, problem, horizon):
        found["curve"] = blas_threads()
        return np.ones(horizon)

    def counted(*given):
        found["rehearsal"] = blas_threads()
        return make_agent(*given)

    monkeypatch.setattr(rehearsal, "make_agent", counted)
    monkeypatch.setattr(rehearsal.BOUNDS.members["theorem1"], "curve", curve)
    with threadpool_limits(2):
        static = replace(REPLAY, env="gpbandits/Table-v0")
        study(replace(static, bounds=({"type": "theorem1"},)))
        assert blas_threads() == 2
    assert found == {"rehearsal": 1, "curve": 1}


@pytest.mark.parametrize("row", [10, -1])  # one that agents know, and one of the test
def test_another_reading_is_noticed(folder, row):
    study()
    assert study().done == 1
    other = READINGS.copy()
    other[row, 3] *= 1.0 + 1e-4
    write(other)
    with pytest.raises(StoreError, match="its environment's data or defaults were different"):
        study()


@pytest.mark.parametrize("change", [{"lengthscale": 0.2000001}, {"type": "matern52"}])
def test_another_default_is_noticed(folder, monkeypatch, change):
    scenario = replace(REPLAY, env="gpbandits/StaticGP-v0", env_kwargs={"grid": [9]})
    scenario = replace(scenario, agents=(AgentEntry("ei", "ei"),))
    study(scenario)
    assert study(scenario).done == 1
    monkeypatch.setattr(gp, "DEFAULT_KERNEL", gp.DEFAULT_KERNEL | change)
    with pytest.raises(StoreError, match="its environment's data or defaults were different"):
        study(scenario)


def test_each_number_counts_and_its_last_bits_do_not(folder):
    def description(readings):
        cell = replace(REPLAY, env_kwargs={"readings": readings.tolist()}).cells()[0]
        return json.loads(json.dumps(rehearse(cell)[1]))

    readings = READINGS[:150]
    standardized = (readings - readings.mean(axis=0)) / readings.std(axis=0)
    known = description(standardized)
    rng = np.random.default_rng(0)
    assert not changed(known, description(standardized * (1.0 + 1e-15 * rng.uniform(-1, 1))))
    for row, column in zip(rng.integers(150, size=20), rng.integers(40, size=20), strict=True):
        other = standardized.copy()
        other[row, column] += 1.5e-6
        assert changed(known, description(other))
    assert changed(known, description(standardized[:, ::-1]))
    assert changed(known, description(standardized[::-1]))

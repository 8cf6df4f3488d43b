"""Agents and drifts of one's own, from a module beside a scenario file."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.study.files import load

MODULE = """
from dataclasses import dataclass
import numpy as np
from gpbandits_env.agents import GPAgent
from gpbandits_env.agents.acquisitions import LCB
from gpbandits_env.rewards.drift import DRIFTS, Drift

class Cautious(GPAgent):
    def __init__(self, problem, rng, **parts):
        super().__init__(problem, rng, LCB(4.0), **parts)

@DRIFTS.register("NAME-pace")
@dataclass(frozen=True)
class Pace(Drift):
    most: float = 0.05

    def step(self, memory, fresh, t, rng):
        epsilon = rng.uniform(0.0, self.most)
        return (np.sqrt(1.0 - epsilon) * memory[0] + np.sqrt(epsilon) * fresh(),)
"""

FILE = """
horizon = 5
trials = 4
[environment]
id = "NAME:gpbandits/Drifting-v0"
grid = [6]
drift = { type = "NAME-pace", most = 0.1 }
[[agents]]
agent = "NAME:Cautious"
settings = { epsilon = 0.05 }
[[agents]]
agent = "random"
"""


def declared(folder, name, module=MODULE, file=FILE):
    """A module and a scenario file of names of their own: modules stay imported."""
    (folder / f"{name}.py").write_text(module.replace("NAME", name), encoding="utf-8")
    path = folder / "mine.toml"
    path.write_text(file.replace("NAME", name), encoding="utf-8")
    return path


def played(path, out, *more):
    result = CliRunner().invoke(main, ["run", str(path), "--out", str(out), *more])
    assert result.exit_code == 0, result.output
    assert "Cautious" in result.output
    report = CliRunner().invoke(main, ["report", str(out), "--json"])
    return json.loads(report.output)


def test_they_play_in_worker_processes_as_in_this_one(tmp_path, unplotted, one_worker):
    path = declared(tmp_path, "own_of_two")
    one, two = (played(path, tmp_path / f"{n}.sqlite", "--jobs", str(n)) for n in (1, 2))
    assert one["digest"] == two["digest"]


def test_a_drift_needs_no_registration(tmp_path, unplotted, one_worker):
    named = FILE.replace('"NAME-pace"', '"NAME:Pace"').replace("NAME:gpbandits", "gpbandits")
    module = MODULE.replace("@DRIFTS", "# @DRIFTS")
    path = declared(tmp_path, "own_named", module, named)
    one, two = (played(path, tmp_path / f"{n}.sqlite", "--jobs", str(n)) for n in (1, 2))
    assert one["digest"] == two["digest"]


def test_they_are_added_to_a_scenario_by_name(tmp_path, unplotted):
    path = declared(tmp_path, "own_added", file=FILE.replace('"NAME:Cautious"', '"ei"'))
    names = ["--agents", "random,own_added:Cautious", "--jobs", "1"]
    played(path, tmp_path / "added.sqlite", *names)


def test_they_are_found_in_the_current_folder(tmp_path, unplotted, monkeypatch):
    declared(tmp_path, "own_here")
    monkeypatch.chdir(tmp_path)
    small = ["--agents", "own_here:Cautious", "--trials", "1", "--horizon", "3", "--jobs", "1"]
    played("srinivas2010/se-1d", tmp_path / "here.sqlite", *small)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("NAME:Cautious", "NAME:Careless"), r"agents\[0\]\.agent: .*Careless"),
        (("NAME:Cautious", "nowhere_at_all:Cautious"), r"agents\[0\]\.agent: .*cannot be imported"),
        (("NAME:gpb", "nowhere_at_all:gpb"), r"environment\.id: .*'nowhere_at_all'"),
    ],
)
def test_an_error_names_the_key(tmp_path, change, message):
    path = declared(tmp_path, "own_wrong", file=FILE.replace(*change))
    with pytest.raises(InvalidInput, match=message):
        load(path)


NOTEBOOK = """
import threading
from dataclasses import dataclass
from gpbandits_env.agents import GPAgent
from gpbandits_env.agents.acquisitions import LCB
from gpbandits_env.rewards.drift import DRIFTS, Drift
from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import engine_local, run_study

several = engine_local.Processes
engine_local.Processes = lambda jobs: several(1)  # each takes a second to start
held = 2.0

class Cautious(GPAgent):
    def __init__(self, problem, rng, **parts):
        assert held
        super().__init__(problem, rng, LCB(2.0), **parts)

cell = '''
@DRIFTS.register("notebook-sign")
@dataclass(frozen=True)
class Sign(Drift):
    factor: float = FACTOR

    def step(self, memory, fresh, t, rng):
        return (self.factor * memory[0],)
'''
mine = Scenario(
    id="my/notebook", source="", title="", env="gpbandits/Drifting-v0", horizon=5, trials=3,
    env_kwargs={"grid": [6], "drift": {"type": "notebook-sign"}},
    agents=(AgentEntry("cautious", "__main__:Cautious"),),
)

def run(name, jobs):
    try:
        outcome = run_study(mine, f"{name}.sqlite", jobs=jobs, progress=False)
    except InvalidInput as error:
        print("refused:", error)
    else:
        with Store.open(outcome.path) as store:
            print(outcome.done, len(outcome.failures), store.digest())

if __name__ == "__main__":
    for name, factor, jobs in (("a", "1.0", 1), ("b", "-1.0", 1), ("c", "-1.0", 2)):
        exec(cell.replace("FACTOR", factor))
        run(name, jobs)
    held = threading.Lock()
    run("d", 1)
    run("e", 2)
"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """The folder of a notebook that has run, and what it printed of each of its five runs."""
    folder = tmp_path_factory.mktemp("notebook")
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout.splitlines()


def test_an_agent_and_a_drift_of_a_notebook_run_in_worker_processes(notebook):
    _, (_, one, two, *_) = notebook
    assert one.startswith("3 0 ")
    assert one == two


def test_a_drift_that_a_notebook_registers_runs_as_it_was_last_defined(notebook):
    _, (first, changed, in_workers, *_) = notebook
    assert first.startswith("3 0 ")
    assert changed != first
    assert in_workers == changed


def test_a_class_that_workers_cannot_get_is_refused_before_anything_runs(notebook):
    folder, (*_, one, two) = notebook
    assert one.startswith("3 0 ")
    assert two.startswith("refused: Cautious cannot be sent to worker processes")
    assert "jobs=1" in two
    assert not (folder / "e.sqlite").exists()

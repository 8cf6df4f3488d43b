import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import Engine, Outcome, engine_local, run_study, run_trial
from gpbandits_env.scenarios.study.runner import FOLDERS, look_in

Run = Callable[..., Outcome]


@pytest.fixture(scope="session")
def tiny() -> Scenario:
    """A scenario with a grid that is played in a fraction of a second."""
    return Scenario(
        id="test/tiny",
        source="none",
        title="a small world",
        env="gpbandits/StaticGP-v0",
        env_kwargs={"grid": [30], "kernel": {"type": "se", "lengthscale": 0.2}},
        grid={"noise_var": (0.01, 0.1)},
        agents=(
            AgentEntry("gp-ucb", "gp-ucb", {"beta": {"type": "finite", "delta": 0.1}}),
            AgentEntry("ei", "ei"),
            AgentEntry("random", "random"),
        ),
        alternatives=(AgentEntry("mpi/no-margin", "mpi", {"margin": 0.0}),),
        horizon=12,
        trials=4,
    )


@pytest.fixture
def run(tiny: Scenario, tmp_path: Path) -> Run:
    """Run the tiny scenario, or another one, quietly."""

    def go(name: str = "a.sqlite", scenario: Scenario = tiny, **options: object) -> Outcome:
        return run_study(scenario, tmp_path / name, progress=False, **{"jobs": 1, **options})

    return go


@pytest.fixture(scope="session")
def tiny_results(tiny: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results file of the tiny scenario, which nobody changes."""
    return run_study(
        tiny, tmp_path_factory.mktemp("tiny") / "a.sqlite", jobs=1, progress=False
    ).path


@pytest.fixture
def stored(tiny_results: Path, tmp_path: Path) -> Path:
    """A copy of the results file of the tiny scenario, where `run` would put it."""
    return Path(shutil.copy(tiny_results, tmp_path / "a.sqlite"))


@pytest.fixture
def unplotted(monkeypatch: pytest.MonkeyPatch) -> None:
    """`gpbandits run` draws nothing: that takes longer than a small study."""
    monkeypatch.setattr("gpbandits_env.scenarios.cli.run.plot", lambda store: [])


@pytest.fixture
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs on more than one job get one worker process: each takes a second to start."""
    several = engine_local.Processes
    monkeypatch.setattr(engine_local, "Processes", lambda jobs: several(1))


@pytest.fixture
def as_in_a_terminal():
    """Keywords of `subprocess.Popen`: a group of its own that heeds Ctrl-C and a closed terminal.

    Background jobs of a shell, as the tests themselves may be, are made to ignore them.
    """

    def heed():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    return {"start_new_session": True, "preexec_fn": heed}


ODD = """
import os, signal, time
from pathlib import Path
from gpbandits_env.agents import Agent
from gpbandits_env.agents.algorithms.gp_ucb import GPUCB

class Once(GPUCB):
    def ask(self):
        mark = Path(__file__).with_name("died")
        if self.round == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().ask()

class Poison(Agent):
    def ask(self):
        os._exit(3)

class Slow(Agent):
    def ask(self):
        time.sleep(60.0)
"""


@pytest.fixture
def odd(tiny: Scenario, tmp_path: Path) -> Iterator[Callable[..., Scenario]]:
    """A short study of agents of a module of one's own, and of a quick one: odd("Poison").

    "Once" kills its worker in its first trial, and leaves the file "died" in the folder.
    """
    (tmp_path / "odd_learners.py").write_text(ODD, encoding="utf-8")
    look_in(str(tmp_path))

    def made(*names: str, quick_first: bool = False, **changes: object) -> Scenario:
        quick = AgentEntry("quick", "random")
        own = [AgentEntry(name.lower(), f"odd_learners:{name}") for name in names]
        agents = (quick, *own) if quick_first else (*own, quick)
        usual = {"trials": 2, "horizon": 5, "grid": ()}
        return replace(tiny, agents=agents, **{**usual, **changes})

    yield made
    sys.path.remove(str(tmp_path))
    FOLDERS.remove(str(tmp_path))
    sys.modules.pop("odd_learners", None)  # the next test has its own


@pytest.fixture
def check_kills(odd: Callable[..., Scenario], tmp_path: Path) -> Callable[[Engine, int], None]:
    """A trial whose worker dies is played again, and one that always kills its worker fails alone.

    All trials are what they are when each is played alone, in this process.
    """

    def check(engine: Engine, jobs: int) -> None:
        # Results of 1500 rounds are no short messages.
        scenario = odd("Poison", "Once", trials=1, horizon=1500)
        path = tmp_path / "a.sqlite"
        outcome = run_study(scenario, path, jobs=jobs, engine=engine, progress=False)
        assert (tmp_path / "died").exists()
        assert outcome.done == 2
        assert [str(f.key) for f in outcome.failures] == ["agent 'poison', trial 0"]
        assert outcome.failures[0].error.startswith("WorkerDied: ")
        with Store.open(path) as store:
            for key in store.done():
                for name, array in run_trial(scenario, key.agent, key.trial).rounds.items():
                    assert np.array_equal(store.arrays(0, key.agent, name)[key.trial], array)

    return check


@pytest.fixture
def held() -> Callable[[Path], int]:
    """How many trials a results file holds, while another process may be writing it."""

    def count(path: Path) -> int:
        if not path.is_file():
            return 0
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            try:
                return db.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
            except sqlite3.OperationalError:  # its tables are not there yet
                return 0

    return count

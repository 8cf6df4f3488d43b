import multiprocessing
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.findings import Below, Level
from gpbandits_env.scenarios.study import Outcome, engine_local, run_study
from gpbandits_env.scenarios.study.runner import look_in

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
        findings=(Below("gp-ucb", "random"), Level("gp-ucb", "ei", ("gp-ucb", "ei", "random"))),
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
import os, time
from multiprocessing.connection import Connection
from gpbandits_env.agents import Agent

class Half(Agent):
    def ask(self):
        def half(connection, data):
            os.write(connection.fileno(), data[: len(data) // 2])
            os._exit(3)

        Connection._send = half  # what returns the results
        raise ValueError

class Poison(Agent):
    def ask(self):
        os._exit(3)

class Slow(Agent):
    def ask(self):
        time.sleep(60.0)
"""


@pytest.fixture
def odd(tiny: Scenario, tmp_path: Path) -> Callable[..., Scenario]:
    """A short study of a quick agent and one of a module of one's own: odd("Poison")."""
    (tmp_path / "odd_learners.py").write_text(ODD, encoding="utf-8")
    look_in(str(tmp_path))
    quick = AgentEntry("quick", "random")

    def made(name: str, trials: int = 2, quick_first: bool = False) -> Scenario:
        odd = AgentEntry("odd", f"odd_learners:{name}")
        agents = (quick, odd) if quick_first else (odd, quick)
        return replace(tiny, agents=agents, trials=trials, horizon=5, grid=(), findings=())

    return made


@pytest.fixture
def dask_cluster(monkeypatch: pytest.MonkeyPatch):
    """Start a cluster without a server at a port that another test's cluster has.

    Its workers are forked from a process that has imported everything. (The clusters that the
    library makes itself start workers as Dask does by default, which takes seconds.)
    """
    distributed = pytest.importorskip("distributed")
    import dask

    if "forkserver" in multiprocessing.get_all_start_methods():  # not on Windows
        worker = dask.config.config["distributed"]["worker"]
        monkeypatch.setitem(worker, "multiprocessing-method", "forkserver")
        # Otherwise Dask replaces the list of modules that follows.
        monkeypatch.setattr("distributed.utils._forkserver_preload_set", True, raising=False)
        modules = ["distributed", "gpbandits_env.scenarios.study.pool"]
        multiprocessing.get_context("forkserver").set_forkserver_preload(modules)

    def start(workers: int, threads: int = 1):
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        )

    return start


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

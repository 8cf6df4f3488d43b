import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gpbandits_env.scenarios import AgentEntry, Outcome, Scenario, run_study
from gpbandits_env.scenarios.findings import below, level

Run = Callable[..., Outcome]


@pytest.fixture
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
        findings=(below("gp-ucb", "random"), level("gp-ucb", "ei", ("gp-ucb", "ei", "random"))),
    )


@pytest.fixture
def run(tiny: Scenario, tmp_path: Path) -> Run:
    """Run the tiny scenario, or another one, quietly."""

    def go(name: str = "a.sqlite", scenario: Scenario = tiny, **options: object) -> Outcome:
        return run_study(scenario, tmp_path / name, progress=False, **{"jobs": 1, **options})

    return go


@pytest.fixture
def as_in_a_terminal():
    """Keywords of `subprocess.Popen`: a group of its own that heeds Ctrl-C.

    Background jobs of a shell, as the tests themselves may be, are made to ignore it.
    """
    return {
        "start_new_session": True,
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    }

"""The archive: the rows of every agent of this library on every problem that it can play."""

import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np

import gpbandits_env
from gpbandits_env import agents
from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.metrics import metric_named
from gpbandits_env.scenarios.results.evidence import rounded
from gpbandits_env.scenarios.results.references import machine
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study.rehearsal import rehearse
from gpbandits_env.scenarios.suite.rows import BITS, FILE, Row, load, log_spaced
from gpbandits_env.scenarios.suite.suites import frozen, settings_hash

ABSENT = "absent.json"
# Published algorithms that are settings of an agent.
VARIANTS = (
    AgentEntry("gp-ucb/irgp", "gp-ucb", {"beta": {"type": "randomised"}}),
    AgentEntry(
        "gp-ucb/ec",
        "gp-ucb",
        {"beta": {"type": "robust", "base": {"type": "finite", "scale": 0.2}, "misfit": 0.01}},
    ),
    AgentEntry("ei/randomised-believer", "ei", {"batch": "randomised-believer"}),
)
# Optimizers of other libraries. They are slow, and play in boxes only.
OTHERS = (
    AgentEntry("botorch/logei", "botorch", {"acquisition": "qlogei", "learn": True}),
    AgentEntry("optuna/gp", "optuna", {"sampler": "GPSampler"}),
    AgentEntry("optuna/tpe", "optuna", {"sampler": "TPESampler"}),
)


@cache
def entries() -> dict[str, AgentEntry]:
    """The agents of the archive by label: all of this library with their defaults, and others."""
    own = [AgentEntry(name, name) for name in agents.names()]
    return {entry.label: entry for entry in (*own, *VARIANTS, *OTHERS)}


def folder(suite: str) -> Traversable:
    """Where the archive of a suite is kept."""
    return files("gpbandits_env.scenarios").joinpath(f"suite/archive/{suite}")


@cache
def archived(suite: str) -> dict[tuple[str, str], Row]:
    """The rows of the archive: (agent, problem) -> row. Cost: half a second."""
    return load(folder(suite).joinpath(FILE))


def absent(suite: str) -> dict[str, dict[str, list[str]]]:
    """The rows that the archive does not have: agent -> the reason -> problems."""
    file = folder(suite).joinpath(ABSENT)
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def row_of(
    problem: Scenario, entry: AgentEntry, regrets: Array, seconds: Array, seed: int = 0
) -> Row:
    """The row of an agent.

    Args:
        problem: the problem.
        entry: the agent.
        regrets: (trials, T, m) the regret of every action.
        seconds: (trials, T) the time of every round, asking and telling.
        seed: the base seed of the instances.
    """
    curve, rounds = metric_named(problem.metric).curve, log_spaced(problem.horizon)
    here = machine()
    needed = {"botorch": ("botorch", "torch"), "optuna": ("optuna",)}.get(entry.agent, ())
    libraries = [f"{name} {version(name)}" for name in needed]
    return Row(
        entry.label,
        problem.id,
        rounds,
        rounded(np.stack([curve(each)[rounds - 1] for each in regrets]), BITS),
        float(f"{np.median(seconds.mean(axis=1)):.3g}"),
        settings_hash(entry),
        np.array([digest(each) for each in regrets], np.uint32),
        frozen(problem, seed),
        gpbandits_env.__version__,
        ", ".join([here["processor"], *here["blas"], *libraries]),
    )


def refusal(problem: Scenario, entry: AgentEntry) -> str | None:
    """Why an agent cannot play a problem; None if it can. Other mistakes are raised."""
    try:
        rehearse(replace(problem, agents=(entry,)).cells()[0])
    except InvalidInput as error:
        said = re.sub(r"^agents.0.[.\w]*( \(.*?\))?: ", "", str(error))
        if error.__cause__ is not None:  # its code has a mistake
            raise InvalidInput(f"{problem.id}: {said}") from error.__cause__
        return said
    return None


def digest(regret: Array) -> int:
    """The first 4 bytes of the hash of a trial's (T, m) regret."""
    exact = np.ascontiguousarray(regret, "<f8").tobytes()
    return int.from_bytes(hashlib.sha256(exact).digest()[:4], "little")


def current(row: Row, problem: Scenario, entry: AgentEntry) -> bool:
    """Whether a row is of this problem and of this agent with its present defaults."""
    return (row.frozen, row.settings) == (frozen(problem), settings_hash(entry))

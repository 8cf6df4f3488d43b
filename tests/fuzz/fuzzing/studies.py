"""Bad scenarios, bad scenario files, and damaged results files."""

import copy
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fuzzing.case import Case, nothing
from fuzzing.declared import spoilt
from fuzzing.values import mutated, near_miss, pick

from gpbandits_env.scenarios import AgentEntry, Scenario
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.results.export import export
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import run_study
from gpbandits_env.scenarios.study.files import load, read
from gpbandits_env.scenarios.study.rehearsal import resolved
from gpbandits_env.scenarios.suite.comparison import compare, gather

DECLARED: dict[str, Any] = {
    "id": "my/small",
    "title": "a small world",
    "source": "a file",
    "horizon": 3,
    "trials": 2,
    "metric": "average_regret",
    "environment": {"id": "gpbandits/MarkovGP-v0", "grid": [4], "epsilon": 0.1},
    "agents": [
        {"agent": "tv-gp-ucb", "label": "tv", "settings": {"epsilon": 0.01}, "note": "slow"},
        {"agent": "random"},
    ],
    "grid": {"epsilon": [0.1, 0.2], "agents.tv.epsilon": [0.0, 0.5]},
}
TOML = """\
id = "my/small"
title = "a small world"
horizon = 3
trials = 2
metric = "average_regret"

[environment]
id = "gpbandits/MarkovGP-v0"
grid = [4]
epsilon = 0.1

[environment.kernel]
type = "se"
lengthscale = 0.2

[[agents]]
agent = "tv-gp-ucb"
label = "tv"
settings = { epsilon = 0.01 }

[[agents]]
agent = "random"
"""
LINES = (
    "horizon = 0",
    "horizon = -1",
    "horizon = 1e3",
    "trials = 1000000000000000000",
    "trials = true",
    'trials = "2"',
    "epsilon = nan",
    "epsilon = inf",
    "epsilon = 2",
    "epsilon = [0.1]",
    "grid = []",
    "grid = [0]",
    "grid = 1979-05-27",
    "grid = [4000000000000000000]",
    'grid = ["a"]',
    "lengthscale = -1",
    "lengthscale = {}",
    'type = "sq"',
    'agent = "gp"',
    'label = "a,b"',
    'label = ""',
    "settings = 3",
    "settings = { espilon = 0.1 }",
    "[environment]",
    "[[agents]]",
    "[agents]",
    "[grid]",
    "x = [[[[1]]]]",
    "]",
    '"',
    "\x00",
    "= 3",
)


def read_case(rng: np.random.Generator, folder: Path) -> Case:
    """A scenario file's contents with something wrong inside."""
    given = mutated(rng, copy.deepcopy(DECLARED))
    return Case("files.read", given, lambda: read(given), use=_resolve)


def _resolve(scenario: Scenario) -> None:
    """What a run does first."""
    scenario.cells()
    resolved(scenario)
    scenario.select(["all"], 1, 2)


ENTRIES = (AgentEntry("a", "gp-ucb"), AgentEntry("b", "random"))
GOOD: dict[str, Any] = {
    "id": "my/small",
    "source": "",
    "title": "",
    "env": "gpbandits/StaticGP-v0",
    "env_kwargs": {"grid": [4]},
    "agents": ENTRIES,
    "horizon": 3,
    "trials": 2,
    "alternatives": (AgentEntry("c", "ei"),),
    "grid": {"noise_var": (0.1, 0.2)},
    "metric": "average_regret",
    "openings": (0, 1),
    "selective": False,
    "initial": 2,
    "initial_counts": True,
    "store_actions": True,
}
SELECTION: dict[str, Any] = {"agents": ["a", "c"], "trials": 2, "horizon": 3}
ENTRY: dict[str, Any] = {"label": "a", "agent": "ei", "settings": {"epsilon": 0.1}, "note": ""}


def scenario_case(rng: np.random.Generator, folder: Path) -> Case:
    """A scenario or an agent's entry made, or a selection, with a bad argument."""
    what = int(rng.integers(4))
    if what == 0:
        entry = spoilt(rng, ENTRY)
        return Case("AgentEntry", entry, lambda: AgentEntry(**entry), use=plain)
    if what == 1:
        chosen = spoilt(rng, SELECTION)
        scenario = Scenario(**GOOD)
        return Case("select", chosen, lambda: scenario.select(**chosen), use=_resolve)
    given = spoilt(rng, GOOD)
    return Case("Scenario", given, lambda: Scenario(**given), use=_resolve)


def toml_case(rng: np.random.Generator, folder: Path) -> Case:
    """A scenario file with a slip in its text."""
    lines = TOML.splitlines()
    place = int(rng.integers(len(lines)))
    action = int(rng.integers(6))
    if action == 0:
        del lines[place]
    elif action == 1:
        lines[place] = str(pick(rng, LINES))
    elif action == 2:
        lines.insert(place, str(pick(rng, LINES)))
    elif action == 3:
        lines[place] = near_miss(rng, lines[place] or "x")
    elif action == 4:
        lines.insert(place, lines[place])
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    if action == 5:
        spot = int(rng.integers(len(text)))
        text = pick(rng, (text[:spot], text[:spot] + rng.bytes(3) + text[spot:]))
    file = folder / "mine.toml"
    file.write_bytes(text)
    return Case("files.load", text.decode("utf-8", "replace"), lambda: load(file), use=_resolve)


SMALL = Scenario(
    id="my/small",
    source="none",
    title="a small world",
    env="gpbandits/StaticGP-v0",
    env_kwargs={"grid": [5]},
    agents=(AgentEntry("gp-ucb", "gp-ucb"), AgentEntry("random", "random")),
    horizon=4,
    trials=2,
)


@cache
def good_store() -> bytes:
    """A small results file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.sqlite"
        run_study(SMALL, path, jobs=1, progress=False)
        return path.read_bytes()


STATEMENTS = (
    "UPDATE meta SET value = '{' WHERE key = 'scenario'",
    "UPDATE meta SET value = '[]' WHERE key = 'scenario'",
    "UPDATE meta SET value = '{}' WHERE key = 'scenario'",
    "UPDATE meta SET value = 'null' WHERE key = 'scenario'",
    "UPDATE meta SET value = x'ff00' WHERE key = 'scenario'",
    "DELETE FROM meta",
    "DELETE FROM meta WHERE key = 'scenario'",
    "UPDATE meta SET value = '3' WHERE key = 'problems'",
    "DROP TABLE arrays",
    "DROP TABLE seconds",
    "DROP TABLE trials",
    "DROP TABLE meta",
    "UPDATE arrays SET data = x'00'",
    "UPDATE arrays SET data = 'text'",
    "UPDATE arrays SET data = x'789c030000000001'",
    "UPDATE arrays SET shape = '[3]'",
    "UPDATE arrays SET shape = '{'",
    "UPDATE arrays SET shape = '[-1, 0]'",
    "UPDATE arrays SET dtype = 'zz'",
    "UPDATE arrays SET dtype = '|O'",
    "UPDATE arrays SET dtype = '<f4'",
    "DELETE FROM arrays WHERE name = 'regret'",
    "DELETE FROM arrays WHERE name = 'optimum' AND trial = 0",
    "UPDATE seconds SET data = x'ff'",
    "DELETE FROM seconds",
    "DELETE FROM trials",
    "UPDATE trials SET rounds = 'x'",
    "UPDATE trials SET agent = 'nobody' WHERE agent = 'random'",
    "PRAGMA user_version = 9",
    "PRAGMA application_id = 1",
    "ALTER TABLE arrays RENAME COLUMN data TO dat",
)


def _damaged(rng: np.random.Generator, path: Path) -> str:
    """A results file with one thing wrong; in words what."""
    good, how = good_store(), int(rng.integers(9))
    if how == 0:
        end = int(rng.integers(len(good)))
        path.write_bytes(good[:end])
        return f"cut off after {end} bytes"
    if how in (1, 2):
        spot, size = int(rng.integers(len(good))), int(pick(rng, (1, 8, 600)))
        path.write_bytes(good[:spot] + rng.bytes(size) + good[spot + size :])
        return f"{size} random bytes at {spot}"
    if how == 3:
        content = pick(rng, (b"", b"x", b"\x00" * 5000, TOML.encode(), good[:16], b"PAR1"))
        path.write_bytes(content)
        return f"{len(content)} bytes of something else"
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as db, db:
        if how == 4:
            (kept,) = db.execute("SELECT value FROM meta WHERE key = 'scenario'").fetchone()
            scenario = json.loads(kept)
            spoiled = json.dumps(_plain(mutated(rng, scenario)))
            db.execute("UPDATE meta SET value = ? WHERE key = 'scenario'", (spoiled,))
            said = spoiled
        else:
            said = str(pick(rng, STATEMENTS))
            db.execute(said)
    db.close()
    return said


def _plain(value: Any) -> Any:
    """What JSON can hold of it; null where it can hold nothing."""
    try:
        if isinstance(value, dict):
            return {key: _plain(item) for key, item in value.items() if isinstance(key, str)}
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return None


def _report(path: Path) -> None:
    with Store.open(path) as store:
        report(store).to_dict()


def _digest(path: Path) -> None:
    with Store.open(path) as store:
        store.digest()


def _export(path: Path) -> None:
    with Store.open(path) as store:
        export(store, path.with_suffix(".csv"))


def _compare(path: Path) -> None:
    compare(gather([path], "average_regret"))


def _extend(path: Path) -> None:
    run_study(SMALL.select(None, 3), path, jobs=1, progress=False)


READERS: tuple[Callable[[Path], None], ...] = (_report, _digest, _export, _compare, _extend)


def store_case(rng: np.random.Generator, folder: Path) -> Case:
    """A damaged results file read, compared, exported or added to."""
    empty(folder)
    path = folder / "a.sqlite"
    said = _damaged(rng, path)
    reader = pick(rng, READERS)
    return Case(reader.__name__, said, lambda: reader(path), lambda: contents(folder), nothing)


def empty(folder: Path) -> None:
    """Remove all that is in a folder."""
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file and folder below a folder."""
    found = sorted(folder.rglob("*"))
    return {str(f.relative_to(folder)): f.read_bytes() if f.is_file() else b"/" for f in found}

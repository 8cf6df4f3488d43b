"""A whole study: plan what is missing, have it played, write it down."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from gpbandits_env.arrays import whole
from gpbandits_env.errors import ClusterLost, StoreError
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios.folders import looked_in
from gpbandits_env.scenarios.results.machine import machine, versions
from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Cell, Scenario
from gpbandits_env.scenarios.study import engines
from gpbandits_env.scenarios.study.runner import Task, make_agent, make_env

# What shapes a result; a store with other values of these is of another study.
IDENTITY = (
    *("id", "env", "env_kwargs", "points", "horizon", "seed"),
    *("openings", "selective", "initial", "store_actions"),
)


@dataclass(frozen=True)
class Outcome:
    """What a run has come to.

    Args:
        path: the store.
        done: trials in it (one agent in one world each).
        total: trials asked for.
        failures: those that raised.
        interrupted: whether Ctrl-C ended the run.
    """

    path: Path
    done: int
    total: int
    failures: tuple[TrialFailure, ...]
    interrupted: bool


def run_study(
    scenario: Scenario,
    path: str | Path,
    *,
    jobs: int | None = None,
    engine: engines.Engine = engines.LOCAL,
    seed: int = 0,
    fresh: bool = False,
    progress: bool = True,
) -> Outcome:
    """Play what a store does not hold yet, and keep it there.

    A store may be extended: by more trials, and by more agents. With everything else the same,
    the result does not depend on ``jobs``, the engine, or how often the run was stopped.

    Args:
        scenario: what to play.
        path: the store; made if it is not there, resumed if it is.
        jobs: worker processes; None for one a processor.
        engine: where they run: this machine, or a Dask or Ray cluster.
        seed: the base seed of all streams.
        fresh: begin anew, deleting the store that is there.
        progress: show a progress bar on stderr.
    Raises:
        StoreError: the file is of another study, or cannot be read or written.
        ClusterLost: the cluster went away; what it had finished is kept.
        InvalidInput, UnknownName, MissingData: the scenario cannot be played; nothing was.
    """
    jobs = engines.default_jobs() if jobs is None else whole(jobs, "jobs")
    whole(seed, "seed", 0, None)
    cells = scenario.cells()
    problems = [_rehearse(scenario, cell) for cell in cells]
    meta = {
        "scenario": scenario.resolved(seed),
        "versions": versions(),
        "machine": machine(),
        "problems": [describe(problem) for problem in problems],
    }
    with _open(Path(path), meta, fresh) as store:
        _keep_bounds(store, scenario, cells, problems)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        store.add_session(now, {"jobs": jobs, "versions": versions(), "machine": machine()})
        wanted = _wanted(scenario, cells)
        tasks = plan(scenario, cells, store.done(), seed)
        try:
            interrupted = _play(store, tasks, jobs, engine, len(wanted), progress)
        except ClusterLost as error:
            kept = f"{len(store.done() & wanted)} of {len(wanted)} trials are kept in {store.path}"
            raise ClusterLost(f"{error}. {kept}; the same command goes on from there") from error
        return Outcome(
            store.path,
            len(store.done() & wanted),
            len(wanted),
            tuple(store.failures()),
            interrupted,
        )


def plan(scenario: Scenario, cells: Sequence[Cell], done: set[TrialKey], seed: int) -> list[Task]:
    """The trials that are missing, in declared order: cells, then worlds, then agents."""
    keys = [
        (cell, TrialKey(cell.index, entry.label, trial))
        for cell in cells
        for trial in range(scenario.trials)
        for entry in cell.agents
    ]
    folders = looked_in()
    return [
        Task(scenario.id, scenario.env, cell, key, seed, folders)
        for cell, key in keys
        if key not in done
    ]


def describe(problem: Problem) -> dict[str, Any]:
    """What learners are told, in short: a change of data or of defaults changes it."""
    mean = problem.prior_mean
    return {
        "domain": _digest(problem.domain.to_dict()),
        "kernel": _digest(problem.kernel.to_dict()),
        "prior_mean": _digest(mean if isinstance(mean, float) else mean.tolist()),
        "noise_var": problem.noise_var,
        "batch_size": problem.batch_size,
    }


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=lambda a: a.tolist())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rehearse(scenario: Scenario, cell: Cell) -> Problem:
    """Make the environment and every agent once, so that mistakes are told before work starts."""
    env = make_env(scenario.env, cell.made_with, cell.horizon)
    for entry in cell.agents:
        make_agent(entry, env, 0)
    problem: Problem = env.unwrapped.problem  # type: ignore[attr-defined]
    return problem


def _open(path: Path, meta: Mapping[str, Any], fresh: bool) -> Store:
    if not os.path.exists(path) or Store.is_empty(path):  # a name too long does not exist
        return Store.create(path, meta)
    if fresh:
        Store.open(path).close()  # never delete what is not a store
        _remove(path)
        return Store.create(path, meta)
    store = Store.open(path, write=True)
    try:
        _merge(store, meta)
    except BaseException:
        store.close()
        raise
    return store


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None


def _merge(store: Store, meta: Mapping[str, Any]) -> None:
    """Check that the store is of the same study, and widen it to what is asked for now."""
    old, new = store.scenario, meta["scenario"]
    difference = _difference(old, new)
    for key in ("versions", "problems"):
        difference = difference or _other(key, store.meta(key), meta[key])
    if difference:
        raise StoreError(
            f"{store.path} holds another study: {difference}; use another --out to keep it, "
            "or --fresh to replace it"
        )
    agents = old["agents"] | new["agents"]
    trials = max(old["trials"], new["trials"])
    merged = {**new, "agents": agents, "trials": trials}
    if merged != old:
        store.set_meta({"scenario": merged})


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    for key in IDENTITY:
        if old.get(key) != new.get(key):
            return f"its {key} is {_short(old.get(key))}, asked for is {_short(new.get(key))}"
    for label in old["agents"].keys() & new["agents"].keys():
        a, b = ({**s["agents"][label], "note": ""} for s in (old, new))
        if a != b:
            return f"its agent {label!r} is {_short(a)}, asked for is {_short(b)}"
    return ""


def _other(key: str, old: Any, new: Any) -> str:
    if key == "versions":
        name = "gpbandits-env"
        old, new, key = old[name], new[name], f"version of {name}"
    elif key == "problems" and old != new:
        return "its environment's data or defaults were different"
    return "" if old == new else f"its {key} is {_short(old)}, this one's is {_short(new)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _wanted(scenario: Scenario, cells: Sequence[Cell]) -> set[TrialKey]:
    return {
        TrialKey(cell.index, entry.label, trial)
        for cell in cells
        for entry in cell.agents
        for trial in range(scenario.trials)
    }


def _keep_bounds(
    store: Store, scenario: Scenario, cells: Sequence[Cell], problems: Sequence[Problem]
) -> None:
    for cell, problem in zip(cells, problems, strict=True):
        known = store.bounds(cell.index)
        missing = [b for b in scenario.bounds if b.title not in known]
        curves = {b.title: (b.metric, b.curve(problem, cell.horizon)) for b in missing}
        if curves:
            store.add_bounds(cell.index, curves)


def _play(
    store: Store,
    tasks: Sequence[Task],
    jobs: int,
    engine: engines.Engine,
    total: int,
    progress: bool,
) -> bool:
    """Play the tasks, and store each as it is done; True when Ctrl-C ended it."""
    title, done = tasks[0].scenario if tasks else "all done", total - len(tasks)
    bar = tqdm(total=total, initial=done, unit="trial", desc=title, disable=not progress)
    try:
        with bar, engines.results(tasks, jobs, engine) as stream:
            for records in stream:
                store.add(records)
                bar.update(len(records))
    except KeyboardInterrupt:
        return True
    return False

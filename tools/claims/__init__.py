"""What decides the claims of a paper beside its curves; one module per paper.

A module may have three tables. `python -m tools.reference` reads `MEASURES` and `UNITS` while it
has the results of a scenario at hand; `python -m tools.claims PAPER/NAME` runs `COMPUTATIONS`.

    MEASURES      scenario -> functions (store, cell, label) -> {name: (trials, ...)}
    UNITS         scenario -> a function (store, cell) -> (trials,) the independent unit of each
    COMPUTATIONS  name -> a function () -> {name: array}, the same whenever it is run
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.results.curves import along
from gpbandits_env.scenarios.results.evidence import Evidence, Measure, Units, load
from gpbandits_env.scenarios.results.records import TrialKey
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Cell
from gpbandits_env.scenarios.study.runner import PlannedTrial, make_env

# Arrays by name, or lists and numbers that become arrays where they are kept.
Arrays = dict[str, Any]
Computation = Callable[[], Arrays]


def measures(scenario: str) -> tuple[Measure, ...]:
    """What the claims of its paper measure in the results of a scenario, beside its curves."""
    return table(scenario, "MEASURES").get(scenario, ())


def units(scenario: str) -> Units | None:
    """How the trials of a scenario fall into independent units; None if each is one."""
    replays = registry.get(scenario).env == "gpbandits/Replay-v0"
    return table(scenario, "UNITS").get(scenario, one_unit if replays else None)


def table(id: str, name: str) -> Mapping[str, Any]:
    """A table of the module of a paper; empty if the paper has none."""
    module = f"tools.claims.{id.partition('/')[0]}"
    return getattr(import_module(module), name, {}) if find_spec(module) else {}


def named(*computations: Computation) -> dict[str, Computation]:
    """Computations by the names of their functions, with hyphens."""
    return {f.__name__.replace("_", "-"): f for f in computations}


def kept(id: str) -> Evidence:
    """The evidence of a scenario, which must have been made."""
    found = load(id)
    assert found is not None, f"run python -m tools.reference {id} first"
    return found


def seconds(store: Store, cell: int, label: str) -> dict[str, Array]:
    """The clock time of each trial: all of asking and telling."""
    return {"seconds": along(store, cell, label, "seconds")[:, -1]}


def one_unit(store: Store, cell: int) -> IntArray:
    """One unit for all trials of a cell, which replay the same recorded days."""
    return np.zeros(store.scenario["trials"], np.int64)


def cell_of(store: Store, cell: int) -> Cell:
    """A cell of the registered scenario of a results file."""
    return registry.get(store.scenario["id"]).cells()[cell]


def environment(here: Cell) -> Any:
    """The environment of a cell."""
    return make_env(here.scenario.env, here.made_with, here.scenario.horizon).unwrapped


def instances(here: Cell, trials: Iterable[int], seed: int = 0) -> Iterator[Any]:
    """The environment of a cell at the beginning of each trial."""
    env = environment(here)
    for trial in trials:
        env.reset(seed=PlannedTrial(here, TrialKey(here.index, "", trial), seed).stream("world"))
        yield env


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    """The values of each name over rows that have the same names."""
    return {name: np.array([row[name] for row in rows], np.float64) for name in rows[0]}


def peaks(values: Array) -> Array:
    """The maximum of functions on a grid (n, ...) by the parabola through the best three points.

    If the best point is an end of the grid, it is the maximum.
    """
    best = values.argmax(axis=0)
    inner = np.clip(best, 1, len(values) - 2)
    left, top, right = (np.take_along_axis(values, inner[None] + i, 0)[0] for i in (-1, 0, 1))
    bend = left - 2.0 * top + right
    bend = np.where((bend < 0.0) & (best == inner), bend, -np.inf)
    return values.max(axis=0) - (right - left) ** 2 / (8.0 * bend)

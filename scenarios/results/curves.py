"""Curves over rounds for metrics and panels, read from a results file."""

from functools import singledispatch

import numpy as np

from gpbandits_env.arrays import Array, IntArray, Plain
from gpbandits_env.scenarios.declare import put
from gpbandits_env.scenarios.metrics import KNOWN, metric_named
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import clocked

# Each quantity in seconds is the running sum of these.
SECONDS = {"seconds": ("ask", "tell"), "total_seconds": ("ask", "tell", "evaluate")}


def curves_of(store: Store, cell: int, label: str, name: str) -> Array:
    """A metric of all trials of an agent, in order: (trials, T).

    Simple regret includes the initial points if the scenario says that they count.
    """
    metric, regrets = metric_named(name), store.arrays(cell, label, "regret")
    if metric.best and store.scenario.get("initial", {}).get("counts"):
        before = np.fmin.reduce(store.arrays(cell, label, "initial_regret"), axis=1)
        regrets = regrets.copy()
        regrets[:, 0] = np.fmin(regrets[:, 0], before[:, None])
    return np.stack([metric.curve(trial) for trial in regrets])


def optimum_moves(store: Store) -> bool:
    """Whether the functions of a study change from round to round, in any of its cells.

    They do if their maximum changes within a trial, or if the environment was made with a motion,
    which can keep the value of the maximum.
    """
    scenario = store.scenario
    if any(where.get("motion") for where in (scenario["env_kwargs"], *scenario["points"])):
        return True
    cells = range(len(scenario["points"]))
    # All agents face the same functions.
    firsts = [(cell, label) for cell in cells for label in store.labels(cell)[:1]]
    return any(np.ptp(store.arrays(*first, "optimum"), axis=1).any() for first in firsts)


@singledispatch
def along(store: Store, cell: int, label: str, name: str) -> Array:
    """A quantity on a panel's axis (`metrics.X`, `metrics.Y`), of all trials: (trials, T)."""
    if name in KNOWN:
        return curves_of(store, cell, label, name)
    if name in SECONDS:
        parts = [store.seconds(cell, label, part) for part in SECONDS[name]]
        return np.cumsum(np.sum(parts, axis=0), axis=1)
    if name == "rate":
        return _in_rounds(store, cell, label) / along(store, cell, label, "end")
    if name in ("time", "end") and (end := _duration(store.scenario, cell)) is None:
        return np.asarray(store.arrays(cell, label, "time")[:, :, int(name == "end")])
    if name in ("rounds", "time", "end"):
        trials, horizon = store.arrays(cell, label, "optimum").shape
        last = horizon if name == "rounds" else end
        return np.broadcast_to(np.arange(1.0, horizon + 1.0) * (last / horizon), (trials, horizon))
    return store.arrays(cell, label, name).astype(np.float64)


def _in_rounds(store: Store, cell: int, label: str) -> Array:
    """The evaluations without initial points, (trials, T)."""
    initial = store.scenario.get("initial", {}).get("points", 0)
    return np.asarray(store.arrays(cell, label, "evaluations") - float(initial))


def in_parts(scenario: Plain) -> bool:
    """Whether a clock ends trials of a study: regret is then that of equal parts of the time."""
    return any(_duration(scenario, cell) is not None for cell in range(len(scenario["points"])))


def _duration(scenario: Plain, cell: int) -> float | None:
    """The time at which the trials of a cell end, in units of the drift; None if none is given."""
    given = scenario["env_kwargs"]
    for name, value in scenario["points"][cell].items():
        given = put(given, name, value) if name.partition(".")[0] == "clock" else given
    return clocked(given)


def rounds_played(store: Store, cell: int, label: str) -> Array:
    """The rounds of each trial that the quantities in seconds are of, (trials,); NaN if unknown.

    Under a clock that ends a trial, they are those that ended in it. They are not known if
    evaluations are skipped.
    """
    trials, horizon, m = store.arrays(cell, label, "regret").shape
    if _duration(store.scenario, cell) is None:
        return np.full(trials, float(horizon))
    if store.scenario.get("selective"):
        return np.full(trials, np.nan)
    return np.asarray(_in_rounds(store, cell, label)[:, -1] / m)


def resets(model_order: Array) -> IntArray:
    """The rounds, from 1, after which a posterior was empty again: (T,) model orders -> (k,)."""
    held = np.asarray(model_order) > 0.0
    return np.flatnonzero(~held & np.logical_or.accumulate(held)) + 1

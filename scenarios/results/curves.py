"""What metrics and panels speak of, read from a results file: curves over rounds."""

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.metrics import KNOWN, metric_named
from gpbandits_env.scenarios.results.store import Store

# What the quantities in seconds are the running sum of.
SECONDS = {"seconds": ("ask", "tell"), "total_seconds": ("ask", "tell", "evaluate")}


def curves_of(store: Store, cell: int, label: str, name: str) -> Array:
    """A metric of all trials of an agent, in order: (trials, T).

    The best so far begins with the initial points, where the scenario says that they count.

    Raises:
        UnknownName: no such metric.
        StoreError: the agent has no trials there.
    """
    metric, regrets = metric_named(name), store.arrays(cell, label, "regret")
    if metric.best and store.scenario.get("initial", {}).get("counts"):
        before = np.fmin.reduce(store.arrays(cell, label, "initial_regret"), axis=1)
        regrets = regrets.copy()
        regrets[:, 0] = np.fmin(regrets[:, 0], before[:, None])
    return np.stack([metric.curve(trial) for trial in regrets])


def optimum_moves(store: Store) -> bool:
    """Whether the functions of a study change from round to round, in any of its cells.

    They do if their maximum changes within a trial, or if the environment was made with a motion
    (of a function whose maximum keeps its value).
    """
    scenario = store.scenario
    if any(where.get("motion") for where in (scenario["env_kwargs"], *scenario["points"])):
        return True
    for cell in range(len(scenario["points"])):
        for label in store.labels(cell)[:1]:  # all agents face the same functions
            if np.ptp(store.arrays(cell, label, "optimum"), axis=1).any():
                return True
    return False


def along(store: Store, cell: int, label: str, name: str) -> Array:
    """What a panel's x or y names (see `metrics.X` and `metrics.Y`), of all trials: (trials, T)."""
    if name in KNOWN:
        return curves_of(store, cell, label, name)
    if name in SECONDS:
        parts = [store.seconds(cell, label, part) for part in SECONDS[name]]
        return np.cumsum(np.sum(parts, axis=0), axis=1)
    if name == "rounds":
        trials, horizon = store.arrays(cell, label, "optimum").shape
        return np.broadcast_to(np.arange(1.0, horizon + 1.0), (trials, horizon))
    return store.arrays(cell, label, name).astype(np.float64)

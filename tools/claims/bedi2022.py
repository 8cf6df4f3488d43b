"""What decides the claims of bedi2022 beside its curves.

The computations are in two modules: bounds of the theory with model orders, and clock times.
"""

from functools import partial

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.papers.bedi2022 import ENTROPY, EPSILON
from gpbandits_env.scenarios.results.curves import along
from gpbandits_env.scenarios.results.evidence import rounds_kept
from gpbandits_env.scenarios.results.store import Store
from tools.claims import bedi2022_bounds as bounds
from tools.claims import named
from tools.claims.bedi2022_clock import clock
from tools.claims.bedi2022_runs import RULES

EVALUATION = 0.045  # seconds per evaluation of the logistic regression
OPERATION = 1e-9  # seconds per operation of a refit, which has |X| M^2 of them
# Late average regrets below this, a thirtieth of the noise's standard deviation, are level.
NEGLIGIBLE = 0.001
DENSE = {"cub": "gp-ucb", "cei": "ei", "cmpi": "mpi"}
DENSE_OF_BKB = {"bkb-ucb": "gp-ucb", "bkb-ei": "ei", "bkb-mpi": "mpi"}


def _judged_late(orders: Array) -> bool:
    """Whether the median trial rejects an observation in the first three quarters of the rounds."""
    until = int(0.75 * orders.shape[1])
    rejected = (np.diff(orders[:, :until], axis=1) == 0).any(axis=1)
    return bool(np.median(rejected) > 0.5)


def _dense(label: str) -> str:
    """The dense agent that corresponds to a compressed one; empty for other agents."""
    name, slash, reading = label.partition("/")
    found = DENSE.get(name, "")
    return found + slash + reading if found and reading == "delta" else found


def late(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Average regret over the second half of the rounds, and the order where it may settle.

    Both are NaN for a compressed agent whose median trial leaves out nothing in the first three
    quarters of the rounds.
    """
    regret, orders = (along(store, cell, label, k) for k in ("average_regret", "model_order"))
    trials, horizon = orders.shape
    half = horizon // 2
    average = (horizon * regret[:, -1] - half * regret[:, half - 1]) / (horizon - half)
    found = np.maximum(average, NEGLIGIBLE)
    kept = orders[:, rounds_kept(horizon, trials) - 1]
    if _dense(label) and not _judged_late(orders):
        found, kept = np.full_like(found, np.nan), np.full_like(kept, np.nan)
    return {"late_regret": found, "settling_order": kept}


def early(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Average regret and model order after the rounds that the paper's clock times suggest."""
    return {
        f"{name}_{t}": along(store, cell, label, name)[:, t - 1]
        for name in ("average_regret", "model_order")
        for t in (50, 100, 500)
    }


def size(store: Store, cell: int, label: str) -> dict[str, Array]:
    """The rounds per point in the model, its inverse, and the share of rounds evaluated."""
    orders, spent = (along(store, cell, label, k) for k in ("model_order", "evaluations"))
    horizon, initial = orders.shape[1], spent[:, :1] - 1.0
    return {
        "compression": horizon / orders[:, -1],
        "order_share": orders[:, -1] / horizon,
        "evaluated": (spent[:, -1:] / (horizon + np.round(initial)))[:, 0],
    }


def time(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Time with a refit in each round and 45 ms per evaluation, on the logistic regression.

    ``round_time`` is the mean over the rounds since the one that is kept before, ``time`` that to
    the end, and ``time_share`` its ratio to that of the dense agent.
    """
    own, dense = _times(store, cell, label), _dense(label) or DENSE_OF_BKB.get(label, "")
    rounds = rounds_kept(own.shape[1], len(own))
    total = np.cumsum(own, axis=1)[:, rounds - 1]
    per_round = np.diff(total, axis=1, prepend=0.0) / np.diff(rounds, prepend=0)
    found = {"round_time": per_round, "time": total[:, -1]}
    if dense in store.labels(cell):
        found["time_share"] = total[:, -1] / _times(store, cell, dense).sum(axis=1)
    return found


def _times(store: Store, cell: int, label: str) -> Array:
    orders, spent = (along(store, cell, label, k) for k in ("model_order", "evaluations"))
    made = np.diff(spent, axis=1, prepend=0.0)
    return EVALUATION * made + OPERATION * 192 * orders**2


_READINGS = ("", "@entropy", "@epsilon", "@regularized", "@qbar", "@scaled", "@regularized-scaled")
MEASURES = {
    f"bedi2022/{name}{end}": (late, early, size, *((time,) if name == "mnist-logistic" else ()))
    for name in ("example", "rosenbrock", "mnist-logistic")
    for end in _READINGS
}
COMPUTATIONS = {
    **named(bounds.corollary, bounds.confidence, bounds.constant, bounds.dictionaries),
    **{f"horizons-{p}-{r}": partial(bounds.horizons, p, r) for p in (1, 2) for r in RULES[:2]},
    **{f"continuous-{p}": partial(bounds.continuous, p) for p in (1, 2)},
    **{f"epsilons-{rule}": partial(bounds.epsilons, rule) for rule in RULES},
    "domains": partial(bounds.domains, EPSILON, 10_000),
    "domains-entropy": partial(bounds.domains, ENTROPY, 2000),
    "clock": partial(clock, EPSILON),
    "clock-entropy": partial(clock, ENTROPY),
}

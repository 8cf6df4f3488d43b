"""What decides the claims of bedi2022 beside its curves.

The computations are in two modules: bounds of the theory with model orders, and clock times.
"""

from functools import partial

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.papers.bedi2022 import ENTROPY, EPSILON, SCENARIOS
from gpbandits_env.scenarios.results.curves import along
from gpbandits_env.scenarios.results.evidence import Evidence, rounds_kept
from tools.claims import Arrays, Store, kept, named
from tools.claims import bedi2022_bounds as bounds
from tools.claims.bedi2022_runs import KINDS, RULES, clock, reached

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


# -- From the kept values of several scenarios -----------------------------------------------------

# A task, its scenario, and its number of arms.
TASKS = (
    ("example", "example", 1000),
    ("rosenbrock", "rosenbrock", 1089),
    ("logistic", "mnist-logistic", 192),
)
# The scenarios of a reading and what its compressed agents' labels end with.
READINGS_KEPT = {
    "": ("", ""),
    "-entropy": ("@entropy", ""),
    "-epsilon-0.01": ("@epsilon", "/1e-2"),
    "-epsilon-0.05": ("@epsilon", "/5e-2"),
    "-regularized": ("@regularized", ""),
}


def settled(of: str = "") -> Arrays:
    """Orders at the end, by trial; NaN where the mean order has not settled: `bounds.settled`."""
    found, (scenarios, end) = {}, READINGS_KEPT[of]
    for task, id, _ in TASKS:
        evidence = kept(f"bedi2022/{id}{scenarios}")
        last = evidence.rounds >= 0.75 * evidence.horizon
        for rule, label in zip(RULES, DENSE, strict=True):
            orders = evidence.curve(0, label + end, "settling_order")[:, last]
            found[f"order {task} {rule}"] = bounds.settled(orders, evidence.rounds[last])
    return found


def trade_off(of: str = "") -> Arrays:
    """Average regret of the compressed agents at equal times over that of the better rival.

    The rival is the dense agent or BKB, whichever has the lower mean; the times are a quarter, half
    and all of the compressed agent's, with a refit in each round. A time before the median trial
    has rejected an observation is left out, or NaN if it is the last. Orders, evaluations and
    cumulative regret are interpolated between the rounds that are kept. "seconds ..." are the times
    to the end, and "a/dense ..." their ratios.
    """
    found, (scenarios, end) = {}, READINGS_KEPT[of]
    for task, id, arms in TASKS:
        evidence = kept(f"bedi2022/{id}{scenarios}")
        for rule, (label, dense) in zip(RULES, DENSE.items(), strict=True):
            names, cost = (label + end, dense, f"bkb-{rule}"), EVALUATION * (task == "logistic")
            own, *rivals = timed = [_timed(evidence, name, arms, cost) for name in names]
            for kind, (seconds, _) in zip(KINDS, timed, strict=True):
                found[f"seconds {task} {rule} {kind}"] = seconds[:, -1]
                found[f"{kind}/dense {task} {rule}"] = seconds[:, -1] / rivals[0][0][:, -1]
            orders = evidence.curve(0, label + end, "model_order")
            rejected = orders < evidence.rounds + orders[:, :1] - 1.0
            for part in (0.25, 0.5, 1.0):
                ends = part * own[0][:, -1]
                done, regrets = zip(*(reached(*agent, ends) for agent in timed), strict=True)
                ours, *theirs = np.maximum(regrets, NEGLIGIBLE)
                ratio = ours / min(theirs, key=np.mean)
                last = np.searchsorted(evidence.rounds, done[0], side="right") - 1
                known = np.median(rejected[np.arange(len(last)), last]) > 0.5
                if known or part == 1.0:
                    found[f"ratio {task} {rule} {part:g}"] = ratio if known else np.nan * ratio
    return found


def _timed(evidence: Evidence, label: str, arms: int, cost: float) -> tuple[Array, Array]:
    """The seconds until the end of each round and the cumulative regret, (trials, horizon)."""
    every = np.arange(1.0, evidence.horizon + 1.0)
    orders, spent, regret = (
        np.stack([np.interp(every, evidence.rounds, of) for of in evidence.curve(0, label, name)])
        for name in ("model_order", "evaluations", "cumulative_regret")
    )
    made = np.diff(spent, axis=1, prepend=0.0)
    return np.cumsum(cost * made + OPERATION * arms * orders**2, axis=1), regret


MEASURES = {s.id: (late, early, size, *((time,) if "logistic" in s.id else ())) for s in SCENARIOS}
COMPUTATIONS = {
    **named(bounds.corollary, bounds.confidence, bounds.constant, bounds.dictionaries),
    **{f"horizons-{p}-{r}": partial(bounds.horizons, p, r) for p in (1, 2) for r in RULES[:2]},
    **{f"continuous-{p}": partial(bounds.continuous, p) for p in (1, 2)},
    **{f"epsilons-{rule}": partial(bounds.epsilons, rule) for rule in RULES},
    "domains": partial(bounds.domains, EPSILON, 10_000),
    "domains-entropy": partial(bounds.domains, ENTROPY, 2000),
    "domains-epsilon-0.01": partial(bounds.domains, 0.01, 2000),
    "domains-epsilon-0.05": partial(bounds.domains, 0.05, 2000),
    **{f"settled{of}": partial(settled, of) for of in READINGS_KEPT},
    **{f"trade-off{of}": partial(trade_off, of) for of in READINGS_KEPT},
    "clock": partial(clock, EPSILON),
    "clock-entropy": partial(clock, ENTROPY),
}

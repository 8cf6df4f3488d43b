"""What decides the claims of bogunovic2016 beside its curves."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gpbandits_env.agents.algorithms.r_gp_ucb import paper_block_length
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.results.evidence import Measure
from gpbandits_env.scenarios.results.records import TrialKey
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study.runner import PlannedTrial, make_env
from tools.claims import bogunovic2016_real as real
from tools.claims import bogunovic2016_theory as theory

Arrays = dict[str, Array]

# -- What is measured in the trials of Fig. 2 ------------------------------------------------------


def rise(store: Store, cell: int, label: str) -> Arrays:
    """How far the mean regret of a quarter block after a reset is above that of the one before.

    The mean over the resets at rounds N + 1, 2N + 1, ... with a whole quarter block after them, of
    R-GP-UCB's N, for every agent: "r-oscillates".
    """
    here = registry.get(store.scenario["id"]).cells()[cell].scenario
    env: Any = make_env(here.env, here.env_kwargs, here.horizon).unwrapped
    block = paper_block_length(env.problem.replaced(horizon=here.horizon))
    regret, quarter = _regret(store, cell, label), round(block / 4)
    resets = range(block, here.horizon - quarter + 1, block)  # rounds counted from 0
    jumps = [
        regret[:, at : at + quarter].mean(axis=1) - regret[:, at - quarter : at].mean(axis=1)
        for at in resets
    ]
    return {"rise": np.mean(jumps, axis=0)}


def staleness(store: Store, cell: int, label: str) -> Arrays:
    """How the regret of GP-UCB over that of TV-GP-UCB grows: "stale-data-with-horizon".

    The slope of the logarithm of the ratio of the mean regrets in bins of 50 rounds, on log t. The
    value of a trial is the slope of all trials plus that trial's part in it (the delta method), so
    that the mean of the values is the slope.
    """
    if label != "gp-ucb":
        return {}
    bins = [
        _regret(store, cell, name).reshape(store.scenario["trials"], -1, 50).mean(axis=2)
        for name in (label, "tv-gp-ucb")
    ]
    return {"staleness": log_slopes(bins[0], 25.0 + 50.0 * np.arange(bins[0].shape[1]), bins[1])}


def log_slopes(a: Array, x: Array, b: Array | None = None) -> Array:
    """Per trial, the slope of the log of the mean of a (over that of b), (trials, k), on log x."""
    weights = np.log(x) - np.log(x).mean()
    weights /= weights @ weights
    found = np.zeros(len(a))
    for sign, values in ((1.0, a), (-1.0, b)):
        if values is not None:
            mean = values.mean(axis=0)
            found += sign * ((values / mean - 1.0) @ weights + weights @ np.log(mean))
    return found


def ratio_to_tv(store: Store, cell: int, label: str) -> Arrays:
    """The logarithm of the ratio of R_T to that of TV-GP-UCB, as in `real.log_ratio`."""
    if label not in ("gp-ucb", "tv/temporal"):
        return {}
    ours, best = (_regret(store, cell, name).mean(axis=1) for name in (label, "tv-gp-ucb"))
    return {"log ratio to tv-gp-ucb": real.log_ratio(ours, best)}


def against_fixed(store: Store, cell: int, label: str) -> Arrays:
    """The mean reward minus that of the best fixed arm in hindsight: "fixed-strategies-poor"."""
    if label not in ("tv-gp-ucb", "r-gp-ucb"):
        return {}
    values = store.arrays(cell, label, "values").mean(axis=(1, 2))
    return {"against fixed": values - best_fixed(store.scenario["id"], cell, len(values))}


@lru_cache(maxsize=1)
def best_fixed(id: str, cell: int, trials: int) -> Array:
    """The mean reward of the best fixed arm of each trial, (trials,)."""
    planned = registry.get(id).cells()[cell]
    here, label = planned.scenario, planned.scenario.agents[0].label
    env = make_env(here.env, here.env_kwargs, here.horizon)
    instance: Any = env.unwrapped
    found = np.empty(trials)
    for trial in range(trials):
        task = PlannedTrial(planned, TrialKey(cell, label, trial), 0)
        env.reset(seed=task.stream("world"))
        total = 0.0
        for _ in range(here.horizon):
            env.step(np.zeros(1, np.int64))
            total = total + instance.function.values
        found[trial] = np.max(total) / here.horizon
    return found


def spread(store: Store, cell: int, label: str) -> Arrays:
    """How the standard deviation of R_T/T grows with N: "spread-in-block-length".

    The slopes of its logarithm on log N, from N = 38 and from N = 1 on, as in `staleness`; and for
    each step from 38 on to the next N, the change of the logarithm plus 2 standard errors, as often
    as there are trials. All of it is kept with the last N of the sweep.
    """
    sweep = [name for name in store.labels(cell) if name.startswith("r/")]
    if label != sweep[-1]:
        return {}
    lengths = np.array([float(name[2:]) for name in sweep])
    regret = np.stack([_regret(store, cell, name).mean(axis=1) for name in sweep], axis=1)
    squares = (regret - regret.mean(axis=0)) ** 2
    large = lengths >= 38
    steps = 0.5 * np.log(squares.mean(axis=0)[large])
    parts = 0.5 * (squares / squares.mean(axis=0))[:, large]
    errors = np.diff(parts, axis=1).std(axis=0, ddof=1) / np.sqrt(len(parts))
    least = np.diff(steps) + 2.0 * errors
    return {
        "spread from 38": 0.5 * log_slopes(squares[:, large], lengths[large]),
        "spread from 1": 0.5 * log_slopes(squares, lengths),
        **{f"step from {a:.0f}": np.full(len(regret), value)
           for a, value in zip(lengths[large], least, strict=False)},
    }  # fmt: skip


def _regret(store: Store, cell: int, label: str) -> Array:
    """(trials, T)."""
    return np.asarray(store.arrays(cell, label, "regret")[:, :, 0], np.float64)


MATCHED_CASE: tuple[Measure, ...] = (rise, staleness, ratio_to_tv, against_fixed)
MEASURES: dict[str, tuple[Measure, ...]] = {
    **{
        f"bogunovic2016/{name}{end}": MATCHED_CASE
        for name in theory.KERNELS
        for end in ("", "@wide")
    },
    **{f"bogunovic2016/mismatch-n{end}": (spread,) for end in ("", "@wide")},
}


def one_unit(store: Store, cell: int) -> IntArray:
    """The trials of a cell replay the same readings of the same sensors."""
    return np.zeros(store.scenario["trials"], np.int64)


UNITS = {f"bogunovic2016/{name}": one_unit for name in ("temperature", "traffic", "traffic-i880")}

# -- What needs no scenario: see the two modules --------------------------------------------------

COMPUTATIONS: dict[str, Callable[[], Arrays]] = {
    "constants": theory.constants,
    "theorems-se": partial(theory.theorems, "se"),
    "theorems-matern52": partial(theory.theorems, "matern52"),
    "information": theory.information,
    "lower-bound": theory.lower_bound,
    "temperature": real.temperature,
    "traffic-draws": real.traffic,
    "learned": real.learned,
}

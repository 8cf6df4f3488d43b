"""What decides the claims of bogunovic2016 beside its curves."""

from functools import lru_cache, partial

import numpy as np

from gpbandits_env.agents.algorithms.r_gp_ucb import paper_block_length
from gpbandits_env.arrays import Array
from gpbandits_env.scenarios import registry
from tools.claims import Arrays, Measure, Store, cell_of, environment, instances, named
from tools.claims import bogunovic2016_real as real
from tools.claims import bogunovic2016_theory as theory

# -- What is measured in the trials of Fig. 2 ------------------------------------------------------


def rise(store: Store, cell: int, label: str) -> Arrays:
    """How far the mean regret of a quarter block after a reset is above that of the one before.

    The mean over the resets at rounds N + 1, 2N + 1, ... with a whole quarter block after them, of
    R-GP-UCB's N, for every agent: "r-oscillates".
    """
    here, regret = cell_of(store, cell), _regret(store, cell, label)
    horizon = here.scenario.horizon
    block = paper_block_length(environment(here).problem.replaced(horizon=horizon))
    quarter = round(block / 4)
    resets = range(block, horizon - quarter + 1, block)  # rounds counted from 0
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
    x = 25.0 + 50.0 * np.arange(bins[0].shape[1])
    return {"staleness": log_slopes(bins[0], x) - log_slopes(bins[1], x)}


def log_slopes(values: Array, x: Array) -> Array:
    """Per trial, the slope of the log of the mean of values, (trials, k), on log x."""
    weights = np.log(x) - np.log(x).mean()
    weights /= weights @ weights
    mean = values.mean(axis=0)
    return (values / mean - 1.0) @ weights + weights @ np.log(mean)


def ratio_to_tv(store: Store, cell: int, label: str) -> Arrays:
    """The logarithm of the ratio of R_T to that of TV-GP-UCB, as in `real.log_ratio`."""
    if label not in ("gp-ucb", "tv/temporal"):
        return {}
    ours, best = (_regret(store, cell, name).mean(axis=1) for name in (label, "tv-gp-ucb"))
    return {"log ratio to tv-gp-ucb": real.log_ratio(ours, best)}


def against_fixed(store: Store, cell: int, label: str) -> Arrays:
    """The mean reward minus that of the best fixed arm in hindsight: "fixed-strategies-poor".

    "beats fixed" says in which trials it is above 0.
    """
    if label not in ("tv-gp-ucb", "r-gp-ucb"):
        return {}
    values = store.arrays(cell, label, "values").mean(axis=(1, 2))
    gain = values - best_fixed(store.scenario["id"], cell, len(values))
    return {"against fixed": gain, "beats fixed": gain > 0.0}


def epsilon_slope(store: Store, cell: int, label: str) -> Arrays:
    """The slope of log R_T/T on log epsilon over the cells, as in `staleness`: "corollary-4.1".

    It is kept in the last cell.
    """
    if label not in ("tv-gp-ucb", "r-gp-ucb") or cell != store.cells()[-1]:
        return {}
    regret = [_regret(store, each, label).mean(axis=1) for each in store.cells()]
    epsilons = np.array([point["epsilon"] for point in store.scenario["points"]])
    return {"epsilon slope": log_slopes(np.stack(regret, axis=1), epsilons)}


@lru_cache(maxsize=1)
def best_fixed(id: str, cell: int, trials: int) -> Array:
    """The mean reward of the best fixed arm of each trial, (trials,)."""
    here, found = registry.get(id).cells()[cell], np.empty(trials)
    for trial, env in enumerate(instances(here, range(trials))):
        total = 0.0
        for _ in range(here.scenario.horizon):
            env.step(np.zeros(1, np.int64))
            total = total + env.function.values
        found[trial] = np.max(total) / here.scenario.horizon
    return found


def spread(store: Store, cell: int, label: str) -> Arrays:
    """How the standard deviation of R_T/T grows with N: "spread-in-block-length".

    The slope of its logarithm on log N, from N = 38 and from N = 1 on, as in `staleness`; and the
    smallest change of the logarithm from one N to the next, plus 2 standard errors, as often as
    there are trials. All of it is kept with the last N of the sweep.
    """
    sweep = [name for name in store.labels(cell) if name.startswith("r/")]
    if label != sweep[-1]:
        return {}
    lengths = np.array([float(name[2:]) for name in sweep])
    regret = np.stack([_regret(store, cell, name).mean(axis=1) for name in sweep], axis=1)
    found: Arrays = {}
    for least in (38, 1):
        kept = lengths >= least
        squares = (regret[:, kept] - regret[:, kept].mean(axis=0)) ** 2
        mean = squares.mean(axis=0)
        errors = np.diff(0.5 * squares / mean, axis=1).std(axis=0, ddof=1) / np.sqrt(len(squares))
        step = (np.diff(0.5 * np.log(mean)) + 2.0 * errors).min()
        found[f"spread from {least}"] = 0.5 * log_slopes(squares, lengths[kept])
        found[f"smallest step from {least}"] = np.full(len(squares), step)
    return found


def rates(store: Store, cell: int, label: str) -> Arrays:
    """Rises of R_T/T per unit of the assumed epsilon, each with the agent at the far end.

    With 0.1: the rise from 0.01 to it, less that from 0.01 to 0 ("over-estimated-epsilon"). With 0:
    the rise from 0.005 to it, less that from 0.01 to 0.005 ("under-estimated-epsilon").
    """
    zero, half, true, most = (
        _regret(store, cell, f"tv/{text}").mean(axis=1) for text in ("0", "5e-3", "1e-2", "1e-1")
    )
    if label == "tv/1e-1":
        return {"rate above less below": (most - true) / 0.09 - (zero - true) / 0.01}
    if label == "tv/0":
        return {"rate near 0 less before": (zero - half) / 0.005 - (half - true) / 0.005}
    return {}


def _regret(store: Store, cell: int, label: str) -> Array:
    """(trials, T)."""
    return np.asarray(store.arrays(cell, label, "regret")[:, :, 0], np.float64)


MATCHED_CASE: tuple[Measure, ...] = (rise, staleness, ratio_to_tv, against_fixed, epsilon_slope)
OF_SCENARIO = {"se": MATCHED_CASE, "matern52": MATCHED_CASE}
OF_SCENARIO |= {"mismatch-n": (spread,), "mismatch-eps": (rates,)}
MEASURES: dict[str, tuple[Measure, ...]] = {
    f"bogunovic2016/{name}{end}": found
    for name, found in OF_SCENARIO.items()
    for end in ("", "@wide")
}


# -- What needs no scenario: see the two modules --------------------------------------------------

COMPUTATIONS = {
    **{f"theorems-{name}": partial(theory.theorems, name) for name in theory.KERNELS},
    **named(theory.information, theory.lower_bound, theory.information_with_drift),
    **named(theory.distant_maxima, theory.block_lengths, theory.without_drift),
    **named(real.temperature, real.traffic_draws, real.learned),
}

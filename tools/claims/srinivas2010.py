"""What decides the claims of srinivas2010: units of trials, measures of trials, and the theory."""

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp import theory
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.rewards import datasets
from gpbandits_env.scenarios.papers.srinivas2010 import MORNINGS
from gpbandits_env.scenarios.results.evidence import Measure, Units
from gpbandits_env.scenarios.results.store import Store
from tools.claims import Arrays, cell_of, columns, environment, instances, named
from tools.claims import srinivas2010_information as information
from tools.claims import srinivas2010_regret as regret
from tools.claims.srinivas2010_information import DELTA, PAPER

MINUTES_PER_BLOCK = 120
# A trial is stuck if so many of its last plays lie on one hill.
LAST, MOST = 500, 0.95
# The agents with the beta of Theorem 1, times this factor.
SCALES = {"gp-ucb": 0.2, "gp-ucb/unscaled": 1.0}


# -- The trials of a scenario ---------------------------------------------------------------------


def functions(store: Store, cell: int) -> Array:
    """The function of each trial at all arms, (trials, n), drawn again from its seed."""
    trials, seed = store.trials(cell, store.labels(cell)[0]), store.scenario["seed"]
    return np.array([env.function.values for env in instances(cell_of(store, cell), trials, seed)])


def rows_of(values: Array, table: Array) -> IntArray:
    """The first row of a table that has these values, for each of (k, n) values."""
    return np.array([(table == row).all(axis=1).argmax() for row in values])


def _test_rows(store: Store, cell: int) -> tuple[IntArray, int]:
    """The row of the readings that each trial has as its function, and the number of test rows."""
    table = environment(cell_of(store, cell)).bandit.process.table
    return rows_of(functions(store, cell), table), len(table)


def blocks(store: Store, cell: int) -> IntArray:
    """The block of two hours of each trial on temperature, whose readings are one per minute."""
    return _test_rows(store, cell)[0] // MINUTES_PER_BLOCK


def days(store: Store, cell: int) -> IntArray:
    """The working day of each trial on traffic."""
    rows, size = _test_rows(store, cell)
    return datasets.load("metr-la", MORNINGS).days[-size:][rows]


def hill_of(function: Array, arms: IntArray) -> IntArray:
    """The hill of each arm: the arms between two neighbouring local minima of f have one number."""
    inner = (function[1:-1] <= function[:-2]) & (function[1:-1] < function[2:])
    return np.searchsorted(np.flatnonzero(inner) + 1, arms, side="right")


def is_stuck(function: Array, arms: IntArray, noise_var: float) -> bool:
    """Whether the last plays stay on a hill that is too low, by more than the noise."""
    hills = hill_of(function, np.arange(len(function)))
    plays = np.bincount(hills[arms[-LAST:]])
    highest = function[hills == plays.argmax()].max()
    too_low = highest < function.max() - np.sqrt(noise_var)
    return bool(too_low and plays.max() >= MOST * plays.sum())


def on_synthetic(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Of each trial on synthetic functions: information gain, stuck, the bound, the band."""
    problem = environment(cell_of(store, cell)).problem
    arms, kernel, noise_var = problem.domain, problem.kernel, problem.noise_var
    values, played = functions(store, cell), store.arrays(cell, label, "actions")[:, :, 0]
    factor, horizon = information.root(kernel(arms.coordinates)), played.shape[1]
    rows = [
        {
            "information_gain": information.gain_of(factor[p], noise_var),
            "stuck": is_stuck(f, p, noise_var),
        }
        for f, p in zip(values, played, strict=True)
    ]
    if label in SCALES:
        gain = theory.information_gain_bound(arms, kernel, noise_var, horizon)
        bound = theory.regret_bound_theorem1(gain, arms.size, DELTA, noise_var)
        betas = SCALES[label] * theory.beta_finite(np.arange(1, horizon + 1), arms.size, DELTA)
        posterior = posterior_for(arms, kernel, noise_var, horizon=horizon)
        rewards = store.arrays(cell, label, "rewards")[:, :, 0]
        for row, f, p, reward in zip(rows, values, played, rewards, strict=True):
            run = regret.play(posterior, f, reward - f[p], betas, p)
            row |= regret.against(bound, f, p) | regret.in_band(f, run)
    return columns(rows)


UNITS: dict[str, Units] = {
    **{f"{PAPER}/temperature{end}": blocks for end in ("", "@noise", "@common-mean")},
    **{f"{PAPER}/traffic{end}": days for end in ("", "@common-mean")},
}
MEASURES: dict[str, tuple[Measure, ...]] = {
    f"{PAPER}/se-1d{end}": (on_synthetic,) for end in ("", "@noise", "@opening")
}


# -- Computations: those of the theory are in the two modules ------------------------------------


def nearby_sensors() -> Arrays:
    """Section 2.1, Fig. 2(a): correlations of the temperature sensors over the five days, (46,).

    "near" is the mean of each sensor's with its five nearest ones, "far" that with the others;
    "high" is 1 where that with the nearest one is at least 0.7.
    """
    readings = datasets.load("intel-berkeley")
    places = readings.locations
    correlation = np.corrcoef(readings.values, rowvar=False)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    ranked = np.take_along_axis(correlation, np.argsort(distances, axis=1), axis=1)[:, 1:]
    return {
        "near": ranked[:, :5].mean(axis=1),
        "far": ranked[:, 5:].mean(axis=1),
        "high": ranked[:, 0] >= 0.7,
    }


COMPUTATIONS = named(
    *(information.information_gain_orders, information.bounds_sublinear, information.dimension),
    *(information.random_design, information.greedy_near_optimal, information.spectrum_orders),
    *(information.bounds_sharp, information.lower_bounds, nearby_sensors),
    *(regret.theorem2, regret.theorem3, regret.agnostic, regret.no_regret),
)

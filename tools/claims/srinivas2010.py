"""What decides the claims of srinivas2010: units and measures of trials, and runs of Algorithm 1.

The functions of these runs are those of the assumptions of each theorem.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from gpbandits_env.arrays import Array, IntArray, leading
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.posterior import Posterior, posterior_for
from gpbandits_env.gp.samplers import sampler_for
from gpbandits_env.rewards import datasets
from gpbandits_env.scenarios.papers.srinivas2010 import MORNINGS
from gpbandits_env.scenarios.results.evidence import Measure, Units
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.seeding import stream
from tools.claims import Arrays, cell_of, columns, environment, instances, named, peaks
from tools.claims import srinivas2010_information as information
from tools.claims.srinivas2010_information import DELTA, ELL, NOISE_VAR, PAPER, SE, grid

MINUTES_PER_BLOCK = 120
# A trial is stuck if so many of its last plays lie on one hill.
LAST, MOST = 500, 0.95
# The agents with the beta of Theorem 1, times this factor.
SCALES = {"gp-ucb": 0.2, "gp-ucb/unscaled": 1.0}
# B of Theorem 3, and the kernel functions that its functions combine.
NORM_BOUND, CENTRES = 4.0, 10


# -- Runs of Algorithm 1 --------------------------------------------------------------------------


class Played(NamedTuple):
    """A run of GP-UCB.

    Args:
        arms: (T,) the arms played.
        regret: (T,) its cumulative regret.
        outside: whether f left the band at any round and arm.
        width: the mean width of the last band.
    """

    arms: IntArray
    regret: Array
    outside: bool
    width: float


def play(
    posterior: Posterior, f: Array, noise: Array, betas: Array, arms: IntArray | None = None
) -> Played:
    """Algorithm 1 on f with this noise; or these arms in its place, to look at their band."""
    posterior.forget()
    chosen, outside = np.empty(len(betas), np.int64), False
    for t, beta in enumerate(betas):
        widths = np.sqrt(beta * posterior.var)
        scores = posterior.mean + widths
        chosen[t] = leading(scores, abs(scores.max())) if arms is None else arms[t]
        outside = outside or (np.abs(f - posterior.mean) > widths + 1e-9).any()
        posterior.condition(chosen[t : t + 1], f[chosen[t : t + 1]] + noise[t])
    return Played(chosen, np.cumsum(f.max() - f[chosen]), outside, 2.0 * widths.mean())


def against(bound: Array, f: Array, regret: Array) -> dict[str, float]:
    """How the cumulative regret (T,) of a run compares with a bound (T,) on it.

    "above" is 1 if it exceeds the bound in any round. The others are the largest cumulative regret
    that there is, and that of uniform random plays, minus the bound at the last round.
    """
    return {
        "above": (regret > bound).any(),
        "room": len(bound) * np.ptp(f) - bound[-1],
        "room_of_random": len(bound) * (f.max() - f.mean()) - bound[-1],
    }


def in_band(f: Array, run: Played) -> dict[str, float]:
    """Whether f left the band in any round, and its range minus the mean width of the last band."""
    return {"outside": run.outside, "band": np.ptp(f) - run.width}


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
            run = play(posterior, f, reward - f[p], betas, p)
            row |= against(bound, f, run.regret) | in_band(f, run)
    return columns(rows)


UNITS: dict[str, Units] = {
    **{f"{PAPER}/temperature{end}": blocks for end in ("", "@noise", "@common-mean")},
    **{f"{PAPER}/traffic{end}": days for end in ("", "@common-mean")},
}
MEASURES: dict[str, tuple[Measure, ...]] = {
    f"{PAPER}/se-1d{end}": (on_synthetic,) for end in ("", "@noise", "@opening")
}


# -- Computations: those on information gain are in the other module -----------------------------


def rkhs_function(arms: Arms, kernel: Kernel, rng: np.random.Generator) -> Array:
    """Ten kernel functions at uniform centres with normal weights, of squared norm B, (n,)."""
    centres, weights = rng.random((CENTRES, 1)), rng.standard_normal(CENTRES)
    weights *= np.sqrt(NORM_BOUND / (weights @ kernel(centres) @ weights))
    return kernel(arms.coordinates, centres) @ weights


def martingale_noise(rounds: int, rng: np.random.Generator) -> Array:
    """Fair signs times sigma after a positive value, and half of sigma after a negative one."""
    signs = rng.choice([-1.0, 1.0], rounds)
    magnitude = np.where(np.concatenate([[1.0], signs[:-1]]) > 0.0, 1.0, 0.5)
    return np.sqrt(NOISE_VAR) * magnitude * signs


def _normal(rounds: int, rng: np.random.Generator) -> Array:
    return np.sqrt(NOISE_VAR) * rng.standard_normal(rounds)


def trials(
    of: tuple[str, ...],
    count: int,
    arms: Arms,
    kernel: Kernel,
    betas: Array,
    draw: Callable[[np.random.Generator], Array] | None = None,
) -> Iterator[tuple[Array, Played]]:
    """Functions with runs on them, each from a stream of its own.

    ``draw`` makes functions, which are under martingale noise; by default they are draws of the
    kernel, under normal noise.
    """
    posterior = posterior_for(arms, kernel, NOISE_VAR, horizon=len(betas))
    noise, draw = (martingale_noise, draw) if draw else (_normal, sampler_for(arms, kernel).draw)
    for trial in range(count):
        rng = stream(PAPER, *of, trial)
        f = draw(rng)
        yield f, play(posterior, f, noise(len(betas), rng), betas)


def theorem3() -> Arrays:
    """Theorems 3 and 6: 300 functions of squared norm 4 under martingale noise, 1000 rounds.

    The names are those of `against` and `in_band`.
    """
    rounds, arms = 1000, grid(1000, 1)
    gain = theory.information_gain_bound(arms, SE, NOISE_VAR, rounds)
    bound = theory.regret_bound_theorem3(gain, NORM_BOUND, DELTA, NOISE_VAR)
    betas = theory.beta_rkhs(np.arange(1, rounds + 1), gain, DELTA, NORM_BOUND)
    draw = partial(rkhs_function, arms, SE)
    runs = trials(("theorem 3",), 300, arms, SE, betas, draw)
    return columns([against(bound, f, run.regret) | in_band(f, run) for f, run in runs])


def agnostic() -> Arrays:
    """Theorem 3's setting over 100,000 rounds: regret of 30 functions at the rounds "T".

    "theorem3" has its beta, "over5" that of Theorem 1 divided by 5. "promises" is the round from
    which the bound of Theorem 3 is below T times the range of f, with the relaxed gain as gamma_T.
    """
    horizon, arms = 100_000, grid(1000, 1)
    t, draw = np.arange(1, horizon + 1), partial(rkhs_function, arms, SE)
    gain = theory.information_gain_bound(arms, SE, NOISE_VAR, horizon)
    schedules = {
        "theorem3": theory.beta_rkhs(t, gain, DELTA, NORM_BOUND),
        "over5": 0.2 * theory.beta_finite(t, arms.size, DELTA),
    }
    found = {"T": information.decade(horizon, 12)}
    for name, betas in schedules.items():
        runs = list(trials(("agnostic",), 30, arms, SE, betas, draw))
        found[name] = [run.regret[found["T"] - 1] for _, run in runs]
    values = np.linalg.eigvalsh(SE(arms.coordinates))
    lengths = np.geomspace(1e3, 1e16, 1301)
    gains = np.array([information.relaxed_gain(values, NOISE_VAR, length) for length in lengths])
    widths = theory.beta_rkhs(lengths, gains, DELTA, NORM_BOUND)
    bound = np.sqrt(theory.regret_constant(NOISE_VAR) * lengths * widths * gains)
    promised = [lengths[np.argmax(bound < lengths * np.ptp(f))] for f, _ in runs]
    return found | {"promises": promised}


def theorem2() -> Arrays:
    """Theorem 2 on [0, 1]: 100 draws of lengthscale 0.2, 1000 rounds, with the names of `against`.

    The upper confidence bound is maximized over 4001 points, f with a parabola too.
    """
    t, arms = np.arange(1, 1001), grid(4001, 1)
    tail = {"a": 1.0 + np.sqrt(3.0) / (np.pi * ELL), "b": np.sqrt(2.0) / ELL}
    gain = theory.information_gain_bound(grid(2000, 1), SE, NOISE_VAR, len(t))
    bound = theory.regret_bound_theorem2(gain, 1, DELTA, NOISE_VAR, **tail)
    betas = theory.beta_continuous(t, 1, DELTA, **tail)
    rows = []
    for f, run in trials(("theorem 2",), 100, arms, SE, betas):
        missed = peaks(f) - f.max()  # by the grid, which counts in every round
        rows.append(against(bound - t * missed, f, run.regret))
    return columns(rows)


def no_regret() -> Arrays:
    """GP draws over 10,000 rounds with the beta of Theorem 1: regret (30, k) at the rounds "T"."""
    horizon = 10_000
    cells = {
        "se-1d": (SE, grid(1000, 1)),
        "se-2d": (SE, grid(32, 2)),
        "matern-1d": (information.MATERN, grid(1000, 1)),
        "matern-2d": (information.MATERN, grid(32, 2)),
        "linear-2d": (information.KERNELS["linear"], Arms(information.ball(1000, 2))),
    }
    found = {"T": information.decade(horizon, 12)}
    for name, (kernel, arms) in cells.items():
        betas = theory.beta_finite(np.arange(1, horizon + 1), arms.size, DELTA)
        runs = trials(("no regret", name), 30, arms, kernel, betas)
        found[name] = [run.regret[found["T"] - 1] for _, run in runs]
    return found


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
    *(theorem2, theorem3, agnostic, no_regret),
)

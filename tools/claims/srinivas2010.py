"""What decides the claims of srinivas2010: units of trials, measures of trials, and the theory.

The theorems are judged by runs of Algorithm 1 (`play`), on functions of their own assumptions.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Empirical, Kernel, Linear, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import Posterior, posterior_for
from gpbandits_env.gp.samplers import sampler_for
from gpbandits_env.gp.theory.information import GREEDY
from gpbandits_env.rewards import datasets
from gpbandits_env.scenarios.results.evidence import Measure, Units
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.seeding import stream
from tools.claims import cell_of, environment, instances, named

PAPER = "srinivas2010"
DELTA, NOISE_VAR, ELL = 0.1, 0.025, 0.2
MINUTES_PER_BLOCK = 120
TRAFFIC = {"mornings": True, "working_days": True}
# A trial is stuck if so many of its last plays lie on one hill.
LAST, MOST = 500, 0.95
# Upper bounds whose relative difference is smaller are a tie.
TIE = 1e-9
# B of Theorem 3, and the kernel functions that its functions combine.
NORM_BOUND, CENTRES = 4.0, 10

Arrays = Mapping[str, ArrayLike]


# -- The trials of a scenario ---------------------------------------------------------------------


def functions(store: Store, cell: int) -> Array:
    """The function of each trial at all arms, (trials, n), drawn again from its seed."""
    trials, seed = store.trials(cell, store.labels(cell)[0]), store.scenario["seed"]
    return np.array([env.function.values for env in instances(cell_of(store, cell), trials, seed)])


def rows_of(values: Array, table: Array) -> IntArray:
    """The first row of a table that has these values, for each of (k, n) values."""
    places = {row.tobytes(): i for i, row in reversed(list(enumerate(np.ascontiguousarray(table))))}
    return np.array([places[row.tobytes()] for row in np.ascontiguousarray(values)])


def _test_rows(store: Store, cell: int) -> tuple[IntArray, int]:
    """The row of the readings that each trial has as its function, and the number of test rows."""
    table: Array = environment(cell_of(store, cell)).bandit.process.table
    return rows_of(functions(store, cell), table), len(table)


def blocks(store: Store, cell: int) -> IntArray:
    """The block of two hours of each trial on temperature, whose readings are one per minute."""
    return _test_rows(store, cell)[0] // MINUTES_PER_BLOCK


def days(store: Store, cell: int) -> IntArray:
    """The working day of each trial on traffic."""
    rows, size = _test_rows(store, cell)
    found = datasets.load("metr-la", TRAFFIC).days
    assert found is not None
    return np.asarray(found[-size:][rows])


def hill_of(function: Array, arms: IntArray) -> IntArray:
    """The hill of each arm: the arms between two neighbouring local minima of f have one number."""
    inner = (function[1:-1] <= function[:-2]) & (function[1:-1] < function[2:])
    return np.searchsorted(np.flatnonzero(inner) + 1, arms, side="right")


def is_stuck(function: Array, arms: IntArray, noise_var: float) -> bool:
    """Whether the last plays stay on a hill that is too low, by more than the noise."""
    hills = hill_of(function, np.arange(len(function)))
    played = hills[arms[-LAST:]]
    hill, count = max(zip(*np.unique(played, return_counts=True), strict=True), key=lambda p: p[1])
    too_low = function[hills == hill].max() < function.max() - np.sqrt(noise_var)
    return bool(count >= MOST * len(played) and too_low)


class Played(NamedTuple):
    """A run of GP-UCB.

    Args:
        arms: (T,) the arms played.
        outside: whether f left the band at any round and arm.
        width: the mean width of the last band.
    """

    arms: IntArray
    outside: bool
    width: float


def play(
    posterior: Posterior,
    f: Array,
    noise: Array,
    betas: Array,
    arms: IntArray | None = None,
    watched: bool = True,
) -> Played:
    """Algorithm 1 on f with this noise; or these arms in its place, to look at their band."""
    posterior.forget()
    chosen, outside = np.empty(len(betas), np.int64), False
    widths = np.zeros(1)
    for t, beta in enumerate(betas):
        widths = np.sqrt(beta * posterior.var)
        chosen[t] = x = leader(posterior.mean + widths) if arms is None else arms[t]
        if watched:
            outside = outside or bool((np.abs(f - posterior.mean) > widths + 1e-9).any())
        posterior.condition(chosen[t : t + 1], f[x : x + 1] + noise[t])
    return Played(chosen, outside, 2.0 * float(widths.mean()))


def leader(values: Array) -> int:
    """The lowest index whose value is the largest one up to rounding."""
    top = values.max()
    return int((values >= top - TIE * abs(top)).argmax())


def above_grid(values: Array) -> float:
    """By how much a parabola through the largest value and its neighbors exceeds it."""
    i = int(values.argmax())
    if not 0 < i < len(values) - 1:
        return 0.0
    left, top, right = values[i - 1 : i + 2].tolist()
    curvature = 2.0 * top - left - right
    return float((right - left) ** 2 / (8.0 * curvature)) if curvature > 0.0 else 0.0


def against(bound: Array, f: Array, arms: IntArray) -> dict[str, float]:
    """How the regret of a run compares with a bound (T,) on it.

    "above" is 1 if it exceeds the bound in any round. The others are the largest cumulative regret
    that there is, and that of uniform random plays, minus the bound at the last round.
    """
    regret = np.cumsum(f.max() - f[arms])
    rounds, last = len(bound), float(bound[-1])
    return {
        "above": float((regret > bound).any()),
        "room": rounds * float(np.ptp(f)) - last,
        "room_of_random": rounds * float(f.max() - f.mean()) - last,
    }


def on_synthetic(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Of each trial on synthetic functions: information gain, stuck, the bound, the band."""
    problem = environment(cell_of(store, cell)).problem
    arms, kernel, noise_var = problem.domain, problem.kernel, problem.noise_var
    values, played = functions(store, cell), store.arrays(cell, label, "actions")[:, :, 0]
    horizon = played.shape[1]
    factor = root(kernel(arms.coordinates))
    found: dict[str, list[float]] = {
        "information_gain": [gain_of(factor[p], noise_var) for p in played],
        "stuck": [is_stuck(f, p, noise_var) for f, p in zip(values, played, strict=True)],
    }
    scales = {"gp-ucb": 0.2, "gp-ucb/unscaled": 1.0}
    if label in scales:
        gain = theory.information_gain_bound(arms, kernel, noise_var, horizon)
        bound = theory.regret_bound_theorem1(gain, arms.size, DELTA, noise_var)
        betas = scales[label] * theory.beta_finite(np.arange(1, horizon + 1), arms.size, DELTA)
        posterior = posterior_for(arms, kernel, noise_var, horizon=horizon)
        rewards = store.arrays(cell, label, "rewards")[:, :, 0]
        for f, p, reward in zip(values, played, rewards, strict=True):
            run = play(posterior, f, reward - f[p], betas, p)
            _add(found, against(bound, f, p), outside=run.outside, band=np.ptp(f) - run.width)
    return {name: np.array(of_trials) for name, of_trials in found.items()}


def _add(found: dict[str, list[float]], values: Mapping[str, float], **more: float) -> None:
    for name, value in {**values, **more}.items():
        found.setdefault(name, []).append(float(value))


UNITS: dict[str, Units] = {
    **{f"{PAPER}/temperature{end}": blocks for end in ("", "@noise", "@common-mean")},
    **{f"{PAPER}/traffic{end}": days for end in ("", "@common-mean")},
}
MEASURES: dict[str, tuple[Measure, ...]] = {
    f"{PAPER}/se-1d{end}": (on_synthetic,) for end in ("", "@noise", "@opening")
}


# -- Information gain -----------------------------------------------------------------------------


def root(covariance: Array, least: float = 1e-12) -> Array:
    """F (n, r) with F F' = covariance up to eigenvalues below this part of the largest."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > least * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def gain_of(features: Array, noise_var: float) -> float:
    """The information gain of observing points with these features, (T, r)."""
    gram = features.T @ features / noise_var
    return 0.5 * float(np.linalg.slogdet(np.eye(len(gram)) + gram)[1])


def relaxed_gain(eigenvalues: ArrayLike, noise_var: float, total: float) -> float:
    """The largest 1/2 sum log(1 + m_i lambda_i / s2) over real m_i >= 0 of this sum.

    It is at least gamma_T, because the gain of T points is that of an allocation to eigenvectors
    at most. The best one levels m_i + s2 / lambda_i ("water-filling").
    """
    values = theory.information.spectrum(eigenvalues)
    floors = noise_var / values[values > 1e-14 * values[0]]
    levels = (total + np.cumsum(floors)) / np.arange(1, len(floors) + 1)
    used = int(np.flatnonzero(levels > floors)[-1])
    return 0.5 * float(np.log(levels[used] / floors[: used + 1]).sum())


def greedy(arms: Arms, kernel: Kernel, horizon: int) -> Array:
    """The gain of the greedy rule, (T,)."""
    return theory.greedy_design(arms, kernel, NOISE_VAR, horizon)[1]


def ball(count: int, dim: int) -> Array:
    """Uniform points of the unit ball; more points begin with the same ones."""
    rng = stream(PAPER, "ball", dim)
    found = rng.standard_normal((count, dim + 2))
    # The first d of d + 2 coordinates of a uniform point of the sphere (Voelker et al. 2017).
    return np.asarray(found[:, :dim] / np.linalg.norm(found, axis=1, keepdims=True))


def grid(count: int, dim: int) -> Arms:
    """A grid of the unit cube with this number of points per axis."""
    return Arms.grid([count] * dim)


def settings() -> dict[str, tuple[Kernel, Arms]]:
    """The kernels and points on which the growth of the information gain is judged."""
    found: dict[str, tuple[Kernel, Arms]] = {
        f"linear-{d}d": (Linear(), Arms(ball(2000, d))) for d in (2, 5)
    }
    for d, count in ((1, 2000), (2, 50)):
        for name, kernel in (("se", SquaredExponential(ELL)), ("matern", Matern52(ELL))):
            found[f"{name}-{d}d"] = kernel, grid(count, d)
    return found


def decade(horizon: int, parts: int = 4) -> IntArray:
    """The ends of parts of the last factor of ten, equal on the logarithmic axis."""
    return np.round(np.geomspace(horizon / 10, horizon, parts + 1)).astype(np.int64)


def local_slopes(
    name: str, curve: Array, axis: Callable[[Array], Array] = np.log
) -> dict[str, Array]:
    """The slopes of the log of a curve (T,), on such an axis, over the four parts of `decade`."""
    ends = decade(len(curve))
    slopes = np.diff(np.log(curve[ends - 1])) / np.diff(axis(ends.astype(np.float64)))
    return {f"{name} {i}": slopes[i - 1 : i] for i in range(1, 5)}


def information_gain_orders() -> Arrays:
    """Theorem 5: local slopes of the greedy gain, over its last factor of ten before T = 10,000.

    "log MATERN 1" to "4" are slopes of log(gain / log T) on log T, and "log-log NAME 1" to "4", for
    the other kernels, those of log gain on log log T.
    """
    rounds, last = np.arange(1.0, 10_001.0), {}
    found: dict[str, Array] = {}
    for name, (kernel, arms) in settings().items():
        gain = greedy(arms, kernel, len(rounds))
        last[name] = gain[-1]
        if name.startswith("matern"):
            found |= local_slopes(f"log {name}", gain / np.log(np.maximum(rounds, 2.0)))
        else:
            found |= local_slopes(f"log-log {name}", gain, lambda t: np.log(np.log(t)))
    return {**found, "ratio linear": np.array([last["linear-5d"] / last["linear-2d"]])}


def bounds_sublinear() -> Arrays:
    """Local slopes of the regret bounds before T = 10,000, with the greedy bound on gamma_T.

    "theorem1 NAME 1" to "4" for all kernels, and "theorem3 ..." with B = 1 for the squared
    exponential and Matern kernels.
    """
    found: dict[str, Array] = {}
    line = Linear(), Arms(np.linspace(-1.0, 1.0, 2000))
    for name, (kernel, arms) in ({"linear-1d": line} | settings()).items():
        if name == "linear-5d":
            continue
        gain = greedy(arms, kernel, 10_000) / GREEDY
        bound = theory.regret_bound_theorem1(gain, arms.size, DELTA, NOISE_VAR)
        found |= local_slopes(f"theorem1 {name}", bound)
        if not name.startswith("linear"):
            bound = theory.regret_bound_theorem3(gain, 1.0, DELTA, NOISE_VAR)
            found |= local_slopes(f"theorem3 {name}", bound)
    return found


def dimension() -> Arrays:
    """The slopes by which the gain grows in one to three dimensions, for two kernels.

    "fall D" is the slope of log gain on log T from 100 to 1000 minus that from 1000 to 10,000, for
    the squared exponential; "rougher D" the last slope of Matern 2.5 minus that of the squared
    exponential; "bound D" the last slope of sqrt(T gamma_T); "rise" by how much more the last slope
    rises from d = 1 to d = 3 for Matern 2.5.
    """
    last: dict[tuple[str, int], float] = {}
    found = {}
    for d, count in ((1, 2000), (2, 45), (3, 13)):
        for name, kernel in (("se", SquaredExponential(0.5)), ("matern", Matern52(0.5))):
            gain = greedy(grid(count, d), kernel, 10_000)
            first, last[name, d] = np.diff(np.log10(gain[[99, 999, 9999]]))
            if name == "se":
                found[f"fall {d}"] = np.array([first - last[name, d]])
                found[f"bound {d}"] = np.array([0.5 + 0.5 * last[name, d]])
        found[f"rougher {d}"] = np.array([last["matern", d] - last["se", d]])
    rises = [last[name, 3] - last[name, 1] for name in ("matern", "se")]
    return {**found, "rise": np.array([rises[0] - rises[1]])}


def random_design() -> Arrays:
    """Appendix C.3: the greedy gain over that of uniform random points, (30 draws, rounds "T")."""
    rounds = np.round(np.geomspace(100, 10_000, 13)).astype(np.int64)
    found = {"T": rounds}
    for name, (kernel, arms) in settings().items():
        if name.startswith("linear"):
            continue
        factor, gain = root(kernel(arms.coordinates)), greedy(arms, kernel, rounds[-1])
        draws = 30 if name.startswith("se") else 3
        rng = stream(PAPER, "random design", name)
        drawn = rng.integers(arms.size, size=(draws, rounds[-1]))
        gains = [[gain_of_counts(factor, d[:t], NOISE_VAR) for t in rounds] for d in drawn]
        found[f"ratio {name}"] = gain[rounds - 1] / np.array(gains)
    return found


def gain_of_counts(factor: Array, arms: IntArray, noise_var: float) -> float:
    """The information gain of arms with repeats, through the number of plays of each arm."""
    plays = np.bincount(arms, minlength=len(factor))
    return gain_of(factor * np.sqrt(plays)[:, None], noise_var)


def greedy_near_optimal() -> Arrays:
    """Eq. (5): the greedy gain over the best one, and over the relaxed maximum.

    "sets KERNEL" has the smallest ratio over all sizes up to 5 with and without repeats, for 200
    sets of 12 arms at three noise variances, (600,); "relaxed" that on the arms of the synthetic
    experiment at T = 10, 100 and 1000.
    """
    found = {}
    for name in ("linear", "se", "matern", "random"):
        sets = itertools.product((0.005, 0.025, 0.5), _covariances(name, 200))
        found[f"sets {name}"] = np.array([_least_ratio(k, noise) for noise, k in sets])
    arms, kernel, rounds = grid(1000, 1), SquaredExponential(ELL), (10, 100, 1000)
    values = np.linalg.eigvalsh(kernel(arms.coordinates))
    gain = greedy(arms, kernel, 1000)
    relaxed = [gain[t - 1] / relaxed_gain(values, NOISE_VAR, t) for t in rounds]
    return {**found, "relaxed": np.array(relaxed)}


def _covariances(name: str, count: int, size: int = 12) -> list[Array]:
    """Covariance matrices of random arms with variances of at most 1."""
    rng = stream(PAPER, "sets", name)
    kernels = {"linear": Linear(), "se": SquaredExponential(ELL), "matern": Matern52(ELL)}
    if name in kernels:
        points = [ball(size * count, 3)[size * i : size * (i + 1)] for i in range(count)]
        if name != "linear":
            points = [rng.random((size, 1)) for _ in range(count)]
        return [kernels[name](x) for x in points]
    draws = [rng.standard_normal((size, rng.integers(1, size + 1))) for _ in range(count)]
    matrices = [d @ d.T for d in draws]
    return [m / m.diagonal().max() for m in matrices]


def _least_ratio(covariance: Array, noise_var: float, largest: int = 5) -> float:
    """The smallest ratio of the greedy gain to the best one, over sizes, with and without repeats.

    Without repeats the greedy rule too plays each arm once.
    """
    ratios = []
    for repeats in (True, False):
        picked: list[int] = []
        for size in range(1, largest + 1):
            arms = range(len(covariance))
            free = [x for x in arms if repeats or x not in picked]
            gains = _gains(covariance, [[*picked, x] for x in free], noise_var)
            picked.append(free[int(gains.argmax())])
            pick = itertools.combinations_with_replacement if repeats else itertools.combinations
            best = _gains(covariance, list(pick(arms, size)), noise_var).max()
            ratios.append(gains.max() / best)
    return float(min(ratios))


def _gains(covariance: Array, sets: ArrayLike, noise_var: float) -> Array:
    """The information gain of each of several sets of one size, (k,)."""
    chosen = np.asarray(sets)
    matrices = covariance[chosen[:, :, None], chosen[:, None, :]] / noise_var
    return 0.5 * np.linalg.slogdet(np.eye(chosen.shape[1]) + matrices)[1]


def spectrum_orders() -> Arrays:
    """Fig. 3: differences that are at least 0 if four kernels come in the order of their spectra.

    100 points of [0, 1], traces of 100. "sums A - B" compares the sums of the k largest
    eigenvalues; "bounds A - B" Eq. (8) and "gains A - B" the greedy gain at T = 10, ..., 100.
    """
    points = np.linspace(0.0, 1.0, 100)[:, None]
    kernels = (Linear(), SquaredExponential(ELL), Matern52(ELL))
    names = ("linear", "se", "matern", "diagonal")
    matrices = [k(points) for k in kernels] + [np.eye(100)]
    matrices = [100.0 * m / np.trace(m) for m in matrices]
    sums, bounds, gains = [], [], []
    for matrix in matrices:
        values = theory.information.spectrum(np.linalg.eigvalsh(matrix))
        sums.append(np.cumsum(values))
        bounds.append(theory.spectral_bound(values, NOISE_VAR, 100)[9:])
        arms = Arms(np.arange(100.0))
        gains.append(greedy(arms, Empirical(matrix), 100)[9:])
    found = {}
    for i in range(3):
        a, b = names[i], names[i + 1]
        found[f"sums {a} - {b}"] = sums[i] - sums[i + 1]
        found[f"bounds {b} - {a}"] = bounds[i + 1] - bounds[i]
        found[f"gains {b} - {a}"] = gains[i + 1] - gains[i]
    return found


def bounds_sharp() -> Arrays:
    """Section 5.1: the a priori bounds over the greedy gain, at T = 10, 100, 1000 on 1000 arms.

    Squared exponential and Matern 2.5 kernels of lengthscale 0.2, and the linear kernel, on [0, 1].
    """
    arms = grid(1000, 1)
    found: dict[str, Array] = {}
    kernels = {"se": SquaredExponential(ELL), "matern": Matern52(ELL), "linear": Linear()}
    for name, kernel in kernels.items():
        values = np.linalg.eigvalsh(kernel(arms.coordinates))
        gain = greedy(arms, kernel, 1000)
        for bound, of in (("eq8", theory.spectral_bound), ("theorem4", theory.theorem4_bound)):
            over = of(values, NOISE_VAR, 1000) / gain
            found |= {f"{bound} {name} {t}": over[t - 1 : t] for t in (10, 100, 1000)}
    return found


def lower_bounds() -> Arrays:
    """Section 4: slopes of the bounds for K independent arms and for linear functions.

    "arms K" and "arms T" are the slopes in K at T = 100,000 and in T at K = 100; "linear T" that in
    T at d = 5 (Theorem 1), "linear d" that in d from 2 to 20 at T = 100,000 (Theorem 2).
    """
    horizon = 100_000
    rounds = decade(horizon, 12)
    counts, dims = np.array([10, 32, 100, 316, 1000]), np.array([2, 3, 5, 7, 10, 14, 20])
    of_counts = [_independent(int(k), horizon)[-1] for k in counts]
    gain = greedy(Arms(ball(2000, 5)), Linear(), horizon)
    linear = theory.regret_bound_theorem1(gain, 2000, DELTA, NOISE_VAR)
    of_dims = []
    for d in dims.tolist():
        gain = greedy(Arms(np.abs(ball(2000, d))), Linear(), horizon)
        bound = theory.regret_bound_theorem2(gain, d, DELTA, NOISE_VAR, b=np.sqrt(2.0))
        of_dims.append(bound[-1] - 2.0)
    return {
        "arms K": _slope(counts, of_counts),
        "arms T": _slope(rounds, _independent(100, horizon)[rounds - 1]),
        "linear T": _slope(rounds, linear[rounds - 1]),
        "linear d": _slope(dims, of_dims),
    }


def _independent(count: int, horizon: int) -> Array:
    """The bound of Theorem 1 for independent arms, which the greedy rule plays in turn, (T,)."""
    plays = np.arange(horizon) // count  # of the next arm, before
    gain = np.cumsum(0.5 * np.log1p(1.0 / (NOISE_VAR + plays)))
    return theory.regret_bound_theorem1(gain, count, DELTA, NOISE_VAR)


def _slope(x: ArrayLike, y: ArrayLike) -> Array:
    return np.polyfit(np.log(x), np.log(y), 1)[:1]


# -- Theorems on regret ---------------------------------------------------------------------------


def rkhs_function(arms: Arms, kernel: Kernel, rng: np.random.Generator) -> Array:
    """Ten kernel functions at uniform centres with normal weights, of squared norm B, (n,)."""
    centres, weights = rng.random((CENTRES, 1)), rng.standard_normal(CENTRES)
    weights *= np.sqrt(NORM_BOUND / (weights @ kernel(centres) @ weights))
    return kernel(arms.coordinates, centres) @ weights


def martingale_noise(rounds: int, rng: np.random.Generator) -> Array:
    """Fair signs times sigma after a positive value, and half of sigma after a negative one."""
    signs = rng.choice([-1.0, 1.0], rounds)
    magnitude = np.where(np.concatenate([[1.0], signs[:-1]]) > 0.0, 1.0, 0.5)
    return np.asarray(np.sqrt(NOISE_VAR) * magnitude * signs)


def trials(
    of: Sequence[str],
    count: int,
    arms: Arms,
    kernel: Kernel,
    betas: Array,
    draw: Callable[[np.random.Generator], Array] | None = None,
    watched: bool = True,
) -> Iterator[tuple[Array, Played]]:
    """Functions with runs on them, each from a stream of its own.

    ``draw`` makes functions, which are under martingale noise; by default they are draws of the
    kernel, under normal noise.
    """
    posterior = posterior_for(arms, kernel, NOISE_VAR, horizon=len(betas))
    sampler = None if draw else sampler_for(arms, kernel)
    for trial in range(count):
        rng = stream(PAPER, *of, trial)
        f = draw(rng) if draw else np.asarray(sampler.draw(rng))
        normal = np.sqrt(NOISE_VAR) * rng.standard_normal(len(betas)) if sampler else None
        noise = martingale_noise(len(betas), rng) if normal is None else normal
        yield f, play(posterior, f, noise, betas, watched=watched)


def theorem3() -> Arrays:
    """Theorems 3 and 6: 300 functions of squared norm 4 under martingale noise, 1000 rounds.

    The names are those of `against`; "outside" is 1 if f left the band in any round, "band" the
    range of f minus the mean width of the last band.
    """
    rounds, arms, kernel = 1000, grid(1000, 1), SquaredExponential(ELL)
    gain = greedy(arms, kernel, rounds) / GREEDY
    bound = theory.regret_bound_theorem3(gain, NORM_BOUND, DELTA, NOISE_VAR)
    betas = theory.beta_rkhs(np.arange(1, rounds + 1), gain, DELTA, NORM_BOUND)
    found: dict[str, list[float]] = {}
    draw = partial(rkhs_function, arms, kernel)
    for f, run in trials(["theorem 3"], 300, arms, kernel, betas, draw):
        _add(found, against(bound, f, run.arms), outside=run.outside, band=np.ptp(f) - run.width)
    return found


def agnostic() -> Arrays:
    """Theorem 3's setting over 100,000 rounds: regret of 30 functions at the rounds "T".

    "theorem3" has its beta, "over5" that of Theorem 1 divided by 5. "promises" is the round from
    which the bound of Theorem 3 is below T times the range of f, with the relaxed gain as gamma_T.
    """
    horizon, arms, kernel = 100_000, grid(1000, 1), SquaredExponential(ELL)
    t, draw = np.arange(1, horizon + 1), partial(rkhs_function, arms, kernel)
    gain = greedy(arms, kernel, horizon) / GREEDY
    schedules = {
        "theorem3": theory.beta_rkhs(t, gain, DELTA, NORM_BOUND),
        "over5": 0.2 * theory.beta_finite(t, arms.size, DELTA),
    }
    found = {"T": decade(horizon, 12)}
    for name, betas in schedules.items():
        runs = trials(["agnostic"], 30, arms, kernel, betas, draw, watched=False)
        made = [(_regret_at(found["T"], f, run), np.ptp(f)) for f, run in runs]
        found[name] = np.array([regret for regret, _ in made])
    values = np.linalg.eigvalsh(kernel(arms.coordinates))
    lengths = np.geomspace(1e3, 1e16, 1301)
    gains = np.array([relaxed_gain(values, NOISE_VAR, length) for length in lengths])
    wide = np.vectorize(lambda length, gain: theory.beta_rkhs(length, gain, DELTA, NORM_BOUND))
    bound = np.sqrt(theory.regret_constant(NOISE_VAR) * lengths * wide(lengths, gains) * gains)
    promised = [lengths[np.argmax(bound < lengths * spread)] for _, spread in made]
    return {**found, "promises": np.array(promised)}


def _regret_at(rounds: IntArray, f: Array, run: Played) -> Array:
    return np.asarray(np.cumsum(f.max() - f[run.arms])[rounds - 1])


def theorem2() -> Arrays:
    """Theorem 2 on [0, 1]: 100 draws of lengthscale 0.2, 1000 rounds, with the names of `against`.

    The upper confidence bound is maximized over 4001 points, f with a parabola too.
    """
    rounds, arms, kernel = 1000, grid(4001, 1), SquaredExponential(ELL)
    a, b = 1.0 + np.sqrt(3.0) / (np.pi * ELL), np.sqrt(2.0) / ELL
    gain = greedy(grid(2000, 1), kernel, rounds) / GREEDY
    bound = theory.regret_bound_theorem2(gain, 1, DELTA, NOISE_VAR, a=float(a), b=float(b))
    betas = theory.beta_continuous(np.arange(1, rounds + 1), 1, DELTA, float(a), float(b))
    found: dict[str, list[float]] = {}
    for f, run in trials(["theorem 2"], 100, arms, kernel, betas):
        # What the grid misses of the maximum of f counts in every round.
        slack = bound - np.arange(1, rounds + 1) * above_grid(f)
        _add(found, against(slack, f, run.arms))
    return found


def no_regret() -> Arrays:
    """GP draws over 10,000 rounds with the beta of Theorem 1: regret (30, k) at the rounds "T"."""
    horizon = 10_000
    cells = {
        "se-1d": (SquaredExponential(ELL), grid(1000, 1)),
        "se-2d": (SquaredExponential(ELL), grid(32, 2)),
        "matern-1d": (Matern52(ELL), grid(1000, 1)),
        "matern-2d": (Matern52(ELL), grid(32, 2)),
        "linear-2d": (Linear(), Arms(ball(1000, 2))),
    }
    found: dict[str, ArrayLike] = {"T": (rounds := decade(horizon, 12))}
    for name, (kernel, arms) in cells.items():
        betas = theory.beta_finite(np.arange(1, horizon + 1), arms.size, DELTA)
        runs = trials(["no regret", name], 30, arms, kernel, betas, watched=False)
        found[name] = np.array([_regret_at(rounds, f, run) for f, run in runs])
    return found


# -- Data -----------------------------------------------------------------------------------------


def nearby_sensors() -> Arrays:
    """Section 2.1, Fig. 2(a): correlations of the temperature sensors over the five days, (46,).

    "near" is the mean of each sensor's with its five nearest ones, "far" that with the others;
    "high" is 1 where that with the nearest one is at least 0.7.
    """
    readings = datasets.load("intel-berkeley")
    places = readings.locations
    assert places is not None
    correlation = np.corrcoef(readings.values, rowvar=False)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    ranked = np.take_along_axis(correlation, np.argsort(distances, axis=1), axis=1)[:, 1:]
    return {
        "near": ranked[:, :5].mean(axis=1),
        "far": ranked[:, 5:].mean(axis=1),
        "high": ranked[:, 0] >= 0.7,
    }


COMPUTATIONS = named(
    *(information_gain_orders, bounds_sublinear, dimension, random_design, greedy_near_optimal),
    *(spectrum_orders, bounds_sharp, lower_bounds, theorem2, theorem3, agnostic, no_regret),
    nearby_sensors,
)

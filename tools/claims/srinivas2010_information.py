"""The computations that decide the claims of srinivas2010 on information gain, and its bounds."""

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, leading
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Empirical, Kernel, Linear, Matern52, SquaredExponential
from gpbandits_env.seeding import stream
from tools.claims import Arrays

PAPER = "srinivas2010"
DELTA, NOISE_VAR, ELL = 0.1, 0.025, 0.2
SE, MATERN = SquaredExponential(ELL), Matern52(ELL)
KERNELS: dict[str, Kernel] = {"linear": Linear(), "se": SE, "matern": MATERN}


def root(covariance: Array, least: float = 1e-12) -> Array:
    """F (n, r) with F F' = covariance up to eigenvalues below this part of the largest."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > least * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def gain_of(features: Array, noise_var: float) -> float:
    """The information gain of observing points with these features, (T, r)."""
    return theory.information_gain(features.T @ features, noise_var)


def relaxed_gain(eigenvalues: ArrayLike, noise_var: float, total: float) -> float:
    """The largest 1/2 sum log(1 + m_i lambda_i / s2) over real m_i >= 0 of this sum.

    It is at least gamma_T, because the gain of T points is that of an allocation to eigenvectors
    at most. The best one levels m_i + s2 / lambda_i ("water-filling").
    """
    values = theory.information.spectrum(eigenvalues)
    floors = noise_var / values[values > 1e-14 * values[0]]
    levels = (total + np.cumsum(floors)) / np.arange(1, len(floors) + 1)
    used = np.flatnonzero(levels > floors)[-1]
    return float(0.5 * np.log(levels[used] / floors[: used + 1]).sum())


def greedy(arms: Arms, kernel: Kernel, horizon: int) -> Array:
    """The gain of the greedy rule, (T,)."""
    return theory.greedy_design(arms, kernel, NOISE_VAR, horizon)[1]


def ball(count: int, dim: int) -> Array:
    """Uniform points of the unit ball; more points begin with the same ones."""
    found = stream(PAPER, "ball", dim).standard_normal((count, dim + 2))
    # The first d of d + 2 coordinates of a uniform point of the sphere (Voelker et al. 2017).
    return found[:, :dim] / np.linalg.norm(found, axis=1, keepdims=True)


def grid(count: int, dim: int) -> Arms:
    """A grid of the unit cube with this number of points per axis."""
    return Arms.grid([count] * dim)


def settings() -> dict[str, tuple[Kernel, Arms]]:
    """The kernels and points on which the growth of the information gain is judged."""
    linear = {f"linear-{d}d": (Linear(), Arms(ball(2000, d))) for d in (2, 5)}
    smooth = {
        f"{name}-{d}d": (KERNELS[name], grid(count, d))
        for d, count in ((1, 2000), (2, 50))
        for name in ("se", "matern")
    }
    return linear | smooth


def decade(horizon: int, parts: int = 4) -> IntArray:
    """The ends of parts of the last factor of ten, equal on the logarithmic axis."""
    return np.round(np.geomspace(horizon / 10, horizon, parts + 1)).astype(np.int64)


def local_slopes(name: str, curve: Array, axis: Callable[[Array], Array] = np.log) -> Arrays:
    """The slopes of the log of a curve (T,), on such an axis, over the four parts of `decade`."""
    ends = decade(len(curve))
    slopes = np.diff(np.log(curve[ends - 1])) / np.diff(axis(ends.astype(np.float64)))
    return {f"{name} {i}": slope for i, slope in enumerate(slopes, start=1)}


def information_gain_orders() -> Arrays:
    """Theorem 5: local slopes of the greedy gain, over its last factor of ten before T = 10,000.

    "log MATERN 1" to "4" are slopes of log(gain / log T) on log T, and "log-log NAME 1" to "4", for
    the other kernels, those of log gain on log log T.
    """
    rounds, last, found = np.arange(1.0, 10_001.0), {}, {}
    for name, (kernel, arms) in settings().items():
        gain = greedy(arms, kernel, len(rounds))
        last[name] = gain[-1]
        if name.startswith("matern"):
            found |= local_slopes(f"log {name}", gain / np.log(np.maximum(rounds, 2.0)))
        else:
            found |= local_slopes(f"log-log {name}", gain, lambda t: np.log(np.log(t)))
    return found | {"ratio linear": last["linear-5d"] / last["linear-2d"]}


def bounds_sublinear() -> Arrays:
    """Local slopes of the regret bounds before T = 10,000, with the greedy bound on gamma_T.

    "theorem1 NAME 1" to "4" for all kernels, and so on; Theorem 3 with B = 1. In Theorem 2 b is
    twice the standard deviation of a derivative, and a = 200.
    """
    cases, found = settings(), {}
    cases["linear-1d"] = Linear(), Arms(np.linspace(-1.0, 1.0, 2000))
    del cases["linear-5d"]
    steep = {"linear": 1.0, "se": 1.0 / ELL, "matern": np.sqrt(5.0 / 3.0) / ELL}
    for name, (kernel, arms) in cases.items():
        gain = theory.information_gain_bound(arms, kernel, NOISE_VAR, 10_000)
        family = name.partition("-")[0]
        tail = {"a": 200.0, "b": 2.0 * steep[family], "r": 2.0 if family == "linear" else 1.0}
        bounds = (
            theory.regret_bound_theorem1(gain, arms.size, DELTA, NOISE_VAR),
            theory.regret_bound_theorem2(gain, arms.dim, DELTA, NOISE_VAR, **tail),
            theory.regret_bound_theorem3(gain, 1.0, DELTA, NOISE_VAR),
        )
        for i, bound in enumerate(bounds, start=1):
            found |= local_slopes(f"theorem{i} {name}", bound)
    return found


def dimension() -> Arrays:
    """The slopes by which the gain grows in one to three dimensions, for two kernels.

    "fall D" is the slope of log gain on log T from 100 to 1000 minus that from 1000 to 10,000, for
    the squared exponential; "rougher D" the last slope of Matern 2.5 minus that of the squared
    exponential; "bound D" the last slope of sqrt(T gamma_T); "rise" by how much more the last slope
    rises from d = 1 to d = 3 for Matern 2.5.
    """
    rougher, found = {}, {}
    for d, count in ((1, 2000), (2, 45), (3, 13)):
        se, matern = (
            np.diff(np.log10(greedy(grid(count, d), kernel, 10_000)[[99, 999, 9999]]))
            for kernel in (SquaredExponential(0.5), Matern52(0.5))
        )
        rougher[d] = matern[1] - se[1]
        found |= {f"fall {d}": se[0] - se[1], f"bound {d}": 0.5 + 0.5 * se[1]}
        found[f"rougher {d}"] = rougher[d]
    return found | {"rise": rougher[3] - rougher[1]}


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
        plays = [[np.bincount(d[:t], minlength=arms.size) for t in rounds] for d in drawn]
        gains = [[gain_of(np.sqrt(n)[:, None] * factor, NOISE_VAR) for n in of] for of in plays]
        found[f"ratio {name}"] = gain[rounds - 1] / np.array(gains)
    return found


def greedy_near_optimal() -> Arrays:
    """Eq. (5): the greedy gain over the best one, and over the relaxed maximum.

    "sets KERNEL" has the smallest ratio over all sizes up to 5 with and without repeats, for 200
    sets of 12 arms at three noise variances, (600,); "relaxed" that on the arms of the synthetic
    experiment at T = 10, 100 and 1000.
    """
    found = {
        f"sets {name}": [
            _least_ratio(covariance, noise)
            for noise in (0.005, 0.025, 0.5)
            for covariance in _covariances(name, 200)
        ]
        for name in (*KERNELS, "random")
    }
    arms = grid(1000, 1)
    values, gain = np.linalg.eigvalsh(SE(arms.coordinates)), greedy(arms, SE, 1000)
    relaxed = [gain[t - 1] / relaxed_gain(values, NOISE_VAR, t) for t in (10, 100, 1000)]
    return found | {"relaxed": relaxed}


def _covariances(name: str, count: int, size: int = 12) -> list[Array]:
    """Covariance matrices of random arms with variances of at most 1."""
    rng = stream(PAPER, "sets", name)
    if name == "linear":
        return [Linear()(x) for x in ball(size * count, 3).reshape(count, size, 3)]
    if name in KERNELS:
        return [KERNELS[name](rng.random((size, 1))) for _ in range(count)]
    draws = [rng.standard_normal((size, rng.integers(1, size + 1))) for _ in range(count)]
    matrices = [d @ d.T for d in draws]
    return [m / m.diagonal().max() for m in matrices]


def _least_ratio(covariance: Array, noise_var: float, largest: int = 5) -> float:
    """The smallest ratio of the greedy gain to the best one, over sizes, with and without repeats.

    Without repeats the greedy rule too plays each arm once.
    """
    arms, ratios = range(len(covariance)), []
    for repeats in (True, False):
        picked: list[int] = []
        for size in range(1, largest + 1):
            free = [x for x in arms if repeats or x not in picked]
            gains = _gains(covariance, [[*picked, x] for x in free], noise_var)
            picked.append(free[int(leading(gains))])
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
    points, made, found = np.linspace(0.0, 1.0, 100)[:, None], {}, {}
    matrices = {name: kernel(points) for name, kernel in KERNELS.items()}
    for name, matrix in (matrices | {"diagonal": np.eye(100)}).items():
        scaled = 100.0 * matrix / np.trace(matrix)
        values = theory.information.spectrum(np.linalg.eigvalsh(scaled))
        bounds = theory.spectral_bound(values, NOISE_VAR, 100)[9:]
        gains = greedy(Arms(np.arange(100.0)), Empirical(scaled), 100)[9:]
        made[name] = np.cumsum(values), bounds, gains
    for (a, of_a), (b, of_b) in itertools.pairwise(made.items()):
        found[f"sums {a} - {b}"] = of_a[0] - of_b[0]
        found[f"bounds {b} - {a}"] = of_b[1] - of_a[1]
        found[f"gains {b} - {a}"] = of_b[2] - of_a[2]
    return found


def bounds_sharp() -> Arrays:
    """Section 5.1: the a priori bounds over the greedy gain, at T = 10, 100, 1000 on 1000 arms.

    Squared exponential and Matern 2.5 kernels of lengthscale 0.2, and the linear kernel, on [0, 1].
    """
    arms, found = grid(1000, 1), {}
    for name, kernel in KERNELS.items():
        values = np.linalg.eigvalsh(kernel(arms.coordinates))
        gain = greedy(arms, kernel, 1000)
        for bound, of in (("eq8", theory.spectral_bound), ("theorem4", theory.theorem4_bound)):
            over = of(values, NOISE_VAR, 1000) / gain
            found |= {f"{bound} {name} {t}": over[t - 1] for t in (10, 100, 1000)}
    return found


def lower_bounds() -> Arrays:
    """Section 4: slopes of the bounds for K independent arms and for linear functions.

    "arms K" and "arms T" are the slopes in K at T = 100,000 and in T at K = 100; "linear T" that in
    T at d = 5 (Theorem 1), "linear d" that in d from 2 to 20 at T = 100,000 (Theorem 2).
    """
    horizon = 100_000
    rounds, counts, dims = decade(horizon, 12), (10, 32, 100, 316, 1000), (2, 3, 5, 7, 10, 14, 20)
    gain = greedy(Arms(ball(2000, 5)), Linear(), horizon)
    linear = theory.regret_bound_theorem1(gain, 2000, DELTA, NOISE_VAR)
    of_dims = []
    for d in dims:
        gain = greedy(Arms(np.abs(ball(2000, d))), Linear(), horizon)
        bound = theory.regret_bound_theorem2(gain, d, DELTA, NOISE_VAR, b=np.sqrt(2.0))
        of_dims.append(bound[-1] - 2.0)
    return {
        "arms K": _slope(counts, [_independent(k, horizon)[-1] for k in counts]),
        "arms T": _slope(rounds, _independent(100, horizon)[rounds - 1]),
        "linear T": _slope(rounds, linear[rounds - 1]),
        "linear d": _slope(dims, of_dims),
    }


def _independent(count: int, horizon: int) -> Array:
    """The bound of Theorem 1 for independent arms, which the greedy rule plays in turn, (T,)."""
    plays = np.arange(horizon) // count  # of the next arm, before
    gain = np.cumsum(0.5 * np.log1p(1.0 / (NOISE_VAR + plays)))
    return theory.regret_bound_theorem1(gain, count, DELTA, NOISE_VAR)


def _slope(x: ArrayLike, y: ArrayLike) -> float:
    return np.polyfit(np.log(x), np.log(y), 1)[0]

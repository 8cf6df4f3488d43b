"""What decides the claims of tranthe2020 beside its curves."""

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln, logsumexp

from gpbandits_env import Arms, Box, Matern52, Problem, agents
from gpbandits_env.agents.search.climb import climb
from gpbandits_env.arrays import Array
from gpbandits_env.envs.task import LENGTHSCALE
from gpbandits_env.gp import theory
from gpbandits_env.gp.samplers.box import FourierFeatures
from gpbandits_env.rewards.functions import AnalyticProcess
from gpbandits_env.scenarios.metrics import FLOOR
from gpbandits_env.scenarios.papers.tranthe2020 import DIMENSIONS, HORIZON, INITIAL, SCENARIOS
from gpbandits_env.scenarios.results.curves import curves_of
from tools.claims import Arrays, Measure, Store, kept, named, seconds

# The number of rounds whose mean is a level.
LAST = 20


def levels(store: Store, cell: int, label: str) -> dict[str, Array]:
    """The mean of log10(f(x*) - f(x_t)) over 20 rounds, (trials,): at the end and at half time."""
    logs = curves_of(store, cell, label, "log10_regret")
    half = INITIAL + (HORIZON - INITIAL) // 2
    return {
        "log10_level": logs[:, -LAST:].mean(axis=1),
        "log10_level_half": logs[:, half - LAST : half].mean(axis=1),
    }


def slopes(store: Store, cell: int, label: str) -> dict[str, Array]:
    """The slope of log R_T on log T over the second half of the run, (trials,)."""
    total = curves_of(store, cell, label, "cumulative_regret")
    rounds = np.arange(1, total.shape[1] + 1)[total.shape[1] // 2 :]
    return {"slope": np.polyfit(np.log(rounds), np.log(total[:, rounds - 1]).T, 1)[0]}


MEASURES: dict[str, tuple[Measure, ...]] = {
    s.id: (levels, slopes) for s in SCENARIOS if s.horizon == HORIZON
}
MEASURES["tranthe2020/dimension"] += (seconds,)


# -- Across scenarios -----------------------------------------------------------------------------


def scaling() -> Arrays:
    """The loss of each agent's progress beyond uniform points from D = 20 to 100, by trial.

    The progress is the level minus the mean of log10(f(x*) - f(x)) over 10,000 uniform points.
    """
    found = {}
    for function in ("ackley", "hyper-ellipsoid", "levy"):
        small, large = (kept(f"tranthe2020/{function}-{dim}") for dim in (20, 100))
        grown = _uniform(function, 100) - _uniform(function, 20)
        for label in sorted({*small.labels(0)} & {*large.labels(0)}):
            ends = (e.curve(0, label, "log10_level") for e in (large, small))
            found[f"{function} {label}"] = np.subtract(*ends) - grown
    return found


def camelback() -> Arrays:
    """R_T of MS-UCB on camelback in D dimensions, by trial."""
    of = {dim: kept(f"tranthe2020/camelback-{dim}") for dim in DIMENSIONS}
    return {f"D={d}": e.curve(0, "ms-ucb", "cumulative_regret")[:, -1] for d, e in of.items()}


def _uniform(function: str, dim: int) -> float:
    """The mean of log10 of the distance over 10,000 uniform points of the box."""
    f = AnalyticProcess(function, dim=dim, cube=True).begin(np.random.default_rng(0)).function
    points = np.random.default_rng(dim).uniform(-1.0, 1.0, (10_000, dim))
    return float(np.log10(np.maximum(f.optimum - f(points), FLOOR)).mean())


# -- Theory ---------------------------------------------------------------------------------------

DELTA, NOISE_VAR = 0.1, 0.01
COUNTS = (1, 10, 100, 200, 20_100)
# The step of the grid on which sums of n distances are distributed, up to some n; the draws of z*.
STEPS, PLACES = {2: 2e-4, 5: 2e-3, 95: 1e-2}, 50
SIZES = tuple(itertools.product((20, 50, 100), (1, 2, 5, 10)))
# a of Assumption 1, and the draws and points by which b is estimated.
TAIL, DRAWS, POINTS = 2.0, 10_000, 512
GREEDY_ROUNDS, CANDIDATES = 1000, 2000


def covering() -> Arrays:
    """Lemma 4 at the theta of Eq. 18, by the exact distribution of |z - z*|_1.

    "a ...": P(|z - z*|_1 <= theta) over the stated bound theta^n / n!. "b ..." and "c ...": the
    probability that no z of Z_t is within theta, or within the 2 theta of the main text's v0.
    """
    found = {}
    for n, place in itertools.product((1, 2, 5, 15, 45, 95), ("centre", "corner", "uniform")):
        within = _within(n, place)
        for count in COUNTS:
            theta = _theta(n, count)
            name = f"n={n} Z={count} {place}"
            stated = np.log(2.0 / DELTA) / count
            found[f"a {name}"] = within(theta).mean() / stated
            found[f"b {name}"] = ((1.0 - within(theta)) ** count).mean()
            found[f"c {name}"] = ((1.0 - within(2.0 * theta)) ** count).mean()
    return found


def covering_effective() -> Arrays:
    """Eq. 28: the probability that no x is within its theta of x* in d_e active directions.

    It is that of Eq. 18 with d_e in place of D - d.
    """
    few = ("b n=1 ", "b n=2 ", "b n=5 ")
    of = {name: values for name, values in covering().items() if name.startswith(few)}
    return {n.replace("b n", "d_e"): values for n, values in of.items() if "Z=20100 " not in n}


def _theta(n: int, count: int) -> float:
    """The distance of Eq. 18: (n! log(2/delta) / |Z_t|)^(1/n)."""
    return np.exp((gammaln(n + 1) + np.log(np.log(2.0 / DELTA) / count)) / n)


def _within(n: int, place: str) -> Callable[[float], Array]:
    """P(|z - z*|_1 <= radius) for z uniform in [-1, 1]^n, (1,), or one for each draw of z*."""
    rng = np.random.default_rng(n)
    where = {"centre": np.zeros((1, n)), "corner": np.ones((1, n))}
    step = next(step for most, step in STEPS.items() if n <= most)
    middles = np.arange(0.5 * step, 2.0, step)
    size = 1 << (len(middles) * n - 1).bit_length()
    sums, reaches, sides = [], [], []
    for z in where.get(place, rng.uniform(-1.0, 1.0, (PLACES, n))):
        # A distance below 1 - |z*| is reached on both sides, one up to 1 + |z*| on one.
        near, far = np.abs(1.0 - np.abs(z))[:, None], (1.0 + np.abs(z))[:, None]
        share = [np.clip((end - middles) / step + 0.5, 0.0, 1.0) for end in (near, far)]
        mass = 0.5 * step * (share[0] + share[1])
        product = np.ones(size // 2 + 1, complex)
        for row in mass:
            product *= np.fft.rfft(row, size)
        mass = np.maximum(np.fft.irfft(product, size), 0.0)
        sums.append(np.append(0.0, np.minimum(np.cumsum(mass), 1.0)))
        # Where the ball reaches no further face, its volume is known.
        reaches.append(np.where(near > 0.0, near, far).min())
        sides.append(np.where(near > 0.0, 1.0, 0.5).prod())
    at = np.append(0.0, step * (np.arange(size) + 0.5 * (n + 1)))

    def within(radius: float) -> Array:
        ball = np.array(sides) * np.exp(n * np.log(radius) - gammaln(n + 1))
        grid = np.array([np.interp(radius, at, cdf) for cdf in sums])
        return np.where(radius <= np.array(reaches), ball, grid)

    return within


def bound_by_alpha() -> Arrays:
    """Theorem 1 and Proposition 4 as printed, at every integer alpha from 0 to 2 (D - d).

    "violations ...": how often the part that depends on alpha grows below D - d - 1, is larger
    there than one before, or is not constant from there on.
    """
    found = {}
    for (dim, d), horizon in itertools.product(SIZES, (200, 1000, 10**6)):
        n, none, order, bound = dim - d, np.zeros(horizon), [], []
        for alpha in range(2 * n + 1):
            order.append(theory.regret_order_subspaces(horizon, 0.0, dim, d, alpha))
            more = {"alpha": alpha, "as_printed": True}
            bound.append(theory.regret_bound_subspaces(none, dim, d, NOISE_VAR, **more)[-1])
        for name, made, last in (("theorem 1", order, None), ("proposition 4", bound, -1)):
            values = np.array(made)
            steps = np.diff(values)
            wrong = np.count_nonzero(steps[: n - 1] > 1e-9 * values[: n - 1])
            wrong += np.count_nonzero(np.abs(steps[n - 1 : last]) > 1e-9 * values[n - 1])
            found[f"violations {name} D={dim} d={d} T={horizon}"] = wrong
    return found


def bounds_compared() -> Arrays:
    """Proposition 4, corrected, at alpha = D - d - 1 against GP-UCB's bound for compact sets.

    "whole ...": the ratio of the bounds. "root d/D ..." and "root 1/D ...": the ratio of their
    leading terms over sqrt(d/D) and over 1/sqrt(D).
    """
    found = {}
    for dim, d in SIZES:
        gain, b = _gain(dim), _tail_scale(dim)
        rounds = np.arange(1, len(gain) + 1)
        ours = _bound(gain, dim, d, b, dim - d - 1)
        theirs = _of_gp_ucb(gain, dim, b)
        widths = theory.beta_subspaces(rounds, dim, d, DELTA, TAIL, b)
        leading = np.sqrt(widths / theory.beta_continuous(rounds, dim, DELTA, TAIL, b, 2.0))
        for horizon in (200, 1000, 10**5):
            cell, at = f"D={dim} d={d} T={horizon}", horizon - 1
            found[f"whole {cell}"] = ours[at] / theirs[at]
            found[f"root d/D {cell}"] = leading[at] / np.sqrt(d / dim)
            found[f"root 1/D {cell}"] = leading[at] * np.sqrt(dim)
    return found


def bound_and_calls() -> Arrays:
    """For D - d - 1 <= alpha < 2 (D - d) - 1: 1 where the bound is tighter and calls are fewer.

    "both ...", "calls ..." and "bound ...": 1 where it is so at the smallest or the largest integer
    alpha of the range, else 0. "subspaces ...": log10 of |Z_T| at the smallest.
    """
    found = {}
    for dim in (3, 6, 20, 50, 100):
        gain, b = _gain(dim, 1000), _tail_scale(dim)
        theirs = _of_gp_ucb(gain, dim, b)
        small = (d for d in (1, 2, 5, 10) if d < dim)
        for d, horizon in itertools.product(small, (10, 100, 200, 1000)):
            n, cell = dim - d, f"D={dim} d={d} T={horizon}"
            alphas, logs = (n - 1, 2 * n - 2), np.log(np.arange(1.0, horizon + 1.0))
            sizes = np.array([logsumexp(alpha * logs) for alpha in alphas])
            ours = np.array([_bound(gain[:horizon], dim, d, b, alpha)[-1] for alpha in alphas])
            fewer = sizes < 2.0 * n * np.log(horizon + 1.0)
            tighter = ours < theirs[horizon - 1]
            found |= {f"calls {cell}": fewer.any(), f"bound {cell}": tighter.any()}
            found[f"both {cell}"] = (fewer & tighter).any()
            found[f"subspaces {cell}"] = sizes[0] / np.log(10.0)
    return found


def _bound(gain: Array, dim: int, d: int, b: float, alpha: float, **more: Any) -> Array:
    more |= {"alpha": alpha, "delta": DELTA, "tail": (TAIL, b)}
    return theory.regret_bound_subspaces(gain, dim, d, NOISE_VAR, **more)


def _of_gp_ucb(gain: Array, dim: int, b: float) -> Array:
    return theory.regret_bound_theorem2(gain, dim, DELTA, NOISE_VAR, a=TAIL, b=b, r=2.0)


def _kernel(dim: int) -> Matern52:
    """The default kernel of the environment, of variance 1."""
    return Matern52(LENGTHSCALE * float(np.sqrt(dim)))


@cache
def _gain(dim: int, horizon: int = 10**5) -> Array:
    """The bound on gamma_T by the greedy rule on uniform points, from T = 1000 on extrapolated."""
    points = np.random.default_rng(dim).uniform(-1.0, 1.0, (CANDIDATES, dim))
    near = theory.information_gain_bound(Arms(points), _kernel(dim), NOISE_VAR, GREEDY_ROUNDS)
    half = GREEDY_ROUNDS // 2
    slope = np.log(near[-1] / near[half - 1]) / np.log(2.0)
    rounds = np.arange(GREEDY_ROUNDS + 1, horizon + 1)
    return np.concatenate([near, near[-1] * (rounds / GREEDY_ROUNDS) ** slope])[:horizon]


@cache
def _tail_scale(dim: int) -> float:
    """The smallest b for which P(sup |df/dx_j| > L) <= a exp(-(L/b)^2) at every quantile of draws.

    The supremum is over uniform points and corners, so that b is slightly too small.
    """
    rng = np.random.default_rng(dim)
    x = rng.uniform(-1.0, 1.0, (POINTS, dim))
    x[::2] = np.sign(x[::2])
    ell = LENGTHSCALE * np.sqrt(dim)
    along = x[:, None, 0] - x[None, :, 0]
    r = np.sqrt(5.0) / ell * cdist(x, x)
    covariance = 5.0 / (3.0 * ell**2) * np.exp(-r) * (1.0 + r - 5.0 / ell**2 * along**2)
    factor = np.linalg.cholesky(covariance + 1e-8 * np.eye(POINTS))
    largest = np.sort(np.abs(rng.standard_normal((DRAWS, POINTS)) @ factor.T).max(axis=1))
    exceeding = 1.0 - np.arange(DRAWS) / DRAWS
    return float((largest / np.sqrt(np.log(TAIL / exceeding))).max())


# -- Theory on draws of a Gaussian process ---------------------------------------------------------

# D and d for each D - d of Lemma 4 on draws; the draws; the features of a draw; starts of a climb.
DRAWN_SIZES = {1: (2, 1), 2: (3, 1), 5: (6, 1), 15: (20, 5)}
FUNCTIONS_DRAWN, FEATURES, STARTS = 200, 1024, 100
EFFECTIVE, RUNS, ROUNDS = 2, 100, 200


class Drawn:
    """A draw of the kernel of `_kernel` on [-1, 1]^dim, with its maximum and minimum.

    They are the ends of the best of climbs from uniform points and corners.
    """

    def __init__(self, dim: int, seed: int) -> None:
        rng = np.random.default_rng([dim, seed])
        self._sampler = FourierFeatures(_kernel(dim), dim, FEATURES, rng)
        self._xi = rng.standard_normal((1, FEATURES))
        starts = rng.uniform(-1.0, 1.0, (STARTS, dim))
        starts[::2] = np.sign(starts[::2])
        self.best, self.optimum = self._climbed(starts, 1.0)
        self.range = self.optimum + self._climbed(starts, -1.0)[1]

    def __call__(self, x: Array) -> Array:
        return self._sampler.values(x, self._xi)[0]

    def _climbed(self, starts: Array, sign: float) -> tuple[Array, float]:
        def surface(x: Array, _: Any) -> tuple[Array, Array]:
            return self._sampler.pull(x, sign * self._xi)

        high = np.ones(starts.shape[1])
        ends, values = climb(surface, starts, -high, high, evaluations=100 * STARTS)
        return ends[values.argmax()], values.max()


@cache
def _on_draws(n: int) -> tuple[Array, Array, Array]:
    """f(x*) - max f(y*, z) over z in Z of each size of `COUNTS`, the ranges, and the bounds."""
    dim, d = DRAWN_SIZES[n]
    losses, ranges = np.empty((FUNCTIONS_DRAWN, len(COUNTS))), np.empty(FUNCTIONS_DRAWN)
    for i in range(FUNCTIONS_DRAWN):
        f, x = Drawn(dim, i), np.random.default_rng([n, i]).uniform(-1.0, 1.0, (COUNTS[-1], dim))
        x[:, n:] = f.best[n:]
        reached = np.maximum.accumulate(f(x))
        losses[i], ranges[i] = f.optimum - reached[np.array(COUNTS) - 1], f.range
    b = _tail_scale(dim)
    return losses, ranges, theory.covering_term(np.array(COUNTS), dim, d, DELTA, TAIL, b)


def _in_cells(asked: Callable[[Array, Array, Array], Array]) -> Arrays:
    """What is asked of losses, ranges and bounds, for each D - d and size of Z."""
    of = {n: asked(*_on_draws(n)) for n in DRAWN_SIZES}
    return {f"n={n} Z={z}": of[n][i : i + 1] for n in of for i, z in enumerate(COUNTS)}


def covering_on_draws() -> Arrays:
    """Lemma 4, Eq. 13, with the v0 of the main text: the share of 200 draws that lose more.

    The best value of the subspaces is taken to be that at y*, as in the proof, which is never above
    the best over y: the shares are upper bounds.
    """
    return _in_cells(lambda losses, ranges, bounds: (losses > bounds).mean(axis=0))


def covering_room() -> Arrays:
    """The mean range of f on the box over the bound of Eq. 13: below 1 the bound says nothing."""
    return _in_cells(lambda losses, ranges, bounds: ranges.mean() / bounds)


def effective_bound() -> Arrays:
    """Whether R_T exceeds Proposition 4 with d_e = 2 for D - d, at any T up to 200, by draw.

    D = 20, d = 5. The function depends on two coordinates that are drawn anew; its kernel, which
    the agent knows, does too, but the agent's subspaces do not. A round has 50 random starts.
    """
    gain, b = _gain(EFFECTIVE, ROUNDS), _tail_scale(EFFECTIVE)
    found = {}
    for alpha in (0.0, 1.0):
        bound = _bound(gain, 20, 5, b, alpha, effective_dim=EFFECTIVE)
        runs = [_cumulative(alpha, b, i) > bound for i in range(RUNS)]
        found[f"alpha={alpha:g}"] = np.any(runs, axis=1)
    return found


def _cumulative(alpha: float, b: float, seed: int) -> Array:
    """The cumulative regret of MS-UCB on a function of two of 20 coordinates, (T,)."""
    f, rng = Drawn(EFFECTIVE, seed), np.random.default_rng([20, seed])
    active = rng.choice(20, EFFECTIVE, replace=False)
    lengthscales = np.full(20, 1e6)
    lengthscales[active] = _kernel(EFFECTIVE).lengthscale
    problem = Problem(Box([-1.0] * 20, [1.0] * 20), Matern52(tuple(lengthscales)), NOISE_VAR)
    beta = {"type": "subspaces", "subspace_dim": 5, "scale": 1.0, "delta": DELTA, "a": TAIL, "b": b}
    search = {"random_starts": True, "refine": 50, "evaluations": 500}
    agent = agents.make("ms-ucb", problem, seed=seed, d=5, alpha=alpha, beta=beta, **search)
    values, noise = np.empty(ROUNDS), rng.normal(0.0, np.sqrt(NOISE_VAR), ROUNDS)
    for t in range(ROUNDS):
        x = agent.ask()
        values[t] = f(x[:, active])[0]
        agent.tell(x, values[t : t + 1] + noise[t])
    return np.cumsum(f.optimum - values)


COMPUTATIONS = named(
    *(scaling, camelback, covering, covering_on_draws, covering_room, covering_effective),
    *(effective_bound, bound_by_alpha, bounds_compared, bound_and_calls),
)

"""Runs of compressed agents on arms, for the claims of bedi2022 on bounds, orders and clock times.

A run follows Algorithm 1 of bedi2022, with any posterior. One of `Runs` has that of this package,
and stops early where nothing can change any more, so that many horizons take minutes.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from gpbandits_env import Arms, SquaredExponential
from gpbandits_env.agents.acquisitions.functions import UCB, Acquisition, LogEI, Mean, leader
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp import theory
from gpbandits_env.gp.posterior import NystromPosterior, posterior_for
from gpbandits_env.rewards.functions.formulas import example, rosenbrock_10
from tools.claims import Arrays

NOISE_VAR, DELTA = 0.001, 0.1
RULES, TRIALS = ("ucb", "ei", "mpi"), 20
KERNEL = SquaredExponential(1.0)


@dataclass
class Run:
    """What a run leaves: (T,) regret per round and model order, and what bounds are about.

    Attributes:
        z: the largest |mu - y_max| / sigma over rounds and arms.
        optimum_var: the sum over rounds of sigma^2 at the optimal arm.
        missed: whether f was outside the confidence bounds at some arm in some round.
        width: the mean of 2 sqrt(beta_T) sigma over the arms at the end.
    """

    regret: Array
    order: Array
    z: float = 0.0
    optimum_var: float = 0.0
    missed: bool = False
    width: float = 0.0


class Runs:
    """Runs of the compressed agents on a set of arms."""

    def __init__(self, arms: Arms, beta: Callable[[Array], Array] | None = None) -> None:
        self.arms, self._beta = arms, beta
        self.posterior = posterior_for(arms, KERNEL, NOISE_VAR)

    def run(
        self, rule: str, values: Array, epsilon: float, horizon: int, seed: int, initial: int = 0
    ) -> Run:
        """Run "ucb", "ei" or "mpi" at epsilon nats on a function with these values at the arms."""
        self.posterior.forget()
        noise, best = begin(self.posterior, values, horizon, seed, initial)
        top = int(values.argmax())
        roots = roots_of(self.arms, horizon, self._beta)
        found = Run(np.empty(horizon), np.empty(horizon))

        def look(mean: Array, var: Array, best: float, root: float) -> None:
            sd = np.sqrt(var)
            if math.isfinite(best):
                found.z = max(found.z, float((np.abs(mean - best) / sd).max()))
            found.missed |= bool((np.abs(values - mean) > root * sd).any())
            found.optimum_var += var[top]

        threshold = theory.compression_threshold(epsilon, NOISE_VAR)
        rounds = play(self.posterior, rule, values, roots, noise, threshold, best, look)
        for t, (arm, kept) in enumerate(rounds):
            found.regret[t], found.order[t] = values[top] - values[arm], self.posterior.size
            if not kept and rule != "ucb":  # the same arm, for ever
                found.regret[t:], found.order[t:] = found.regret[t], self.posterior.size
                found.optimum_var += (horizon - 1 - t) * self.posterior.var[top]
                break
        found.width = float(2.0 * roots[-1] * np.sqrt(self.posterior.var).mean())
        return found

    def each(
        self,
        rule: str,
        functions: Array,
        epsilons: ArrayLike,
        horizons: ArrayLike,
        scale: int,
        initial: int = 0,
    ) -> NDArray[Any]:
        """Runs on functions (k, n) at each epsilon, with T of its own or one T: (k, epsilons)."""
        budgets = list(np.broadcast(epsilons, horizons))
        found = np.empty((len(functions), len(budgets)), object)
        for i, j in np.ndindex(*found.shape):
            found[i, j] = self.run(rule, functions[i], *budgets[j], scale * i + j, initial)
        return found


def of_runs(number: Callable[[Run], Any]) -> Callable[[NDArray[Any]], Array]:
    """A number of a run, for arrays of runs."""
    return np.vectorize(number, otypes=[float])


def roots_of(arms: Arms, horizon: int, beta: Callable[[Array], Array] | None = None) -> Array:
    """sqrt(beta_t) of each round, by default of the first beta_t of Theorem 3.2."""
    t = np.arange(1.0, horizon + 1.0)
    return np.sqrt(beta(t) if beta else theory.beta_finite(t, arms.size, DELTA))


def begin(
    posterior: Any, values: Array, horizon: int, seed: int, initial: int
) -> tuple[Array, float]:
    """The noise of each round, and the best reward of the points that are observed before."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0.0, math.sqrt(NOISE_VAR), horizon + initial)
    first = rng.integers(len(values), size=initial)
    return noise, observe(posterior, first, values[first] + noise[horizon:])


def observe(posterior: Any, arms: IntArray, rewards: Array) -> float:
    """Let a posterior observe points one by one; returns the best reward."""
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        posterior.condition([arm], [reward])
    return max(rewards.tolist(), default=-math.inf)


def play(
    posterior: Any,
    rule: str,
    values: Array,
    roots: Array,
    noise: Iterable[float],
    threshold: float = -math.inf,
    best: float = -math.inf,
    look: Callable[[Array, Array, float, float], None] | None = None,
) -> Iterator[tuple[int, bool]]:
    """Algorithm 1 with sqrt(beta_t) and noise of each round: the arm, and whether it was kept."""
    for root, error in zip(roots, noise, strict=False):
        mean, var = posterior.mean, posterior.var
        if look is not None:
            look(mean, var, best, root)
        acquisition = acquisition_of(rule, root, best, mean)
        arm = leader(acquisition, acquisition.score(mean, var), mean, var)[0].item()
        kept = bool(var[arm] > threshold)
        if kept:
            best = max(best, observe(posterior, np.array([arm]), values[[arm]] + error))
        yield arm, kept


def acquisition_of(rule: str, root: float, best: float, mean: Array) -> Acquisition:
    """The acquisition of a round; without a reward, the improvement is that of the mean."""
    if rule == "ucb":
        return UCB(root**2)
    if best == -math.inf:
        return Mean()
    return LogEI(best if rule == "ei" else float(mean.max()))


def line(length: float = 20.0) -> Arms:
    """The grid of the example function, with its spacing, on an interval of another length."""
    count = round(length / 20.0 * 999) + 1
    return Arms.grid(count, -length / 2.0, length / 2.0)


def plane() -> Arms:
    """The grid of Rosenbrock's function."""
    return Arms.grid((33, 33), (-2.0, -1.0), (2.0, 3.0))


def problems() -> Iterator[tuple[str, Arms, Array, int]]:
    """The functions of two figures: name, arms, values, and the number of initial points."""
    yield "example", line(), example(line().coordinates), 2
    yield "rosenbrock", plane(), -rosenbrock_10(plane().coordinates), 4


# -- Clock times: agents that refit in each round -------------------------------------------------


class Refitted:
    """The posterior of Algorithm 1, computed anew from its dictionary in each round."""

    def __init__(self, arms: Arms) -> None:
        self.gram = KERNEL(arms.coordinates)
        self.points: list[int] = []
        self.rewards: list[float] = []

    @property
    def mean(self) -> Array:
        """The mean of all arms; this computes the variance too."""
        at = self.points
        cross = self.gram[at]
        factor = cho_factor(cross[:, at] + NOISE_VAR * np.eye(len(at)), lower=True)
        var = self.gram.diagonal() - np.einsum("ij,ij->j", cross, cho_solve(factor, cross))
        self.var = np.maximum(var, 1e-12)
        return cross.T @ cho_solve(factor, np.array(self.rewards))

    def condition(self, arms: list[int], rewards: list[float]) -> None:
        self.points += arms
        self.rewards += rewards


KINDS = ("compressed", "dense", "bkb")
RATIOS = (KINDS[:2], ("bkb", "dense"), ("dense", "bkb"), ("compressed", "bkb"))


def clock(epsilon: float, horizon: int = 200, trials: int = 5) -> Arrays:
    """Tables 2 to 4: CPU seconds of agents whose posterior is computed anew in each round.

    The horizon is 200: the paper's 5 to 8 seconds for a dense agent fit a few hundred rounds of
    such a posterior, and neither 1000 nor 10,000. "a/b ..." are ratios of times to the end.
    "regret ..." is the average regret of each agent at a quarter, half and all of the compressed
    agent's time. Times differ from run to run, everything else does not.
    """
    found: Arrays = {"one": np.ones(trials)}
    for name, arms, values, initial in problems():
        timed = partial(_timed, arms, values, initial, epsilon, horizon)
        for rule in RULES:
            made = {k: [timed(rule, k, i) for i in range(trials)] for k in KINDS}
            seconds = {k: np.array([times[-1] for times, _ in m]) for k, m in made.items()}
            for a, b in RATIOS:
                found[f"{a}/{b} {name} {rule}"] = seconds[a] / seconds[b]
            for kind, runs in made.items():
                times, regret = np.swapaxes(runs, 0, 1)
                for part in (0.25, 0.5, 1.0):
                    average = reached(times, regret.cumsum(axis=1), part * seconds["compressed"])[1]
                    found[f"regret {name} {rule} {part:g} {kind}"] = average
    return found


def reached(seconds: Array, regret: Array, ends: Array) -> tuple[IntArray, Array]:
    """The last round that is done at a time, and the average regret until then, by trial.

    If the first round takes longer, it is that round. ``regret`` is cumulative: (trials, T).
    """
    done = np.maximum(
        [np.searchsorted(s, end, "right") for s, end in zip(seconds, ends, strict=True)], 1
    )
    return done, regret[np.arange(len(done)), done - 1] / done


def _timed(
    arms: Arms, values: Array, initial: int, epsilon: float, horizon: int, *run: Any
) -> tuple[Array, Array]:
    """The seconds after each round, and the regret of each round."""
    rule, kind, trial = run
    posterior: Any = Refitted(arms)
    if kind == "bkb":  # which is computed anew in each round too
        posterior = NystromPosterior(arms, KERNEL, NOISE_VAR, rng=np.random.default_rng(0))
    noise, best = begin(posterior, values, horizon, trial, initial)
    roots = roots_of(arms, horizon)
    most = theory.compression_threshold(epsilon, NOISE_VAR) if kind == "compressed" else -math.inf
    times, regret = np.empty((2, horizon))
    began = process_time()
    for t, (arm, _) in enumerate(play(posterior, rule, values, roots, noise, most, best)):
        regret[t], times[t] = values.max() - values[arm], process_time() - began
    return times, regret

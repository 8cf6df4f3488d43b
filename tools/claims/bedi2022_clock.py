"""The clock times that decide claims of bedi2022: of agents that refit in each round."""

import math
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.gp.posterior import NystromPosterior
from tools.claims import Arrays
from tools.claims.bedi2022_runs import KERNEL, NOISE_VAR, RULES, begin, play, problems, roots_of


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

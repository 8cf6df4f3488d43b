"""Long runs of compressed agents on arms, for the claims of bedi2022 on model orders and bounds.

A run follows Algorithm 1 of bedi2022 with the posterior of this package. It keeps nothing per round
but sums, and stops early where nothing can change any more, so that many horizons take minutes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from gpbandits_env.agents.acquisitions.functions import log_h
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.posterior import posterior_on

NOISE_VAR, DELTA = 0.001, 0.1
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
        self.arms = arms
        self.posterior = posterior_on(arms, KERNEL, NOISE_VAR)
        self._beta = beta or (lambda t: theory.beta_finite(t, arms.size, DELTA))

    def run(
        self, rule: str, values: Array, epsilon: float, horizon: int, seed: int, initial: int = 0
    ) -> Run:
        """Run "ucb", "ei" or "mpi" at epsilon nats on a function with these values at the arms."""
        rng, posterior = np.random.default_rng(seed), self.posterior
        noise = rng.normal(0.0, math.sqrt(NOISE_VAR), horizon + initial)
        threshold = theory.compression_threshold(epsilon, NOISE_VAR)
        posterior.forget()
        first = rng.integers(self.arms.size, size=initial)
        best = -math.inf
        for i, arm in enumerate(first):
            reward = values[arm] + noise[horizon + i]
            posterior.condition([arm], [reward])
            best = max(best, reward)
        roots = np.sqrt(self._beta(np.arange(1.0, horizon + 1.0)))
        found = Run(np.empty(horizon), np.empty(horizon))
        changed, top = True, int(values.argmax())
        for t in range(horizon):
            if changed:
                mean, var = posterior.mean, posterior.var
                sd = np.sqrt(var)
                self._look(found, values, mean, sd, best, roots[t])
                if rule != "ucb":
                    arm = improved(mean, sd, best if rule == "ei" else float(mean.max()))
            if rule == "ucb":
                arm = int((mean + roots[t] * sd).argmax())
            found.regret[t] = values[top] - values[arm]
            found.optimum_var += var[top]
            changed = bool(var[arm] > threshold)
            if changed:
                reward = values[arm] + noise[t]
                posterior.condition([arm], [reward])
                best = max(best, reward)
            found.order[t] = posterior.size
            if not changed and rule != "ucb":  # the same arm, for ever
                found.regret[t:], found.order[t:] = found.regret[t], posterior.size
                found.optimum_var += (horizon - 1 - t) * var[top]
                break
        found.width = float(2.0 * roots[-1] * np.sqrt(posterior.var).mean())
        return found

    @staticmethod
    def _look(found: Run, values: Array, mean: Array, sd: Array, best: float, root: float) -> None:
        if math.isfinite(best):
            found.z = max(found.z, float((np.abs(mean - best) / sd).max()))
        found.missed |= bool((np.abs(values - mean) > root * sd).any())


def improved(mean: Array, sd: Array, level: float) -> int:
    """The arm of the largest expected improvement over a level, in logarithms where it underflows.

    Without a reward the level is minus infinity, and the arm that of the largest mean.
    """
    if not math.isfinite(level):
        return int(mean.argmax())
    z = (mean - level) / sd
    score = sd * (np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) + z * ndtr(z))
    if score.max() < 1e-250:
        score = np.log(sd) + log_h(z)
    return int(score.argmax())


def line(length: float = 20.0) -> Arms:
    """The grid of the example function, with its spacing, on an interval of another length."""
    count = round(length / 20.0 * 999) + 1
    return Arms.grid(count, -length / 2.0, length / 2.0)


def plane() -> Arms:
    """The grid of Rosenbrock's function."""
    return Arms.grid((33, 33), (-2.0, -1.0), (2.0, 3.0))

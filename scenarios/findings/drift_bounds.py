"""The regret bounds of bogunovic2016 as curves that a plot can lay over a result."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env import theory
from gpbandits_env.agents.algorithms.r_gp_ucb import paper_block_length
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios.findings.bounds import BOUNDS, Bound
from gpbandits_env.theory import time_varying

LONGEST_BLOCK = 60


def _arms(problem: Problem) -> Arms:
    if not isinstance(problem.domain, Arms) or problem.batch_size != 1 or problem.epsilon is None:
        raise InvalidInput(
            "Theorems 4.2 and 4.3 are about one action a round among arms of a function that "
            "drifts with a known epsilon"
        )
    return problem.domain


def _average(bound: Array) -> Array:
    average: Array = bound / np.arange(1, len(bound) + 1)
    return average


@BOUNDS.register("theorem4.3")
@dataclass(frozen=True)
class Theorem43(Bound):
    """Of TV-GP-UCB, with gamma~_T at most twice the greedy gain of this very problem.

    Args:
        delta: the probability that it fails.
        a: of the derivatives' tail a exp(-(L/b)^2); not stated by the paper.
        b: the same.
        metric: what it bounds.
    Source: bogunovic2016, eqs. (19)-(20).
    """

    delta: float = 0.1
    a: float = 1.0
    b: float = 1.0
    metric: str = "average_regret"

    @property
    def title(self) -> str:
        return f"Theorem 4.3, greedy gain, delta = {self.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        arms, epsilon = _arms(problem), float(problem.epsilon or 0.0)
        gain = 2.0 * time_varying.greedy_time_varying_gain(
            arms, problem.kernel, problem.noise_var, epsilon, horizon
        )
        return _average(self._regret(problem, gain, horizon))

    def _regret(self, problem: Problem, gain: Array, horizon: int) -> Array:
        rounds = np.arange(1, horizon + 1)
        beta = time_varying.beta_time_varying(
            rounds, problem.domain.dim, self.delta, self.a, self.b
        )
        return time_varying.regret_bound_time_varying(rounds, beta, gain, problem.noise_var)


@BOUNDS.register("theorem4.3-blocks")
@dataclass(frozen=True)
class Theorem43Blocks(Theorem43):
    """Of TV-GP-UCB, with gamma~_T bounded by blocks, eq. (21), of the best length up to 60.

    ERRATUM: as printed, eq. (21) is wrong (see `theory.time_varying.time_varying_gain_bound`):
    both forms are curves.

    Args:
        as_printed: the paper's own form.
    """

    as_printed: bool = False

    @property
    def title(self) -> str:
        form = "as printed" if self.as_printed else "corrected"
        return f"Theorem 4.3, eq. (21) {form}, delta = {self.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        arms, noise_var = _arms(problem), problem.noise_var
        longest = min(LONGEST_BLOCK, horizon)
        gains = theory.information_gain_bound(arms, problem.kernel, noise_var, longest)
        rounds = np.arange(1, horizon + 1)
        forms = [
            time_varying.time_varying_gain_bound(
                rounds,
                block,
                float(gains[block - 1]),
                noise_var,
                float(problem.epsilon or 0.0),
                as_printed=self.as_printed,
            )
            for block in range(1, longest + 1)
        ]
        return _average(self._regret(problem, np.min(forms, axis=0), horizon))


@BOUNDS.register("theorem4.2")
@dataclass(frozen=True)
class Theorem42(Bound):
    """Of R-GP-UCB with the paper's block length, gamma_N bounded greedily.

    Args:
        delta: the probability that it fails.
        a: of the derivatives' tail a exp(-(L/b)^2); not stated by the paper.
        b: the same.
        a0: of the function's tail; not stated either.
        b0: the same.
        metric: what it bounds.
    Source: bogunovic2016, eqs. (16)-(18).
    """

    delta: float = 0.1
    a: float = 1.0
    b: float = 1.0
    a0: float = 1.0
    b0: float = 1.0
    metric: str = "average_regret"

    @property
    def title(self) -> str:
        return f"Theorem 4.2 (R-GP-UCB), delta = {self.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        arms, noise_var = _arms(problem), problem.noise_var
        block = paper_block_length(problem.replaced(horizon=horizon))
        gain = theory.information_gain_bound(arms, problem.kernel, noise_var, block)[-1]
        rounds = np.arange(1, horizon + 1)
        beta = time_varying.beta_resetting(rounds, arms.dim, self.delta, self.a, self.b)
        bound = time_varying.regret_bound_resetting(
            rounds,
            beta,
            block,
            float(gain),
            noise_var,
            float(problem.epsilon or 0.0),
            self.delta,
            self.a0,
            self.b0,
        )
        return _average(bound)

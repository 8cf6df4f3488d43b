"""GP-UCB and TV-GP-UCB through ask and tell, compared with the same algorithm as a bare NumPy loop.

    python benchmarks/ask_tell.py [--wall]

The bare loop keeps the mean and the covariance of the kernel's coefficients xi, f = F xi. It checks
nothing, logs nothing and supports one kernel. It chooses the same actions, by the same rule for
ties. GP-UCB has 1000 arms on [0, 1], an SE kernel of lengthscale 0.2 and noise variance 0.025.
TV-GP-UCB has 50 x 50 arms and epsilon 0.01.

The two loops take turns. Of every 50 rounds the fastest run counts, so that other programs affect
neither of them.
"""

import math

from loops import clock_of, options, table

CHOSEN = options(__doc__.splitlines()[0])

import numpy as np

from gpbandits_env import agents
from gpbandits_env.arrays import TIE
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

LENGTHSCALE, NOISE_VAR, EPSILON, ROUNDS = 0.2, 0.025, 0.01, 1000
FOLD_EVERY, BLOCK = 32, 50
CLOCK = clock_of(CHOSEN)


def problem(grid, epsilon):
    kernel = SquaredExponential(LENGTHSCALE)
    return Problem(Arms.grid(grid), kernel, NOISE_VAR, horizon=ROUNDS, epsilon=epsilon)


def function(arms, rng):
    x = arms.coordinates.sum(axis=1)
    return np.sin(9.0 * x) + 0.3 * np.cos(25.0 * x + rng.uniform())


def ours(name, given, rewards):
    agent = agents.make(name, given, seed=0, posterior="coefficients")
    played, spent = np.empty(ROUNDS, dtype=np.int64), []
    for first in range(0, ROUNDS, BLOCK):
        start = CLOCK()
        for t in range(first, first + BLOCK):
            actions = agent.ask()
            played[t] = actions[0]
            agent.tell(actions, rewards[t : t + 1, actions[0]])
        spent.append(CLOCK() - start)
    return spent, played


def bare(factor, betas, rewards, epsilon):
    """The Bayesian linear model of the coefficients; rows enter the covariance in blocks."""
    n, rank = factor.size, factor.rank
    features = factor.rows(np.arange(n)) if n <= 1000 else None
    mean, var = np.zeros(n), factor.squared_norms()
    prior_var, scratch = var.copy(), np.empty(n)
    covariance, block, slot, past_part = np.eye(rank), np.empty((FOLD_EVERY, rank)), None, None
    count, scale, rho = 0, 1.0, math.sqrt(1.0 - epsilon)
    slot, past_part = np.empty(rank), np.empty(rank)
    played, spent = np.empty(ROUNDS, dtype=np.int64), []
    for first in range(0, ROUNDS, BLOCK):
        start = CLOCK()
        for t in range(first, first + BLOCK):
            score = np.sqrt(var)
            score *= betas[t]
            score += mean
            arm = int(score.argmax())
            size = abs(mean.item(arm)) + betas[t] * math.sqrt(var.item(arm))
            arm = int((score >= score.item(arm) - TIE * size).argmax())
            played[t] = arm
            phi = factor.row(arm) if features is None else features[arm]
            np.dot(covariance, phi, out=slot)
            if count:
                past = block[:count]
                np.dot(past.dot(phi), past, out=past_part)
                slot -= past_part
            if scale != 1.0:
                slot *= scale**2
                slot += (1.0 - scale**2) * phi
            s = math.sqrt(var.item(arm) + NOISE_VAR)
            slot *= 1.0 / s
            v = factor(slot) if features is None else features.dot(slot)
            surprise = (rewards.item(t, arm) - mean.item(arm)) / s
            np.multiply(v, surprise, out=scratch)
            mean += scratch
            np.multiply(v, v, out=scratch)
            var -= scratch
            np.divide(slot, scale, out=block[count])
            count += 1
            if epsilon:
                mean *= rho
                var *= rho**2
                np.multiply(prior_var, 1.0 - rho**2, out=scratch)
                var += scratch
                scale *= rho
            if count == FOLD_EVERY:
                covariance -= block.T @ block
                if scale != 1.0:
                    covariance *= scale**2
                    covariance.flat[:: rank + 1] += 1.0 - scale**2
                count, scale = 0, 1.0
        spent.append(CLOCK() - start)
    return spent, played


def compared(name, grid, epsilon):
    """The ratio of the times, and the times themselves."""
    given = problem(grid, epsilon)
    shape = (ROUNDS, given.domain.size)
    rng = np.random.default_rng(0)
    rewards = function(given.domain, rng) + math.sqrt(NOISE_VAR) * rng.standard_normal(shape)
    agent = agents.make(name, given, posterior="coefficients")
    factor = agent.posterior._representation.factor
    betas = [math.sqrt(agent.rule.beta(t, 0.0)) for t in range(1, ROUNDS + 1)]
    loops = (lambda: ours(name, given, rewards), lambda: bare(factor, betas, rewards, epsilon))
    runs = [[loop() for loop in loops] for _ in range(CHOSEN.repeats)]
    own, least = (
        sum(map(min, zip(*(spent for spent, _ in of), strict=True)))
        for of in zip(*runs, strict=True)
    )
    agree = np.mean(runs[0][0][1] == runs[0][1][1])
    words = f"{name}: {1e6 * own / ROUNDS:.1f} and {1e6 * least / ROUNDS:.1f} us a round, "
    return own / least, f"{words}{agree:.1%} of the actions equal"


def rows():
    for target, case in (
        ("<= 1.30", ("gp-ucb", (1000,), 0.0)),
        ("<= 1.15", ("tv-gp-ucb", (50, 50), EPSILON)),
    ):
        ratio, words = compared(*case)
        yield ratio, target, words


if __name__ == "__main__":
    table("ask and tell / a bare NumPy loop", CHOSEN, list(rows()))

"""The computations that decide the claims of bedi2022 on model orders and dictionaries."""

import math
from collections.abc import Iterable
from functools import partial
from itertools import product

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.gp.posterior import NystromPosterior
from gpbandits_env.rewards.functions.formulas import example
from gpbandits_env.scenarios.papers.bedi2022 import QBAR
from tools.claims import Arrays
from tools.claims import bedi2022_runs as compressed
from tools.claims.bedi2022_runs import KERNEL, NOISE_VAR, RULES, TRIALS, Run, Runs, line, of_runs


def _settling(runs: Iterable[Run]) -> tuple[Array, Array]:
    """(units, 4) the orders of runs over the last quarter of the rounds, and the rounds."""
    orders = np.array([run.order for run in runs])
    rounds = np.round(np.linspace(0.75, 1.0, 4) * orders.shape[1]).astype(int)
    return orders[:, rounds - 1], rounds


def epsilons(rule: str) -> Arrays:
    """Theorem 3.1, eq. (3.1): model orders at six constant epsilons, T = 10,000, 20 trials.

    The example function (p = 1) and Rosenbrock's (p = 2), with random initial points.
    """
    budgets = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    found: Arrays = {"inverse": 1.0 / np.expm1(2.0 * np.array(budgets))}
    for name, arms, values, initial in compressed.problems():
        made = Runs(arms).each(rule, np.tile(values, (TRIALS, 1)), budgets, 10_000, 100, initial)
        found[f"order {name}"] = of_runs(lambda run: run.order[-1])(made)
        for epsilon, column in zip(budgets, made.T, strict=True):
            found[f"settling {name} {epsilon:g}"], found["rounds"] = _settling(column)
    return found


def domains(epsilon: float, horizon: int) -> Arrays:
    """Section 4.1, last sentence: orders on the example function on three domains, 20 trials.

    The domains are [-5, 5], [-10, 10] and [-20, 20], with the same spacing. "order ..." is NaN
    where the mean order has not settled: its slope over the last quarter of the rounds is 0.1 or
    more.
    """
    lengths = (10.0, 20.0, 40.0)
    found: Arrays = {"length": lengths}
    for rule in RULES:
        final = np.empty((TRIALS, len(lengths)))
        for j, length in enumerate(lengths):
            arms = line(length)
            runs, values = Runs(arms), example(arms.coordinates)
            run = partial(runs.run, rule, values, epsilon, horizon, initial=2)
            kept, rounds = _settling([run(seed=10 * i + j) for i in range(TRIALS)])
            slope = np.polyfit(np.log(rounds), np.log(kept.mean(axis=0)), 1)[0]
            final[:, j] = kept[:, -1] if slope < 0.1 else np.nan
        found[f"order {rule}"], found[f"order {rule} at 20"] = final, final[:, 1]
    return found


def dictionaries(horizon: int = 2000) -> Arrays:
    """BKB's dictionaries on the example function, drawn by arm or by pull.

    For qbar = 5 and that of its theory: the number of rounds after which the arm that was pulled
    most is missing, the largest number of points counted with repeats, and at the end the points
    counted with repeats, the distinct points and the number of features.
    """
    arms, found = line(), {}
    values, roots = example(arms.coordinates), compressed.roots_of(arms, horizon)
    for per, qbar, rule in product(("arm", "pull"), (5.0, QBAR), RULES):
        rng = np.random.default_rng(0)
        posterior = NystromPosterior(arms, KERNEL, NOISE_VAR, qbar=qbar, per=per, rng=rng)
        noise = (rng.normal(0.0, math.sqrt(NOISE_VAR)) for _ in roots)
        missing, largest, pulls = 0, 0, np.zeros(arms.size)
        for arm, _ in compressed.play(posterior, rule, values, roots, noise):
            pulls[arm] += 1.0
            copies = posterior.state()["_copies"]
            missing += copies[pulls.argmax()] == 0
            largest = max(largest, int(copies.sum()))
        end = {"missing": missing, "largest": largest, "repeats": copies.sum()}
        end |= {"distinct": posterior.size, "rank": posterior.rank}
        found |= {f"{name} {per} {qbar:g} {rule}": [value] for name, value in end.items()}
    return found

"""The computations that decide the claims of bedi2022 on bounds, model orders and dictionaries."""

import math
from collections.abc import Iterable
from functools import partial
from itertools import product

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.gp.posterior import NystromPosterior
from gpbandits_env.gp.samplers import sampler_for
from gpbandits_env.rewards.functions.formulas import example
from gpbandits_env.scenarios.papers.bedi2022 import QBAR
from tools.claims import Arrays
from tools.claims import bedi2022_runs as compressed
from tools.claims.bedi2022_runs import DELTA, KERNEL, NOISE_VAR, RULES, TRIALS, Run, Runs, of_runs

HORIZONS = (250, 500, 1000, 2000, 4000, 8000)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def _drawn(arms: Arms, count: int) -> Array:
    """Functions drawn from the kernel, (count, n)."""
    return sampler_for(arms, KERNEL).draw(np.random.default_rng(0), count)


_regret, _order = of_runs(lambda run: run.regret.sum()), of_runs(lambda run: run.order[-1])


def _uniform(functions: Array) -> Array:
    """The regret of uniform play, (functions, horizons)."""
    return np.outer(functions.max(axis=1) - functions.mean(axis=1), HORIZONS)


def horizons(dim: int, rule: str) -> Arrays:
    """Functions drawn from the kernel at epsilon_T = log(1 + T^-alpha)/2 (Theorem 3.1, Table 1).

    20 functions on the grid of the example (p = 1) or of Rosenbrock's function (p = 2), six
    horizons T, alpha p in {0, 1/4, 1/2, 3/4, 1}. Regret R_T and order M_T, the bounds (3.2) for
    "ucb" and (3.6) for "ei" over them, and what the bounds need: gamma_M is the greedy information
    over (1 - 1/e), R the largest z of a run. "trend" is the slope of the log on alpha p at the
    largest T.
    """
    arms = compressed.line() if dim == 1 else compressed.plane()
    runs, functions = Runs(arms), _drawn(arms, TRIALS)
    gains = theory.information_gain_bound(arms, KERNEL, NOISE_VAR, HORIZONS[-1])
    betas = theory.beta_finite(HORIZONS, arms.size, DELTA)
    recent = of_runs(lambda run: (run.order[-len(run.order) // 10 :] ** 2).mean())
    found: Arrays = {"T": HORIZONS, "zero": np.zeros(TRIALS)}
    for share in SHARES:
        epsilons = theory.compression_budget(HORIZONS, share / dim)
        made = runs.each(rule, functions, epsilons, HORIZONS, 1000, 2**dim)
        regret, order = _regret(made), _order(made)
        found |= {f"R {share:g}": regret, f"M {share:g}": order}
        if share != 0.5:  # bounds are judged at alpha p = 1/2
            continue
        gain = gains[np.minimum(order.astype(int), HORIZONS[-1]) - 1]
        bound = _bound(rule, betas, gain, epsilons, of_runs(lambda run: run.z)(made))
        informed = gain + epsilons * (np.array(HORIZONS) + 2**dim - order)
        most = 2.0 / math.log1p(1.0 / NOISE_VAR) * informed
        found["bound 0.5"] = regret / bound
        found["vacuous 0.5"] = (bound / _uniform(functions))[:, -1]
        found["step 0.5"] = of_runs(lambda run: run.optimum_var)(made) / most
        found["operations 0.5"] = arms.size * recent(made)
    for name in ("R", "M"):
        columns = [found[f"{name} {share:g}"][:, -1] for share in SHARES]
        found |= {f"last {name} 0": columns[0], f"last {name} 1": columns[-1]}
        logs = np.log(np.maximum(columns, 1e-12))
        found[f"trend {name}"] = np.polyfit(SHARES, logs, 1)[0]  # on alpha p
    return found


def _bound(rule: str, beta: Array, gain: Array, epsilon: Array, z: Array) -> Array:
    """The bound (3.2) or (3.6) as printed for each run, (functions, horizons)."""
    given = (HORIZONS, beta, gain, NOISE_VAR, epsilon)
    if rule == "ucb":
        return theory.regret_bound_compressed(*given)
    return theory.regret_bound_compressed_ei(*given, z, as_printed=True)


def corollary() -> Arrays:
    """Corollary 3.3, on the example function at alpha = 1/2, beside `horizons`.

    R_T over (3.5), M_T over sqrt(T), and at the largest T (3.5) over T (f* - mean f), on functions
    drawn from the kernel at the six horizons. The trace of the kernel matrix of 1000 arms is 1000.
    "M example" and "R example" are 20 trials on the example function at T = 100, 400, 1600, 6400.
    """
    arms, times = compressed.line(), (100, 400, 1600, 6400)
    runs, functions = Runs(arms), _drawn(arms, TRIALS)
    made = runs.each("ucb", functions, theory.compression_budget(HORIZONS, 0.5), HORIZONS, 1000, 2)
    beta = theory.beta_finite(HORIZONS, arms.size, DELTA)
    bound = theory.regret_bound_compressed_finite(HORIZONS, beta, arms.size, NOISE_VAR)
    same = np.tile(example(arms.coordinates), (TRIALS, 1))
    shown = runs.each("ucb", same, theory.compression_budget(times, 0.5), times, 10, 2)
    return {
        "R over (3.5)": _regret(made) / bound,
        "(3.5) over uniform play": (bound / _uniform(functions))[:, -1],
        "M over root": _order(made) / np.sqrt(HORIZONS),
        "M example": _order(shown),
        "R example": _regret(shown),
        "T example": times,
    }


def continuous(dim: int) -> Arrays:
    """Theorem 3.2(ii), eq. (3.4), with the second beta_t, alpha = 1/(2p), 20 functions.

    The functions are drawn on fine grids of [0, r]^d, r = 20 in one and 4 in two dimensions, on
    which the acquisition is maximised. a and b of (3.3) follow from the expected number of
    upcrossings of the derivative (d = 1), or its expected Euler characteristic (d = 2).
    """
    arms, r = (compressed.line(), 20.0) if dim == 1 else (compressed.plane(), 4.0)
    a, b = 1.0 + math.sqrt(3.0) * r / math.pi, math.sqrt(2.0)
    if dim == 2:
        area = math.sqrt(3.0) * r**2 / (2.0 * math.pi) ** 1.5 * math.sqrt(2.0 / math.e)
        a, b = 2.0 * (area + r * (1.0 + math.sqrt(3.0)) / (2.0 * math.pi) + 0.5), 2.0
    width = partial(theory.beta_continuous, dim=dim, delta=DELTA, a=a, b=b, r=r)
    runs, functions = Runs(arms, width), _drawn(arms, TRIALS)
    gains = theory.information_gain_bound(arms, KERNEL, NOISE_VAR, HORIZONS[-1])
    epsilon = theory.compression_budget(HORIZONS, 0.5 / dim)
    made = runs.each("ucb", functions, epsilon, HORIZONS, 1000)
    gain = gains[_order(made).astype(int) - 1]
    bound = theory.regret_bound_compressed(
        HORIZONS, width(HORIZONS), gain, NOISE_VAR, epsilon, continuous=True
    )
    vacuous = (bound / _uniform(functions))[:, -1]
    return {"R over (3.4)": _regret(made) / bound, "(3.4) over uniform play": vacuous}


def confidence() -> Arrays:
    """Lemma 8.1: whether f was outside the bounds at any arm and round, and the bounds' width.

    100 functions drawn from the kernel on the grid of the example, T = 2000, compressed GP-UCB at
    alpha = 1/2 and at epsilon = 0.01 and 0.05.
    """
    arms, horizon, found = compressed.line(), 2000, {}
    runs, functions = Runs(arms), _drawn(arms, 100)
    budgets = {"alpha": float(theory.compression_budget(horizon, 0.5)), "0.01": 0.01, "0.05": 0.05}
    for name, epsilon in budgets.items():
        made = runs.each("ucb", functions, [epsilon], horizon, 1)[:, 0]
        widths = of_runs(lambda run: run.width)(made)
        found[f"missed {name}"] = of_runs(lambda run: run.missed)(made)
        found[f"width over range {name}"] = widths / np.ptp(functions, axis=1)
    return found


def constant() -> Arrays:
    """Eq. (8.31): the average regret over rounds 7501 to 10,000 at constant epsilons.

    20 functions drawn from the kernel on the grid of the example, GP-UCB.
    """
    arms, epsilons = compressed.line(), (0.1, 0.05, 0.02, 0.01, 0.005)
    made = Runs(arms).each("ucb", _drawn(arms, TRIALS), epsilons, 10_000, 100, 2)
    found = of_runs(lambda run: run.regret[7500:].mean())(made)
    idle = (found == 0.0).mean(axis=0) > 0.5
    return {"regret": found[:, ~idle], "epsilon": np.array(epsilons)[~idle]}


# -- Model orders and dictionaries -----------------------------------------------------------------


def _settling(runs: Iterable[Run]) -> tuple[Array, IntArray]:
    """(units, 4) the orders of runs over the last quarter of the rounds, and the rounds."""
    orders = np.array([run.order for run in runs])
    rounds = np.round(np.linspace(0.75, 1.0, 4) * orders.shape[1]).astype(int)
    return orders[:, rounds - 1], rounds


def settled(orders: Array, rounds: IntArray) -> Array:
    """Orders (units, k) after the last of some rounds; NaN if their mean still grows.

    It does if its slope on these rounds is 0.1 or more, on logarithmic axes.
    """
    x = np.log(rounds) - np.log(rounds).mean()
    slope = x @ np.log(orders.mean(axis=0)) / (x @ x)
    return orders[:, -1] if slope < 0.1 else np.full(len(orders), np.nan)


def epsilons(rule: str) -> Arrays:
    """Theorem 3.1, eq. (3.1): model orders at six constant epsilons, T = 10,000, 20 trials.

    The example function (p = 1) and Rosenbrock's (p = 2), with random initial points.
    """
    budgets = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    found: Arrays = {"inverse": 1.0 / np.expm1(2.0 * np.array(budgets))}
    for name, arms, values, initial in compressed.problems():
        made = Runs(arms).each(rule, np.tile(values, (TRIALS, 1)), budgets, 10_000, 100, initial)
        found[f"order {name}"] = _order(made)
        for epsilon, column in zip(budgets, made.T, strict=True):
            found[f"settling {name} {epsilon:g}"], found["rounds"] = _settling(column)
    return found


def domains(epsilon: float, horizon: int) -> Arrays:
    """Section 4.1, last sentence: orders on the example function on three domains, 20 trials.

    The domains are [-5, 5], [-10, 10] and [-20, 20], with the same spacing. "order ..." is NaN
    where the mean order has not settled in the last quarter of the rounds: see `settled`.
    """
    lengths = (10.0, 20.0, 40.0)
    found: Arrays = {"length": lengths}
    for rule in RULES:
        final = np.empty((TRIALS, len(lengths)))
        for j, length in enumerate(lengths):
            arms = compressed.line(length)
            runs, values = Runs(arms), example(arms.coordinates)
            run = partial(runs.run, rule, values, epsilon, horizon, initial=2)
            final[:, j] = settled(*_settling(run(seed=10 * i + j) for i in range(TRIALS)))
        found[f"order {rule}"], found[f"order {rule} at 20"] = final, final[:, 1]
    return found


def dictionaries(horizon: int = 2000) -> Arrays:
    """BKB's dictionaries on the example function, drawn by arm or by pull.

    For qbar = 5 and that of its theory: the number of rounds after which the arm that was pulled
    most is missing, the largest number of points counted with repeats, and at the end the points
    counted with repeats, the distinct points and the number of features.
    """
    arms, found = compressed.line(), {}
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

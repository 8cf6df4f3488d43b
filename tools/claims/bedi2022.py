"""What decides the claims of bedi2022 beside its curves."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.gp.posterior import NystromPosterior
from gpbandits_env.gp.samplers import sampler_for
from gpbandits_env.rewards.functions.formulas import example, rosenbrock_10
from gpbandits_env.scenarios.papers.bedi2022 import ENTROPY, EPSILON, QBAR
from gpbandits_env.scenarios.results.curves import along
from gpbandits_env.scenarios.results.evidence import rounds_kept
from gpbandits_env.scenarios.results.store import Store
from tools.claims import Arrays, named
from tools.claims import compressed_runs as compressed
from tools.claims.compressed_runs import DELTA, KERNEL, NOISE_VAR, Run, Runs, line, plane, roots_of

EVALUATION = 0.045  # seconds per evaluation of the logistic regression
OPERATION = 1e-9  # seconds per operation of a refit, which has |X| M^2 of them
# Late average regrets below this, a thirtieth of the noise's standard deviation, are level.
NEGLIGIBLE = 0.001
DENSE = {"cub": "gp-ucb", "cei": "ei", "cmpi": "mpi"}


def _judged_late(orders: Array) -> bool:
    """Whether the median trial rejects an observation in the first three quarters of the rounds."""
    until = int(0.75 * orders.shape[1])
    rejected = (np.diff(orders[:, :until], axis=1) == 0).any(axis=1)
    return bool(np.median(rejected) > 0.5)


def _dense(label: str) -> str:
    """The dense agent that corresponds to a compressed one; empty for other agents."""
    name, slash, reading = label.partition("/")
    found = DENSE.get(name, "")
    return found + slash + reading if found and reading == "delta" else found


def late(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Average regret over the second half of the rounds, and the order where it may settle.

    Both are NaN for a compressed agent whose median trial leaves out nothing in the first three
    quarters of the rounds.
    """
    regret, orders = (along(store, cell, label, k) for k in ("average_regret", "model_order"))
    trials, horizon = orders.shape
    half = horizon // 2
    average = (horizon * regret[:, -1] - half * regret[:, half - 1]) / (horizon - half)
    found = np.maximum(average, NEGLIGIBLE)
    kept = orders[:, rounds_kept(horizon, trials) - 1]
    if _dense(label) and not _judged_late(orders):
        found, kept = np.full_like(found, np.nan), np.full_like(kept, np.nan)
    return {"late_regret": found, "settling_order": kept}


def early(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Average regret and model order after the rounds that the paper's clock times suggest."""
    return {
        f"{name}_{t}": along(store, cell, label, name)[:, t - 1]
        for name in ("average_regret", "model_order")
        for t in (50, 100, 500)
    }


def size(store: Store, cell: int, label: str) -> dict[str, Array]:
    """The rounds per point in the model, its inverse, and the share of rounds evaluated."""
    orders, spent = (along(store, cell, label, k) for k in ("model_order", "evaluations"))
    horizon, initial = orders.shape[1], spent[:, :1] - 1.0
    return {
        "compression": horizon / orders[:, -1],
        "order_share": orders[:, -1] / horizon,
        "evaluated": (spent[:, -1:] / (horizon + np.round(initial)))[:, 0],
    }


def time(store: Store, cell: int, label: str) -> dict[str, Array]:
    """Time with a refit in each round and 45 ms per evaluation, on the logistic regression.

    ``round_time`` is the mean over the rounds since the one that is kept before, and
    ``time_share`` the time to the end over that of the dense agent.
    """
    own, dense = _times(store, cell, label), _dense(label)
    rounds = rounds_kept(own.shape[1], len(own))
    total = np.cumsum(own, axis=1)[:, rounds - 1]
    found = {"round_time": np.diff(total, axis=1, prepend=0.0) / np.diff(rounds, prepend=0)}
    if dense in store.labels(cell):
        found["time_share"] = total[:, -1] / _times(store, cell, dense).sum(axis=1)
    return found


def _times(store: Store, cell: int, label: str) -> Array:
    orders, spent = (along(store, cell, label, k) for k in ("model_order", "evaluations"))
    made = np.diff(spent, axis=1, prepend=0.0)
    return EVALUATION * made + OPERATION * 192 * orders**2


# -- Computations ---------------------------------------------------------------------------------

RULES = ("ucb", "ei", "mpi")
TRIALS = 20
HORIZONS = (250, 500, 1000, 2000, 4000, 8000)
QUARTER = (0.75, 5 / 6, 11 / 12, 1.0)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def _drawn(arms: Arms, count: int) -> Array:
    """Functions drawn from the kernel, (count, n)."""
    return sampler_for(arms, KERNEL).draw(np.random.default_rng(0), count)


def _settling(runs: Any) -> tuple[Array, Array]:
    """(units, 4) the orders of runs over the last quarter of the rounds, and the rounds."""
    orders = np.array([run.order for run in runs])
    rounds = np.round(np.array(QUARTER) * orders.shape[1]).astype(int)
    return orders[:, rounds - 1], rounds


def _budgets(alpha: float, times: Sequence[int] = HORIZONS) -> list[tuple[float, int]]:
    """epsilon_T = log(1 + T^-alpha)/2 with T, for each horizon T."""
    return list(zip(theory.compression_budget(times, alpha).tolist(), times, strict=True))


def _of(run: Callable[[Run], float]) -> Callable[[Any], Array]:
    """A number of a run, for arrays of runs."""
    return np.vectorize(run, otypes=[float])


_regret, _order = _of(lambda run: float(run.regret.sum())), _of(lambda run: float(run.order[-1]))


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
    arms = line() if dim == 1 else plane()
    runs, functions = Runs(arms), _drawn(arms, TRIALS)
    gains = theory.information_gain_bound(arms, KERNEL, NOISE_VAR, HORIZONS[-1])
    betas = theory.beta_finite(HORIZONS, arms.size, DELTA)
    recent = _of(lambda run: float((run.order[-len(run.order) // 10 :] ** 2).mean()))
    found: Arrays = {"T": HORIZONS, "zero": np.zeros(TRIALS)}
    for share in SHARES:
        made = runs.each(rule, functions, _budgets(share / dim), 1000, 2**dim)
        regret, order = _regret(made), _order(made)
        found |= {f"R {share:g}": regret, f"M {share:g}": order}
        if share != 0.5:  # bounds are judged at alpha p = 1/2
            continue
        epsilons = theory.compression_budget(HORIZONS, share / dim)
        gain = gains[np.minimum(order.astype(int), HORIZONS[-1]) - 1]
        bound = _bound(rule, betas, gain, epsilons, _of(lambda run: run.z)(made))
        informed = gain + epsilons * (np.array(HORIZONS) + 2**dim - order)
        most = 2.0 / math.log1p(1.0 / NOISE_VAR) * informed
        found["bound 0.5"] = regret / bound
        found["vacuous 0.5"] = (bound / _uniform(functions))[:, -1]
        found["step 0.5"] = _of(lambda run: run.optimum_var)(made) / most
        found["operations 0.5"] = arms.size * recent(made)
    for name in ("R", "M"):
        columns = [found[f"{name} {share:g}"][:, -1] for share in SHARES]
        found |= {f"last {name} 0": columns[0], f"last {name} 1": columns[-1]}
        logs = np.log(np.maximum(columns, 1e-12))
        found[f"trend {name}"] = np.polyfit(SHARES, logs, 1)[0]  # on alpha p
    return found


def _bound(rule: str, beta: Array, gain: Array, epsilon: Array, z: Array) -> Array:
    """The bound (3.2) or (3.6) as printed for each run, (functions, horizons)."""
    if rule == "ucb":
        return theory.regret_bound_compressed(HORIZONS, beta, gain, NOISE_VAR, epsilon)
    one = partial(theory.regret_bound_compressed_ei, noise_var=NOISE_VAR, as_printed=True)
    made = np.vectorize(lambda t, b, g, e, r: one(t, b, g, epsilon=e, largest_z=r), otypes=[float])
    return made(HORIZONS, beta, gain, epsilon, z)


def corollary() -> Arrays:
    """Corollary 3.3, on the example function at alpha = 1/2, beside `horizons`.

    R_T over (3.5), M_T over sqrt(T), and at the largest T (3.5) over T (f* - mean f), on functions
    drawn from the kernel at the six horizons. The trace of the kernel matrix of 1000 arms is 1000.
    "M example" and "R example" are 20 trials on the example function at T = 100, 400, 1600, 6400.
    """
    arms, times = line(), (100, 400, 1600, 6400)
    runs, functions = Runs(arms), _drawn(arms, TRIALS)
    made = runs.each("ucb", functions, _budgets(0.5), 1000, 2)
    beta = theory.beta_finite(HORIZONS, arms.size, DELTA)
    bound = theory.regret_bound_compressed_finite(HORIZONS, beta, arms.size, NOISE_VAR)
    same = np.tile(example(arms.coordinates), (TRIALS, 1))
    shown = runs.each("ucb", same, _budgets(0.5, times), 10, 2)
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
    arms, r = (line(), 20.0) if dim == 1 else (plane(), 4.0)
    a, b = 1.0 + math.sqrt(3.0) * r / math.pi, math.sqrt(2.0)
    if dim == 2:
        area = math.sqrt(3.0) * r**2 / (2.0 * math.pi) ** 1.5 * math.sqrt(2.0 / math.e)
        a, b = 2.0 * (area + r * (1.0 + math.sqrt(3.0)) / (2.0 * math.pi) + 0.5), 2.0
    width = partial(theory.beta_continuous, dim=dim, delta=DELTA, a=a, b=b, r=r)
    runs, functions = Runs(arms, width), _drawn(arms, TRIALS)
    gains = theory.information_gain_bound(arms, KERNEL, NOISE_VAR, HORIZONS[-1])
    made = runs.each("ucb", functions, _budgets(0.5 / dim), 1000)
    gain = gains[_order(made).astype(int) - 1]
    epsilon = theory.compression_budget(HORIZONS, 0.5 / dim)
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
    arms, horizon, found = line(), 2000, {}
    runs, functions = Runs(arms), _drawn(arms, 100)
    budgets = {"alpha": float(theory.compression_budget(horizon, 0.5)), "0.01": 0.01, "0.05": 0.05}
    for name, epsilon in budgets.items():
        made = runs.each("ucb", functions, [(epsilon, horizon)], 1)[:, 0]
        widths = _of(lambda run: run.width)(made)
        found[f"missed {name}"] = _of(lambda run: run.missed)(made)
        found[f"width over range {name}"] = widths / np.ptp(functions, axis=1)
    return found


def constant() -> Arrays:
    """Eq. (8.31): the average regret over rounds 7501 to 10,000 at constant epsilons.

    20 functions drawn from the kernel on the grid of the example, GP-UCB.
    """
    arms, epsilons = line(), (0.1, 0.05, 0.02, 0.01, 0.005)
    budgets = [(epsilon, 10_000) for epsilon in epsilons]
    made = Runs(arms).each("ucb", _drawn(arms, TRIALS), budgets, 100, 2)
    found = _of(lambda run: float(run.regret[7500:].mean()))(made)
    idle = (found == 0.0).mean(axis=0) > 0.5
    return {"regret": found[:, ~idle], "epsilon": np.array(epsilons)[~idle]}


def epsilons(rule: str) -> Arrays:
    """Theorem 3.1, eq. (3.1): model orders at six constant epsilons, T = 10,000, 20 trials.

    The example function (p = 1) and Rosenbrock's (p = 2), with random initial points.
    """
    budgets = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    found: Arrays = {"inverse": 1.0 / np.expm1(2.0 * np.array(budgets))}
    for name, arms, initial in (("example", line(), 2), ("rosenbrock", plane(), 4)):
        same, long = np.tile(_values(name, arms), (TRIALS, 1)), [(e, 10_000) for e in budgets]
        made = Runs(arms).each(rule, same, long, 100, initial)
        found[f"order {name}"] = _order(made)
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


def _values(name: str, arms: Arms) -> Array:
    """The values of a figure's function at its arms."""
    x = arms.coordinates
    return example(x) if name == "example" else -rosenbrock_10(x)


# -- Clock times ----------------------------------------------------------------------------------


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
    for name, arms, initial in (("example", line(), 2), ("rosenbrock", plane(), 4)):
        timed = partial(_timed, arms, _values(name, arms), initial, epsilon, horizon)
        for rule in RULES:
            made = {k: [timed(rule, k, i) for i in range(trials)] for k in KINDS}
            seconds = {k: np.array([times[-1] for times, _ in m]) for k, m in made.items()}
            for a, b in RATIOS:
                found[f"{a}/{b} {name} {rule}"] = seconds[a] / seconds[b]
            for kind, runs in made.items():
                for part in (0.25, 0.5, 1.0):
                    ends = zip(runs, part * seconds["compressed"], strict=True)
                    reached = np.array([_reached(*run, end) for run, end in ends])
                    found[f"regret {name} {rule} {part:g} {kind}"] = reached
    return found


def _reached(times: Array, regret: Array, seconds: float) -> float:
    """The average regret at a time; that of the first round if it takes longer."""
    done = max(int(np.searchsorted(times, seconds, side="right")), 1)
    return float(regret[:done].mean())


def _timed(
    arms: Arms, values: Array, initial: int, epsilon: float, horizon: int, *run: Any
) -> tuple[Array, Array]:
    """The seconds after each round, and the regret of each round."""
    rule, kind, trial = run
    rng, posterior = np.random.default_rng(trial), Refitted(arms)
    if kind == "bkb":  # which is computed anew in each round too
        posterior = NystromPosterior(arms, KERNEL, NOISE_VAR, rng=np.random.default_rng(0))
    noise = rng.normal(0.0, math.sqrt(NOISE_VAR), horizon + initial)
    first = rng.integers(arms.size, size=initial)
    best = compressed.observe(posterior, first, values[first] + noise[horizon:])
    roots = roots_of(arms, horizon)
    most = theory.compression_threshold(epsilon, NOISE_VAR) if kind == "compressed" else -math.inf
    times, regret = np.empty((2, horizon))
    rounds = compressed.play(posterior, rule, values, roots, noise, most, best)
    began = process_time()
    for t, (arm, _) in enumerate(rounds):
        regret[t], times[t] = values.max() - values[arm], process_time() - began
    return times, regret


# -- BKB's dictionaries ---------------------------------------------------------------------------


def dictionaries(horizon: int = 2000) -> Arrays:
    """BKB's dictionaries on the example function, drawn by arm or by pull.

    For qbar = 5 and that of its theory: the number of rounds after which the arm that was pulled
    most is missing, the largest number of points counted with repeats, and at the end the points
    counted with repeats, the distinct points and the number of features.
    """
    arms, found = line(), {}
    values, roots = example(arms.coordinates), roots_of(arms, horizon)
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


_READINGS = ("", "@entropy", "@epsilon", "@regularized", "@qbar", "@scaled", "@regularized-scaled")
MEASURES = {
    f"bedi2022/{name}{end}": (late, early, size, *((time,) if name == "mnist-logistic" else ()))
    for name in ("example", "rosenbrock", "mnist-logistic")
    for end in _READINGS
}
COMPUTATIONS = named(corollary, confidence, constant, dictionaries) | {
    **{f"horizons-{p}-{r}": partial(horizons, p, r) for p in (1, 2) for r in RULES[:2]},
    **{f"continuous-{p}": partial(continuous, p) for p in (1, 2)},
    **{f"epsilons-{rule}": partial(epsilons, rule) for rule in RULES},
    "domains": partial(domains, EPSILON, 10_000),
    "domains-entropy": partial(domains, ENTROPY, 2000),
    "clock": partial(clock, EPSILON),
    "clock-entropy": partial(clock, ENTROPY),
}

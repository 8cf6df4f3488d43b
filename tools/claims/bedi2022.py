"""What decides the claims of bedi2022 beside its curves."""

import math
from collections.abc import Mapping
from functools import partial
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
from tools.claims.compressed_runs import DELTA, KERNEL, NOISE_VAR, Runs, improved, line, plane

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
    regret, orders = (
        along(store, cell, label, "average_regret"),
        store.arrays(cell, label, "model_order").astype(np.float64),
    )
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
    regret, orders = (
        along(store, cell, label, "average_regret"),
        along(store, cell, label, "model_order"),
    )
    found = {f"average_regret_{t}": regret[:, t - 1] for t in (50, 100, 500)}
    return found | {f"model_order_{t}": orders[:, t - 1] for t in (50, 100, 500)}


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
    before = np.concatenate([np.zeros((len(own), 1)), total[:, :-1]], axis=1)
    found = {"round_time": (total - before) / np.diff(rounds, prepend=0)}
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


def _drawn(arms: Arms, count: int) -> Array:
    """Functions drawn from the kernel, (count, n)."""
    return sampler_for(arms, KERNEL).draw(np.random.default_rng(0), count)


def _settling(orders: Array) -> tuple[Array, Array]:
    """(units, 4) the orders over the last quarter of the rounds, and the rounds."""
    rounds = np.round(np.array(QUARTER) * orders.shape[1]).astype(int)
    return orders[:, rounds - 1], rounds


def horizons(dim: int, rule: str) -> dict[str, Any]:
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
    shape = (TRIALS, len(HORIZONS))
    found: dict[str, Any] = {"T": HORIZONS}
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        kept = {k: np.empty(shape) for k in ("R", "M", "bound", "vacuous", "step", "operations")}
        for j, horizon in enumerate(HORIZONS):
            epsilon = float(theory.compression_budget(horizon, share / dim))
            beta = float(theory.beta_finite(horizon, arms.size, DELTA))
            for i, values in enumerate(functions):
                run = runs.run(rule, values, epsilon, horizon, seed=1000 * i + j, initial=2**dim)
                regret, order = float(run.regret.sum()), int(run.order[-1])
                gain = gains[min(order, HORIZONS[-1]) - 1]
                bound = _bound(rule, horizon, beta, gain, epsilon, run.z)
                uniform = horizon * float(values.max() - values.mean())
                rejected = horizon + 2**dim - order
                most = 2.0 / math.log1p(1.0 / NOISE_VAR) * (gain + epsilon * rejected)
                kept["R"][i, j], kept["M"][i, j] = regret, order
                kept["bound"][i, j] = regret / bound
                kept["vacuous"][i, j] = bound / uniform
                kept["step"][i, j] = run.optimum_var / most
                kept["operations"][i, j] = arms.size * float(
                    (run.order[-horizon // 10 :] ** 2).mean()
                )
        kept["vacuous"] = kept["vacuous"][:, -1]
        found |= {f"{name} {share:g}": values for name, values in kept.items()}
    for name in ("R", "M"):
        columns = [found[f"{name} {share:g}"][:, -1] for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
        found[f"last {name} 0"], found[f"last {name} 1"] = columns[0], columns[-1]
        logs = np.log(np.maximum(np.column_stack(columns), 1e-12))
        axis = np.linspace(0.0, 1.0, 5) - 0.5  # of alpha p
        found[f"trend {name}"] = logs @ axis / (axis @ axis)
    return found | {"zero": np.zeros(TRIALS)}


def _bound(rule: str, horizon: int, beta: float, gain: float, epsilon: float, z: float) -> float:
    if rule == "ei":
        return float(
            theory.regret_bound_compressed_ei(
                horizon, beta, gain, NOISE_VAR, epsilon, z, as_printed=True
            )
        )
    return float(theory.regret_bound_compressed(horizon, beta, gain, NOISE_VAR, epsilon))


def corollary() -> dict[str, Any]:
    """Corollary 3.3, on the example function at alpha = 1/2, beside `horizons`.

    R_T over (3.5), M_T over sqrt(T), and at the largest T (3.5) over T (f* - mean f), on functions
    drawn from the kernel at the six horizons. The trace of the kernel matrix of 1000 arms is 1000.
    "M example" and "R example" are 20 trials on the example function at T = 100, 400, 1600, 6400.
    """
    arms = line()
    runs, functions = Runs(arms), _drawn(arms, TRIALS)
    ratio, vacuous, root = np.empty((3, TRIALS, len(HORIZONS)))
    for j, horizon in enumerate(HORIZONS):
        epsilon = float(theory.compression_budget(horizon, 0.5))
        beta = theory.beta_finite(horizon, arms.size, DELTA)
        bound = float(theory.regret_bound_compressed_finite(horizon, beta, arms.size, NOISE_VAR))
        for i, values in enumerate(functions):
            run = runs.run("ucb", values, epsilon, horizon, seed=1000 * i + j, initial=2)
            ratio[i, j], root[i, j] = run.regret.sum() / bound, run.order[-1] / math.sqrt(horizon)
            vacuous[i, j] = bound / (horizon * float(values.max() - values.mean()))
    found = {"R over (3.5)": ratio, "(3.5) over uniform play": vacuous[:, -1], "M over root": root}
    values, times = example(arms.coordinates), (100, 400, 1600, 6400)
    shape = (TRIALS, len(times))
    orders, regrets = np.empty((2, *shape))
    for i, j in np.ndindex(*shape):
        epsilon = float(theory.compression_budget(times[j], 0.5))
        run = runs.run("ucb", values, epsilon, times[j], seed=10 * i + j, initial=2)
        orders[i, j], regrets[i, j] = run.order[-1], run.regret.sum()
    return found | {"M example": orders, "R example": regrets, "T example": times}


def continuous(dim: int) -> dict[str, Any]:
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
    ratio, vacuous = np.empty((2, TRIALS, len(HORIZONS)))
    for i, j in np.ndindex(*ratio.shape):
        horizon, values = HORIZONS[j], functions[i]
        epsilon = float(theory.compression_budget(horizon, 0.5 / dim))
        run = runs.run("ucb", values, epsilon, horizon, seed=1000 * i + j)
        gain = gains[int(run.order[-1]) - 1]
        beta = width(horizon)
        bound = float(
            theory.regret_bound_compressed(horizon, beta, gain, NOISE_VAR, epsilon, continuous=True)
        )
        ratio[i, j] = run.regret.sum() / bound
        vacuous[i, j] = bound / (horizon * float(values.max() - values.mean()))
    return {"R over (3.4)": ratio, "(3.4) over uniform play": vacuous[:, -1]}


def confidence() -> dict[str, Any]:
    """Lemma 8.1: whether f was outside the bounds at any arm and round, and the bounds' width.

    100 functions drawn from the kernel on the grid of the example, T = 2000, compressed GP-UCB at
    alpha = 1/2 and at epsilon = 0.01 and 0.05.
    """
    arms, horizon, found = line(), 2000, {}
    runs, functions = Runs(arms), _drawn(arms, 100)
    budgets = {"alpha": float(theory.compression_budget(horizon, 0.5)), "0.01": 0.01, "0.05": 0.05}
    for name, epsilon in budgets.items():
        made = [runs.run("ucb", f, epsilon, horizon, seed=i) for i, f in enumerate(functions)]
        found[f"missed {name}"] = np.array([run.missed for run in made], float)
        found[f"width over range {name}"] = np.array(
            [run.width / float(np.ptp(f)) for run, f in zip(made, functions, strict=True)]
        )
    return found


def constant() -> dict[str, Any]:
    """Eq. (8.31): the average regret over rounds 7501 to 10,000 at constant epsilons.

    20 functions drawn from the kernel on the grid of the example, GP-UCB.
    """
    arms, epsilons = line(), (0.1, 0.05, 0.02, 0.01, 0.005)
    runs, functions = Runs(arms), _drawn(arms, TRIALS)
    found = np.empty((TRIALS, len(epsilons)))
    for i, j in np.ndindex(*found.shape):
        run = runs.run("ucb", functions[i], epsilons[j], 10_000, seed=100 * i + j, initial=2)
        found[i, j] = run.regret[7500:].mean()
    idle = (found == 0.0).mean(axis=0) > 0.5
    return {"regret": found[:, ~idle], "epsilon": np.array(epsilons)[~idle], "left out": idle}


def epsilons(rule: str) -> dict[str, Any]:
    """Theorem 3.1, eq. (3.1): model orders at six constant epsilons, T = 10,000, 20 trials.

    The example function (p = 1) and Rosenbrock's (p = 2), with random initial points.
    """
    budgets = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    found: dict[str, Any] = {"inverse": 1.0 / np.expm1(2.0 * np.array(budgets))}
    for name, arms, initial in (("example", line(), 2), ("rosenbrock", plane(), 4)):
        runs, values = Runs(arms), _values(name, arms)
        final = np.empty((TRIALS, len(budgets)))
        for j, epsilon in enumerate(budgets):
            made = [
                runs.run(rule, values, epsilon, 10_000, seed=100 * i + j, initial=initial).order
                for i in range(TRIALS)
            ]
            found[f"settling {name} {epsilon:g}"], found["rounds"] = _settling(np.array(made))
            final[:, j] = np.array(made)[:, -1]
        found[f"order {name}"] = final
    return found


def domains(epsilon: float, horizon: int) -> dict[str, Any]:
    """Section 4.1, last sentence: orders on the example function on three domains, 20 trials.

    The domains are [-5, 5], [-10, 10] and [-20, 20], with the same spacing. "order ..." is NaN
    where the mean order has not settled: its slope over the last quarter of the rounds is 0.1 or
    more.
    """
    lengths = (10.0, 20.0, 40.0)
    found: dict[str, Any] = {"length": lengths}
    for rule in RULES:
        final = np.empty((TRIALS, len(lengths)))
        for j, length in enumerate(lengths):
            arms = line(length)
            runs, values = Runs(arms), example(arms.coordinates)
            orders = np.array(
                [
                    runs.run(rule, values, epsilon, horizon, seed=10 * i + j, initial=2).order
                    for i in range(TRIALS)
                ]
            )
            kept, rounds = _settling(orders)
            slope = np.polyfit(np.log(rounds), np.log(kept.mean(axis=0)), 1)[0]
            final[:, j] = kept[:, -1] if slope < 0.1 else np.nan
            found[f"slope {rule} {length:g}"] = [slope]
            found[f"raw {rule} {length:g}"] = kept[:, -1]
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

    def moments(self) -> tuple[Array, Array]:
        at = self.points
        cross = self.gram[at]
        factor = cho_factor(cross[:, at] + NOISE_VAR * np.eye(len(at)), lower=True)
        mean = cross.T @ cho_solve(factor, np.array(self.rewards))
        var = self.gram.diagonal() - np.einsum("ij,ij->j", cross, cho_solve(factor, cross))
        return mean, np.maximum(var, 1e-12)

    def add(self, arm: int, reward: float) -> None:
        self.points.append(arm)
        self.rewards.append(reward)


class Budgeted(Refitted):
    """BKB's posterior, which is computed anew in each round too."""

    def __init__(self, arms: Arms) -> None:
        super().__init__(arms)
        rng = np.random.default_rng(0)
        self.inside = NystromPosterior(arms, KERNEL, NOISE_VAR, rng=rng)

    def moments(self) -> tuple[Array, Array]:
        return self.inside.mean, np.maximum(self.inside.var, 1e-12)

    def add(self, arm: int, reward: float) -> None:
        super().add(arm, reward)
        self.inside.condition([arm], [reward])


KINDS = ("compressed", "dense", "bkb")


def clock(epsilon: float, horizon: int = 200, trials: int = 5) -> dict[str, Any]:
    """Tables 2 to 4: CPU seconds of agents whose posterior is computed anew in each round.

    The horizon is 200: the paper's 5 to 8 seconds for a dense agent fit a few hundred rounds of
    such a posterior, and neither 1000 nor 10,000. "a/b ..." are ratios of times to the end.
    "regret ..." is the average regret of each agent at a quarter, half and all of the compressed
    agent's time. Times differ from run to run, everything else does not.
    """
    found: dict[str, Any] = {}
    for name, arms, initial in (("example", line(), 2), ("rosenbrock", plane(), 4)):
        values = _values(name, arms)
        for rule in RULES:
            made = [
                [_timed(k, rule, arms, values, epsilon, horizon, i, initial) for k in KINDS]
                for i in range(trials)
            ]
            seconds = np.array([[times[-1] for times, _, _ in trial] for trial in made])
            found[f"compressed/dense {name} {rule}"] = seconds[:, 0] / seconds[:, 1]
            found[f"bkb/dense {name} {rule}"] = seconds[:, 2] / seconds[:, 1]
            found[f"dense/bkb {name} {rule}"] = seconds[:, 1] / seconds[:, 2]
            found[f"compressed/bkb {name} {rule}"] = seconds[:, 0] / seconds[:, 2]
            for k, kind in enumerate(KINDS):
                found[f"seconds {name} {rule} {kind}"] = seconds[:, k]
                found[f"order {name} {rule} {kind}"] = np.array([t[k][2] for t in made])
                for part in (0.25, 0.5, 1.0):
                    found[f"regret {name} {rule} {part:g} {kind}"] = np.array(
                        [_reached(*t[k][:2], part * t[0][0][-1]) for t in made]
                    )
    return found | {"one": np.ones(trials)}


def _reached(times: Array, regret: Array, seconds: float) -> float:
    """The average regret at a time; that of the first round if it takes longer."""
    done = max(int(np.searchsorted(times, seconds, side="right")), 1)
    return float(regret[:done].mean())


def _timed(
    kind: str,
    rule: str,
    arms: Arms,
    values: Array,
    epsilon: float,
    horizon: int,
    trial: int,
    initial: int,
) -> tuple[Array, Array, int]:
    """The seconds after each round, the regret of each round, and the points in the model."""
    rng = np.random.default_rng(trial)
    posterior = Budgeted(arms) if kind == "bkb" else Refitted(arms)
    noise = rng.normal(0.0, math.sqrt(NOISE_VAR), horizon + initial)
    for i, arm in enumerate(rng.integers(arms.size, size=initial).tolist()):
        posterior.add(arm, float(values[arm] + noise[horizon + i]))
    roots = np.sqrt(theory.beta_finite(np.arange(1.0, horizon + 1.0), arms.size, DELTA))
    threshold = theory.compression_threshold(epsilon, NOISE_VAR)
    times, regret = np.empty((2, horizon))
    began = process_time()
    for t in range(horizon):
        mean, var = posterior.moments()
        sd = np.sqrt(var)
        if rule == "ucb":
            arm = int((mean + roots[t] * sd).argmax())
        else:
            level = max(posterior.rewards) if rule == "ei" else float(mean.max())
            arm = improved(mean, sd, level)
        regret[t] = values.max() - values[arm]
        if kind != "compressed" or var[arm] > threshold:
            posterior.add(arm, float(values[arm] + noise[t]))
        times[t] = process_time() - began
    size = posterior.inside.size if isinstance(posterior, Budgeted) else len(posterior.points)
    return times, regret, size


# -- BKB's dictionaries ---------------------------------------------------------------------------


def dictionaries() -> dict[str, Any]:
    """BKB's dictionaries on the example function, drawn by arm or by pull, 2000 rounds.

    For qbar = 5 and that of its theory: the number of rounds after which the arm that was pulled
    most is missing, the largest number of points counted with repeats, and at the end the points
    counted with repeats, the distinct points and the number of features.
    """
    arms, horizon, found = line(), 2000, {}
    values = example(arms.coordinates)
    roots = np.sqrt(theory.beta_finite(np.arange(1.0, horizon + 1.0), arms.size, DELTA))
    for per, qbar, rule in (
        (per, qbar, rule) for per in ("arm", "pull") for qbar in (5.0, QBAR) for rule in RULES
    ):
        rng = np.random.default_rng(0)
        posterior = NystromPosterior(arms, KERNEL, NOISE_VAR, qbar=qbar, per=per, rng=rng)
        best, missing, largest = -math.inf, 0, 0
        pulls = np.zeros(arms.size)
        for t in range(horizon):
            mean, sd = posterior.mean, np.sqrt(np.maximum(posterior.var, 1e-12))
            if rule == "ucb":
                arm = int((mean + roots[t] * sd).argmax())
            else:
                arm = improved(mean, sd, best if rule == "ei" else float(mean.max()))
            reward = float(values[arm] + rng.normal(0.0, math.sqrt(NOISE_VAR)))
            posterior.condition([arm], [reward])
            best, pulls[arm] = max(best, reward), pulls[arm] + 1.0
            copies = posterior.snapshot()["copies"]
            missing += copies[pulls.argmax()] == 0
            largest = max(largest, int(copies.sum()))
        end = (missing, largest, copies.sum(), posterior.size, posterior.rank)
        for name, value in zip(
            ("missing", "largest", "repeats", "distinct", "rank"), end, strict=True
        ):
            found[f"{name} {per} {qbar:g} {rule}"] = [value]
    return found


_READINGS = ("", "@entropy", "@epsilon", "@regularized", "@qbar", "@scaled", "@regularized-scaled")
MEASURES = {
    f"bedi2022/{name}{end}": (late, early, size, *((time,) if name == "mnist-logistic" else ()))
    for name in ("example", "rosenbrock", "mnist-logistic")
    for end in _READINGS
}
COMPUTATIONS: Mapping[str, Any] = {
    **{
        f"horizons-{p}-{rule}": partial(horizons, p, rule) for p in (1, 2) for rule in ("ucb", "ei")
    },
    "corollary": corollary,
    **{f"continuous-{p}": partial(continuous, p) for p in (1, 2)},
    "confidence": confidence,
    "constant": constant,
    **{f"epsilons-{rule}": partial(epsilons, rule) for rule in RULES},
    "domains": partial(domains, EPSILON, 10_000),
    "domains-entropy": partial(domains, ENTROPY, 2000),
    "clock": partial(clock, EPSILON),
    "clock-entropy": partial(clock, ENTROPY),
    "dictionaries": dictionaries,
}

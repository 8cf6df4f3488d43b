"""What decides the claims of ren2024 beside its curves: comparisons over problems, and the theory.

Some computations read the kept evidence of the scenarios, and are made again after them. Others
run TS-RSR themselves, with its choices recorded, in the setting that its theorem assumes.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from scipy.stats import spearmanr

from gpbandits_env import agents
from gpbandits_env.agents.acquisitions import RegretToSigma
from gpbandits_env.agents.acquisitions.rules import Round
from gpbandits_env.agents.batch.rule import rolled_back
from gpbandits_env.agents.batch.sampled import RegretToSigmaRatio, Thompson
from gpbandits_env.arrays import Array, IntArray, Plain, Points
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Kernel, Matern32, SquaredExponential, kernel_from_dict
from gpbandits_env.gp.theory.information import GREEDY
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.papers.published import REN2024
from gpbandits_env.scenarios.papers.ren2024 import BATCHES, LN2, PAPERS, REDRAWS, ROUND, SCENARIOS
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.evidence import Evidence, Measure, load
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study.runner import initial_points, lent, make_agent, run_rounds
from gpbandits_env.seeding import seed_for
from tools.claims import named, seconds

Arrays = Mapping[str, ArrayLike]

# Our scenario of each row of the paper's tables.
PROBLEMS = {name: name for name in REN2024} | {"boston": "boston-stand-in"}
RIVALS = PAPERS[:-1]
# The table's settings of these two rivals are not in its text.
UNSTATED = ("sp", "ucbpe")


def kept(name: str) -> Evidence:
    """The evidence of a scenario of ren2024, which must have been made."""
    found = load(f"ren2024/{name}")
    if found is None:
        raise FileNotFoundError(f"run python -m tools.reference ren2024/{name} first")
    return found


def ends(name: str, label: str, metric: str = "simple_regret", cell: int = 0) -> Array:
    """What an agent's trials have at the last round, (trials,)."""
    return kept(name).curve(cell, label, metric)[:, -1]


def ready() -> dict[str, str]:
    """The rows of the paper's tables whose scenarios have been run."""
    return {row: name for row, name in PROBLEMS.items() if load(f"ren2024/{name}") is not None}


# -- Measures --------------------------------------------------------------------------------------


def above_best_found(store: Store, cell: int, label: str) -> Arrays:
    """Boston: the final simple regret relative to the lowest loss of any run of any agent.

    Source: ren2024, footnote 4.
    """
    last = {o: curves_of(store, cell, o, "simple_regret")[:, -1] for o in store.labels(cell)}
    return {"regret_to_best_found": last[label] - min(values.min() for values in last.values())}


MEASURES: dict[str, tuple[Measure, ...]] = {s.id: (seconds,) for s in SCENARIOS}
MEASURES["ren2024/boston-stand-in"] = (seconds, above_best_found)


# -- From the evidence -----------------------------------------------------------------------------


def pseudo_values(statistic: Callable[..., float], *values: Array) -> Array:
    """The jackknife's values of the units, (n,), moved so that their mean is the statistic."""
    n = len(values[0])
    without = np.array([statistic(*(np.delete(v, i) for v in values)) for i in range(n)])
    return statistic(*values) + (n - 1) * (without.mean() - without)


def spread() -> Arrays:
    """The standard deviation of the final regret of each agent, as pseudo-values by function.

    Claim: gp-draws-hard-and-consistent.
    """
    return {
        f"{name} {label}": pseudo_values(lambda v: float(v.std(ddof=1)), ends(name, label))
        for name in ("rbf-2d", "rbf-3d")
        if name in ready()
        for label in PAPERS
    }


def improvement() -> Arrays:
    """1 - (mean of TS-RSR) / (mean of BUCB), as pseudo-values by run or goal.

    Claim: improvement-over-bucb.
    """
    return {
        name: pseudo_values(
            lambda a, b: float(1.0 - a.mean() / b.mean()), ends(name, "ts-rsr"), ends(name, "bucb")
        )
        for name in ("push-3d", "push-4d")
        if name in ready()
    }


def over_problems() -> Arrays:
    """log10 of the mean final regret of each agent, by problem.

    Claim: outperforms-on-the-whole.
    """
    return {label: [np.log10(_mean_end(row, label)) for row in ready()] for label in PAPERS}


def redraws() -> Arrays:
    """log10 of the mean final regret of TS-RSR with and without redraws, by problem.

    Claim: redraws-help.
    """
    both = ("ts-rsr", "ts-rsr/no-redraws")
    where = [row for row, name in ready().items() if both[1] in kept(name).labels(0)]
    return {label: [np.log10(_mean_end(row, label)) for row in where] for label in both}


def _mean_end(row: str, label: str) -> float:
    metric = "regret_to_best_found" if row == "boston" else "simple_regret"
    values = kept(PROBLEMS[row]).values[0, label, metric]
    return float(values.reshape(len(values), -1)[:, -1].mean(dtype=np.float64))


def ranks() -> Arrays:
    """Spearman's correlation of our means of the rivals with the printed ones, over the problems.

    The values have the mean of the estimate and the standard error of a bootstrap by run. Boston is
    left out, whose printed figures belong to another task. Claim: ranks-of-the-rivals.
    """
    rng = np.random.default_rng(0)
    few = tuple(label for label in RIVALS if label not in UNSTATED)
    return {name: _ranks(labels, rng) for name, labels in (("all", RIVALS), ("stated", few))}


def _ranks(labels: tuple[str, ...], rng: np.random.Generator, draws: int = 2000) -> Array:
    rows = [row for row in ready() if row != "boston"]
    table = {row: np.array([ends(PROBLEMS[row], label) for label in labels]) for row in rows}
    printed = {row: [REN2024[row][label] for label in labels] for row in rows}

    def average(pick: Callable[[Array], Array]) -> float:
        found = [spearmanr(printed[row], pick(table[row]).mean(axis=1))[0] for row in rows]
        return float(np.mean(found))

    def resampled(values: Array) -> Array:
        return values[:, rng.integers(values.shape[1], size=values.shape[1])]

    spread_ = float(np.std([average(resampled) for _ in range(draws)]))
    units = min(values.shape[1] for values in table.values())
    scatter = np.linspace(-1.0, 1.0, units)
    scatter *= spread_ * np.sqrt(units) / scatter.std(ddof=1)
    return average(lambda values: values) + scatter


def batch_sizes() -> Arrays:
    """The final regret of TS-RSR for each size of the batch, by function.

    Claim: larger-batches-help.
    """
    by_size = {m: ends("batches", "ts-rsr", cell=cell) for cell, m in enumerate(BATCHES)}
    return {
        **{f"m = {m}": values for m, values in by_size.items()},
        "m": np.array(BATCHES, float),
        "regret": np.stack(list(by_size.values()), axis=1),
    }


# -- Batches of two rules from the same posteriors -------------------------------------------------

SAME = ("ackley-2d", "ackley-3d", "hartmann-6d", "rbf-2d", "rbf-3d")
LOW = ("ackley-2d", "hartmann-6d", "rbf-3d")
RUNS, NEAR = 10, 0.01


@dataclass(frozen=True)
class Literal(RegretToSigmaRatio):
    """Algorithm 1 as written, without redraws; it keeps what it chose.

    For each action it keeps the ratio of eq. (4); and for a sampled maximum below the largest mean
    of the candidates, whether the minimizer among the candidates is the one of the largest mean.
    """

    redraws: int = 0
    replaced: bool = False
    candidates: bool = False
    ratios: list[float] = field(default_factory=list)
    highest: list[bool] = field(default_factory=list)

    def choose(self, now: Round) -> Points:
        maxima, posterior, actions = self.maxima(now), now.posterior, []
        with rolled_back(posterior):
            for maximum in maxima.tolist():
                if self.candidates:
                    self._record(maximum, *now.search.candidates_of(posterior)[1:])
                x = now.search.best(RegretToSigma(maximum), posterior)
                gap, sd = maximum - posterior.mean_at(x)[0], np.sqrt(posterior.var_at(x)[0])
                self.ratios.append(float(gap / sd))
                actions.append(x)
                posterior.hallucinate(x)
        return np.concatenate(actions)

    def _record(self, maximum: float, mean: Array, var: Array) -> None:
        if maximum < mean.max():
            first = int(np.argmin((maximum - mean) / np.sqrt(np.maximum(var, 1e-300))))
            self.highest.append(first == int(np.argmax(mean)))


def same_posteriors() -> Arrays:
    """Batches of TS, of TS-RSR and of Algorithm 1 from the same posteriors, in three rounds.

    The posteriors are those of runs of TS and of TS-RSR in rounds 1, T/2 and T. Of each batch: its
    information, half the log determinant of I + K / s^2, and the share of actions within 0.01
    lengthscales of another one. Values are means by run. "information ts-rsr" and "no-redraws"
    without a problem are relative to Algorithm 1, averaged over the problems. Claims:
    less-redundancy-than-ts, redraws-help, low-sample-picks-highest-mean.
    """
    found: dict[str, list[float]] = {}
    for name in SAME:
        for run in range(RUNS):
            rows = [row for label in ("ts", "ts-rsr") for row in _batches_of(name, label, run)]
            for key in rows[0]:
                values = [row[key] for row in rows if not np.isnan(row[key])]
                whole = "highest mean" if key == "highest mean" else f"{key} {name}"
                if values and not (key == "highest mean" and name not in LOW):
                    found.setdefault(whole, []).append(float(np.mean(values)))
    own, literal = (f"information {rule}" for rule in ("ts-rsr", "no-redraws"))
    gains = [np.divide(found[f"{own} {name}"], found[f"{literal} {name}"]) for name in SAME]
    return {**found, own: np.mean(gains, axis=0), literal: np.ones(RUNS)}


def _batches_of(name: str, label: str, run: int) -> Iterator[dict[str, float]]:
    """What the rules choose in three rounds of one run of an agent."""
    scenario = registry.get(f"ren2024/{name}")
    entry = next(e for e in scenario.agents if e.label == label)
    with lent(scenario.env, scenario.env_kwargs, scenario.horizon) as env:
        env.reset(seed=seed_for("same posteriors", name, run))
        agent = make_agent(entry, env, seed_for("same posteriors", name, run, label))
        initial_points(env, agent, scenario.initial, seed_for("same posteriors", name, run, "x"))
        last = scenario.horizon
        for t in range(1, last + 1):
            if t in (1, (last + 1) // 2, last):
                yield _compared(agent)
            actions = agent.ask()
            agent.tell(actions, env.step(actions)[0]["rewards"])


def _compared(agent: Any) -> dict[str, float]:
    agent.search.renew()
    now, literal = agent.next_round(), Literal(candidates=True)
    rules = {"ts": Thompson(), "ts-rsr": RegretToSigmaRatio(REDRAWS), "no-redraws": literal}
    row = {}
    for rule, chooses in rules.items():
        batch = chooses.choose(now)
        spread_ = np.eye(len(batch)) + now.posterior.covariance(batch) / now.posterior.noise_var
        row[f"information {rule}"] = 0.5 * float(np.linalg.slogdet(spread_)[1])
        if rule != "no-redraws":
            row[f"near {rule}"] = _near(batch, agent.problem.kernel.lengthscale)
    row["low"] = len(literal.highest) / now.m
    row["highest mean"] = float(np.mean(literal.highest)) if literal.highest else float("nan")
    return row


def _near(batch: Array, lengthscale: float) -> float:
    """The share of the points of a batch (m, d) that lie close to another one."""
    gaps = cKDTree(batch / lengthscale).query(batch / lengthscale, k=2)[0][:, 1]
    return float((gaps <= NEAR).mean())


def seconds_of_a_batch() -> Arrays:
    """CPU seconds in which TS-RSR chooses m actions, with 200 observations and 1000 candidates.

    The values depend on the machine. Claim: cost-linear-in-m.
    """
    sizes, repeats = (5, 10, 20, 40), 5
    rng = np.random.default_rng(0)
    box = Box([-5.0] * 3, [5.0] * 3)
    points = box.sample(rng, 200)
    seconds = np.empty((repeats, len(sizes)))
    for i, m in enumerate(sizes):
        problem = Problem(box, Matern32(LN2, LN2), 1e-6, m)
        agent = agents.make("ts-rsr", problem, seed=0, search={**ROUND, "tops": 0})
        agent.prior_data(points, np.sin(points).sum(axis=1))
        agent.ask()
        for j in range(repeats):
            began = time.process_time()
            agent.ask()
            seconds[j, i] = time.process_time() - began
    return {"m": np.array(sizes, float), "seconds": seconds}


# -- The theory: finitely many arms and a known kernel ---------------------------------------------

SIDE, NOISE, M, ROUNDS, DELTA = 40, 0.01, 5, 60, 0.1
FUNCTIONS, MANY = 30, 100
# A first phase has at most this many points.
MOST_INITIAL = 1000
KERNELS: dict[str, Plain] = {
    "linear": {"type": "linear"},
    "se": {"type": "se", "lengthscale": 0.15},
    "matern32": {"type": "matern32", "lengthscale": 0.15},
}


def arms() -> Arms:
    """The 1600 arms."""
    return Arms.grid((SIDE, SIDE))


def gain_bound(kernel: Kernel, noise_var: float, horizon: int) -> tuple[IntArray, Array, Array]:
    """A greedy design (T,), its information gain (T,), and an upper bound on gamma (T,).

    The bound is the lower one of the greedy bound and the spectral bound of srinivas2010.
    """
    domain = arms()
    design, gain = theory.greedy_design(domain, kernel, noise_var, horizon)
    spectrum = np.maximum(np.linalg.eigvalsh(kernel(domain.span)), 0.0)
    spectral = theory.spectral_bound(spectrum, noise_var, horizon)
    return design, gain, np.minimum(gain / GREEDY, spectral)


def least_initial(bound: Array, m: int) -> int:
    """The smallest T_init with T_init >= m gamma; 0 if the bound's horizon is too short."""
    enough = np.flatnonzero(np.arange(1, len(bound) + 1) >= m * bound)
    return int(enough[0]) + 1 if len(enough) else 0


def play(
    kernel: Plain, batch: Any, m: int, rounds: int, seed: int, initial: IntArray | None = None
) -> Array:
    """The regret of every action of an agent on a draw of a kernel, in order.

    Args:
        kernel: the kernel, as a dict.
        batch: the agent's batch rule, or the name of an agent without one of its own here.
        m: the number of actions in a round.
        rounds: rounds.
        seed: of the function, its noise and the agent.
        initial: arms to observe before, whose regret comes first.
    """
    made = {"grid": [SIDE, SIDE], "kernel": kernel, "noise_var": NOISE, "batch_size": m}
    name, settings = (batch, {}) if isinstance(batch, str) else ("ts-rsr", {"batch": batch})
    with lent("gpbandits/StaticGP-v0", made, rounds) as env:
        env.reset(seed=seed_for("ren2024 theory", seed))
        agent = agents.make(name, env, seed=seed_for("ren2024 theory", seed, "agent"), **settings)
        instance: Any = env.unwrapped
        before = np.zeros(0)
        if initial is not None:
            rewards, _ = instance.prior_data(initial, np.random.default_rng(seed))
            agent.prior_data(initial, rewards)
            before = instance.function.optimum - instance.function.values[initial]
        return np.concatenate([before, run_rounds(env, agent, rounds)[0]["regret"].ravel()])


def theorem_1() -> Arrays:
    """The mean regret of TS-RSR over the bound of Theorem 1, in every round, and that of random.

    An excess is (mean - 2 standard errors) / bound, for the cumulative and for the simple regret.
    "random over bound" has a value for each function: above 1 the bound says something. The last
    two arrays are the first T at which the bound is below the regret of random actions, for the two
    noise variances; 0 if none is up to 2 * 10^5 observations per arm, with the largest possible
    gain. Claim: theorem-1-bound.
    """
    kernel = kernel_from_dict(KERNELS["se"])
    gain = gain_bound(kernel, NOISE, M * ROUNDS)[2]
    rho = np.sqrt(1.0 + M / NOISE)
    bound = theory.regret_bound_ts_rsr(gain, M, SIDE**2, NOISE, rho)
    found: dict[str, ArrayLike] = {}
    for name, rule in (("no redraws", Literal), ("redraws", RegretToSigmaRatio)):
        made = [play(KERNELS["se"], rule(), M, ROUNDS, s) for s in range(FUNCTIONS)]
        runs = np.reshape(made, (FUNCTIONS, ROUNDS, M))
        total = runs.sum(axis=2).cumsum(axis=1)
        simple = np.minimum.accumulate(runs.min(axis=2), axis=1)
        per_action = bound / (M * np.arange(1, ROUNDS + 1))
        found[f"cumulative {name}"] = _excess(total) / bound
        found[f"simple {name}"] = _excess(simple) / per_action
    random = [play(KERNELS["se"], "random", M, ROUNDS, s).sum() for s in range(FUNCTIONS)]
    found["random over bound"] = np.array(random) / bound[-1]
    mean = float(np.mean(random)) / (M * ROUNDS)
    for noise in (NOISE, 1.0):
        found[f"first round, noise variance {noise:g}"] = [_first_round(kernel, noise, mean)]
    return found


def _excess(curves: Array) -> Array:
    """The mean curve minus two standard errors."""
    return np.asarray(curves.mean(axis=0) - 2.0 * curves.std(axis=0, ddof=1) / np.sqrt(len(curves)))


def _first_round(kernel: Kernel, noise_var: float, per_action: float) -> float:
    """The first T at which the bound is below ``per_action`` T m, by the spectral bound."""
    spectrum = np.maximum(np.linalg.eigvalsh(kernel(arms().span)), 0.0)
    times = np.unique(np.round(np.geomspace(1, 1e9, 400)))
    rho = np.sqrt(1.0 + M / noise_var)
    # The gain of T observations is at most that of T observations of every eigenfunction.
    for rounds in times:
        gain = 0.5 * np.log1p(M * rounds * spectrum / noise_var).sum()
        if _bound_at(rounds, gain, noise_var, rho) < per_action * M * rounds:
            return float(rounds)
    return 0.0


def _bound_at(rounds: float, gain: float, noise_var: float, rho: float) -> float:
    """Theorem 1 at one T (see `theory.regret_bound_ts_rsr`)."""
    readings, constant = M * rounds, 2.0 / noise_var / np.log1p(1.0 / noise_var)
    first = 2.0 * np.sqrt(2.0 * (np.log(4.0 * SIDE**2) + 3.0 * np.log(readings)))
    whole = first * rho * np.sqrt(readings * noise_var * constant * gain)
    return float(whole + np.sqrt(24.0 * np.log(SIDE**2) * readings))


def regret_to_sigma() -> Arrays:
    """The largest ratio of eq. (4) of each run, over the bound of Lemma 4, with delta = 0.1.

    "largest" has the ratio over the bound with rho_m = sqrt(1 + m / s^2), "with rho = 1" over that
    without rho_m; "exceeded" whether a run's is above. Claim: regret-to-sigma-bound.
    """
    largest = []
    for seed in range(MANY):
        rule = Literal()
        play(KERNELS["se"], rule, M, ROUNDS, seed)
        largest.append(max(rule.ratios))
    plain = np.array(largest) / np.sqrt(2.0 * np.log(2.0 * SIDE**2 * M * ROUNDS / DELTA))
    over = plain / np.sqrt(1.0 + M / NOISE)
    return {"exceeded": (over > 1.0).astype(float), "largest": [over.max()], "with rho = 1": plain}


def initial_points_bound_rho() -> Arrays:
    """rho_m found from below after T_init points of largest variance, over Lemma 10's bound.

    For each x, sets A of m points are grown by the largest fall of the variance at x. "over bound"
    has rho_m / exp(m gamma / T_init) for T_init = m, 2m, 4m, ... and the least T_init >= m gamma;
    "at start" rho_m without first points; "after" rho_m after the least T_init; "least T_init"
    that number, for m = 5, 10, 20 and 40; and "growth" the growth of T_init / m from m = 5 to 40.
    Claim: initialization-bounds-rho.
    """
    kernel, sizes, horizon = SquaredExponential(0.15), (5, 10, 20, 40), 40_000
    found: dict[str, ArrayLike] = {}
    for noise in (0.01, 1.0):
        design, _, bound = gain_bound(kernel, noise, horizon)
        least = [least_initial(bound, m) for m in sizes]
        rho = {0: found_rho(kernel, design[:0], noise, max(sizes))}
        over = []
        for m, enough in zip(sizes, least, strict=True):
            counts = [m * 2**k for k in range(20) if m * 2**k < enough]
            for count in (*counts, enough):
                if count not in rho:
                    rho[count] = found_rho(kernel, design[:count], noise, max(sizes))
                with np.errstate(over="ignore"):
                    limit = np.exp(m * bound[count - 1] / count)
                over.append(rho[count][m - 1] / limit)
        end = f", noise variance {noise:g}"
        found[f"over bound{end}"] = over
        found[f"at start{end}"] = [rho[0][m - 1] for m in sizes]
        found[f"after{end}"] = [rho[n][m - 1] for m, n in zip(sizes, least, strict=True)]
        found[f"least T_init{end}"] = least
        found[f"growth{end}"] = [(least[-1] / sizes[-1]) / (least[0] / sizes[0])]
    return found


def found_rho(kernel: Kernel, observed: IntArray, noise_var: float, most: int) -> Array:
    """A lower bound on rho_m for m = 1, ..., ``most`` after these observations, (most,)."""
    points = arms().span
    cov = np.asarray(kernel(points))
    if len(observed):
        arm, counts = np.unique(observed, return_counts=True)
        known = cov[np.ix_(arm, arm)] + np.diag(noise_var / counts)
        half = np.linalg.solve(np.linalg.cholesky(known), cov[arm])
        cov = cov - half.T @ half
    best = np.ones(most)
    for x in range(0, len(points), 80):
        best = np.maximum(
            best, _grown(cov, np.arange(x, min(x + 80, len(points))), noise_var, most)
        )
    return best


def _grown(cov: Array, at: IntArray, noise_var: float, most: int) -> Array:
    """The largest sd(x) / sd(x | A) over some x, for greedy sets A of 1, ..., ``most`` points."""
    row, var = cov[at].copy(), np.tile(np.diag(cov), (len(at), 1))
    start, here = np.diag(cov)[at].copy(), np.arange(len(at))
    fallen, made = start.copy(), np.empty((most, len(at), cov.shape[1]))
    found = np.empty(most)
    for i in range(most):
        chosen = np.argmax(row**2 / (var + noise_var), axis=1)
        scale = np.sqrt(var[here, chosen] + noise_var)
        earlier = made[:i, here, chosen]
        change = (cov[chosen] - np.einsum("kx,kxn->xn", earlier, made[:i])) / scale[:, None]
        made[i] = change
        fall = row[here, chosen] / scale
        row -= fall[:, None] * change
        var = np.maximum(var - change**2, 0.0)
        fallen -= fall**2
        found[i] = np.sqrt((start / np.maximum(fallen, 1e-12 * start)).max())
    return found


def sublinear() -> Arrays:
    """The cumulative regret of both phases, and over sqrt(T m gamma_Tm), by function.

    For each kernel: T_init points of largest variance, at least m gamma but at most 1000, then 120
    rounds of m = 5. The rounds are the last half of all of them. Claim:
    sublinear-with-initialization.
    """
    found: dict[str, ArrayLike] = {}
    for name, kernel in KERNELS.items():
        design, gain, bound = gain_bound(kernel_from_dict(kernel), NOISE, 2000)
        count = min(least_initial(bound, M) or MOST_INITIAL, MOST_INITIAL)
        count = -(-count // M) * M
        total, rule = count // M + 2 * ROUNDS, RegretToSigmaRatio(REDRAWS)
        rounds = np.arange(-(-total // 2), total + 1, 5)
        made = [play(kernel, rule, M, 2 * ROUNDS, s, design[:count]) for s in range(FUNCTIONS)]
        curves = np.cumsum(made, axis=1)[:, M * rounds - 1]
        found[f"regret {name}"] = curves
        found[f"over order {name}"] = curves / np.sqrt(M * rounds * gain[M * rounds - 1])
        found[f"T {name}"] = rounds.astype(float)
        found[f"T_init {name}"] = [float(count)]
    return found


def sequential() -> Arrays:
    """The cumulative regret of 150 and 300 evaluations after the same first phase, by function.

    TS-RSR in batches of 5 and one at a time; beside, GP-UCB and TS one at a time. The first phase
    has 1000 points of largest variance, fewer than Lemma 11 asks for. Its regret does not count.
    Claim: nearly-as-good-as-sequential.
    """
    kernel, evaluations = KERNELS["se"], M * ROUNDS
    design = theory.greedy_design(arms(), kernel_from_dict(kernel), NOISE, MOST_INITIAL)[0]
    rule = RegretToSigmaRatio(REDRAWS)
    ways: dict[str, tuple[Any, int]] = {
        "batch": (rule, M), "one by one": (rule, 1), "gp-ucb": ("gp-ucb", 1), "ts": ("ts", 1)
    }  # fmt: skip
    found: dict[str, ArrayLike] = {}
    for name, (batch, m) in ways.items():
        runs = [
            play(kernel, batch, m, evaluations // m, seed, design)[len(design) :].cumsum()
            for seed in range(FUNCTIONS)
        ]
        for count in (evaluations // 2, evaluations):
            found[f"{name}, {count}"] = [float(run[count - 1]) for run in runs]
    return found


COMPUTATIONS = named(
    *(spread, improvement, over_problems, redraws, ranks, batch_sizes, same_posteriors),
    *(seconds_of_a_batch, theorem_1, regret_to_sigma, initial_points_bound_rho, sublinear),
    sequential,
)

"""What decides the claims of ren2024 beside its curves: comparisons over problems, and the theory.

Some computations read the kept evidence of the scenarios, and are made again after them. Others
let rules choose batches from the same posteriors.
"""

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import spearmanr

from gpbandits_env import Box, Matern32, Problem, agents
from gpbandits_env.agents.batch.sampled import RegretToSigmaRatio, Thompson
from gpbandits_env.arrays import Array
from gpbandits_env.gp.theory import information_gain
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.papers.published import REN2024
from gpbandits_env.scenarios.papers.ren2024 import BATCHES, LN2, PAPERS, REDRAWS, ROUND, SCENARIOS
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.study.runner import initial_points, lent, make_agent
from gpbandits_env.seeding import seed_for
from tools.claims import Arrays, Measure, Store, columns, kept, named, seconds
from tools.claims import ren2024_theory as theory

RIVALS = PAPERS[:-1]
# Boston is a stand-in, so that its printed figures belong to another task.
SAME_TASK = [row for row in REN2024 if row != "boston"]
# The table's settings of two rivals are not in its text.
STATED = tuple(label for label in RIVALS if label not in ("sp", "ucbpe"))


def ends(name: str, label: str, cell: int = 0) -> Array:
    """The simple regret of an agent's trials at the last round, (trials,)."""
    return kept(f"ren2024/{name}").curve(cell, label, "simple_regret")[:, -1]


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
    """The standard deviation of the final regret of each agent, as pseudo-values by run.

    Claims: gp-draws-hard-and-consistent, published-spreads.
    """
    return {
        f"{name} {label}": pseudo_values(lambda v: v.std(ddof=1), ends(name, label))
        for name in SAME_TASK
        for label in PAPERS
    }


def improvement() -> Arrays:
    """1 - (mean of TS-RSR) / (mean of BUCB), as pseudo-values by run or goal.

    Claim: improvement-over-bucb.
    """

    def gain(own: Array, other: Array) -> float:
        return 1.0 - own.mean() / other.mean()

    return {
        name: pseudo_values(gain, ends(name, "ts-rsr"), ends(name, "bucb"))
        for name in ("push-3d", "push-4d")
    }


def over_problems() -> Arrays:
    """log10 of the mean final regret of each agent, by problem.

    Claim: outperforms-on-the-whole.
    """
    return {label: [np.log10(_mean_end(row, label)) for row in REN2024] for label in PAPERS}


def redraws() -> Arrays:
    """log10 of the mean final regret of TS-RSR with and without redraws, by problem.

    Claim: redraws-help.
    """
    both = ("ts-rsr", "ts-rsr/no-redraws")
    where = [row for row in SAME_TASK if both[1] in kept(f"ren2024/{row}").labels(0)]
    return {label: [np.log10(_mean_end(row, label)) for row in where] for label in both}


def _mean_end(row: str, label: str) -> float:
    if row == "boston":
        stand_in = kept("ren2024/boston-stand-in")
        return stand_in.curve(0, label, "regret_to_best_found").mean()
    return ends(row, label).mean()


def ranks() -> Arrays:
    """Spearman's correlation of our means of the rivals with the printed ones, over the problems.

    The values have the mean of the estimate and the standard error of a bootstrap by run. Claim:
    ranks-of-the-rivals.
    """
    rng = np.random.default_rng(0)
    return {"all": _ranks(RIVALS, rng), "stated": _ranks(STATED, rng)}


def _ranks(labels: tuple[str, ...], rng: np.random.Generator, draws: int = 2000) -> Array:
    ours = [np.array([ends(row, label) for label in labels]) for row in SAME_TASK]
    printed = [[REN2024[row][label] for label in labels] for row in SAME_TASK]

    def average(tables: list[Array]) -> float:
        pairs = zip(printed, tables, strict=True)
        return np.mean([spearmanr(means, table.mean(axis=1))[0] for means, table in pairs])

    again = [[t[:, rng.integers(t.shape[1], size=t.shape[1])] for t in ours] for _ in range(draws)]
    units = min(table.shape[1] for table in ours)
    scatter = np.linspace(-1.0, 1.0, units)
    scatter *= np.std([average(tables) for tables in again]) * np.sqrt(units) / scatter.std(ddof=1)
    return average(ours) + scatter


def batch_sizes() -> Arrays:
    """The final regret of TS-RSR for each size of the batch, by function.

    Claim: larger-batches-help.
    """
    by_size = [ends("batches", "ts-rsr", cell) for cell in range(len(BATCHES))]
    found = {f"m = {m}": values for m, values in zip(BATCHES, by_size, strict=True)}
    return found | {"m": BATCHES, "regret": np.stack(by_size, axis=1)}


# -- Batches of two rules from the same posteriors -------------------------------------------------

SAME = ("ackley-2d", "ackley-3d", "hartmann-6d", "rbf-2d", "rbf-3d")
LOW = ("ackley-2d", "hartmann-6d", "rbf-3d")
RUNS, NEAR = 10, 0.01


def same_posteriors() -> Arrays:
    """Batches of TS, of TS-RSR and of Algorithm 1 from the same posteriors, in three rounds.

    The posteriors are those of runs of TS and of TS-RSR in rounds 1, T/2 and T. Of each batch: its
    information, half the log determinant of I + K / s^2, and the share of actions within 0.01
    lengthscales of another one. Values are means by run. "information ts-rsr" and "no-redraws"
    without a problem are relative to Algorithm 1, averaged over the problems. Claims:
    less-redundancy-than-ts, redraws-help, low-sample-picks-highest-mean.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for name, run in itertools.product(SAME, range(RUNS)):
        rows = [row for label in ("ts", "ts-rsr") for row in _batches_of(name, label, run)]
        made = columns(rows)
        highest = made.pop("highest mean")
        if name in LOW and not np.isnan(highest).all():
            found["highest mean"].append(np.nanmean(highest))
        for key, values in made.items():
            found[f"{key} {name}"].append(values.mean())
    own, literal = "information ts-rsr", "information no-redraws"
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
    now, literal = agent.next_round(), theory.Literal(candidates=True)
    rules = {"ts": Thompson(), "ts-rsr": RegretToSigmaRatio(REDRAWS), "no-redraws": literal}
    row = {}
    for rule, chooses in rules.items():
        batch = chooses.choose(now)
        spread_ = now.posterior.covariance(batch)
        row[f"information {rule}"] = information_gain(spread_, now.posterior.noise_var)
        if rule != "no-redraws":
            row[f"near {rule}"] = _near(batch, agent.problem.kernel.lengthscale)
    row["low"] = len(literal.highest) / now.m
    row["highest mean"] = np.mean(literal.highest) if literal.highest else np.nan
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
    return {"m": sizes, "seconds": seconds}


COMPUTATIONS = named(
    *(spread, improvement, over_problems, redraws, ranks, batch_sizes, same_posteriors),
    *(seconds_of_a_batch, theory.theorem_1, theory.regret_to_sigma),
    *(theory.initial_points_bound_rho, theory.sublinear, theory.sequential),
)

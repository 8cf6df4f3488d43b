"""What bogunovic2016 and time learn from the training rows of readings before their runs.

As in bogunovic2016, Section 5.2, epsilon maximizes the marginal likelihood, and the block length N
of R-GP-UCB is chosen by cross-validation, as are the seasons of time/temperature and time/traffic:
`choose_season(registry.get("time/temperature"), 144.0)` gives the kernel that it declares.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpbandits_env import Arms, Empirical, Problem, agents
from gpbandits_env.arrays import Array, IntArray, Settings
from gpbandits_env.envs.table import split
from gpbandits_env.gp.learning import Series, fit
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.rewards import datasets
from gpbandits_env.scenarios.papers.time import markov, season, weighted
from gpbandits_env.scenarios.scenario import Scenario

BLOCKS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 144)
# The season's share of the variance beside a Markov part, its rate, and that of this part.
WEIGHTS, SEASON_RATES, MARKOV_RATES = (0.3, 0.6, 0.9), (0.0, 0.0005, 0.002), (0.03, 0.1)


@one_blas_thread()
def epsilon_of(scenario: Scenario) -> float:
    """Epsilon per row, by the marginal likelihood of the training days, which are independent."""
    train, _ = training_rows(scenario)
    noise_var = float(scenario.env_kwargs["model_noise_var"])
    model = Model(Empirical(np.cov(train.T)), noise_var, train.mean(axis=0))
    series = [Series(day) for day in training_days(scenario)]
    return float(fit(model, series, learn=["epsilon"]).model.epsilon)


@one_blas_thread()
def block_of(scenario: Scenario, blocks: Sequence[int] = BLOCKS) -> int:
    """The block length of least `held_out_regret`; those longer than a day are left out.

    Cost: seconds to a minute for hundreds of rows of tens of sensors.
    """
    longest = max(len(day) for day in training_days(scenario))
    regret = {
        n: held_out_regret(scenario, "r-gp-ucb", {"reset_every": n}) for n in blocks if n <= longest
    }
    return min(regret, key=lambda n: regret[n])


def seasons(period: float) -> list[dict[str, Any]]:
    """The temporal kernels among which `choose_season` chooses: a slow season and a Markov part."""
    slow = [season(period, rate) for rate in SEASON_RATES]
    sums = itertools.product(slow, [markov(rate) for rate in MARKOV_RATES], WEIGHTS)
    return [*(weighted(*parts) for parts in sums), *slow]


@one_blas_thread()
def choose_season(scenario: Scenario, period: float) -> tuple[dict[str, Any], list[float]]:
    """The temporal kernel of least regret on the training days of a scenario.

    Each training day is run by GP-UCB with the mean and the covariance of the others, which it also
    observes first, as the days before. Nothing but training rows is used.

    Cost: a minute for three days of 144 rows of 46 arms.

    Args:
        scenario: one that replays a named data set, with a ``model_noise_var``.
        period: the length of the season, in rows.
    Returns:
        The kernel, and the mean regret per round of each of `seasons`.
    """
    kernels = seasons(period)
    regrets = [held_out_regret(scenario, "gp-ucb", {"temporal": k}, told=True) for k in kernels]
    return kernels[int(np.argmin(regrets))], regrets


def training_days(scenario: Scenario) -> list[Array]:
    """The training rows of each day, (rows, n)."""
    train, days = training_rows(scenario)
    return [train[days == day] for day in np.unique(days)]


def training_rows(scenario: Scenario) -> tuple[Array, IntArray]:
    """The (rows, n) readings that train a scenario's agents, and the (rows,) number of their days.

    In the agents' units: negated where the smallest reading is sought.
    """
    given = scenario.env_kwargs
    readings = given["readings"]
    if not isinstance(readings, datasets.Readings):
        readings = datasets.load(readings, given.get("dataset_options"))
    values = readings.values[:, list(given.get("columns") or range(readings.values.shape[1]))]
    train, _ = split(-values if given.get("minimise") else values, given["train_fraction"])
    return train, readings.days[: len(train)]


def held_out_regret(
    scenario: Scenario, agent_name: str, settings: Settings, told: bool = False
) -> float:
    """The regret per round of an agent on the training days, each with the model of the others.

    It has the beta of the scenario. If it is ``told``, it also observes the others, as the rounds
    before.
    """
    parts, noise_var = training_days(scenario), float(scenario.env_kwargs["model_noise_var"])
    beta = next((e.settings["beta"] for e in scenario.agents if "beta" in e.settings), None)
    total = 0.0
    for i, part in enumerate(parts):
        others = np.concatenate([*parts[:i], *parts[i + 1 :]])
        arms, kernel = Arms(np.arange(float(others.shape[1]))), Empirical(np.cov(others.T))
        known = {"prior_mean": others.mean(axis=0), "horizon": len(part), "history": others}
        problem = Problem(arms, kernel, noise_var, **known)
        agent = agents.make(agent_name, problem, seed=0, beta=beta, **settings)
        if told:
            agent.prior_data(**problem.last_rows(len(others)))
        total += play(agent, part)[1].sum()
    return float(total / sum(map(len, parts)))


def play(agent: agents.Agent, rows: Array, given: Sequence[int] = ()) -> tuple[IntArray, Array]:
    """The arms that an agent chooses on successive rows of readings, and the regret: (T,) each.

    The first arms may be given, which it is told as if it had chosen them.
    """
    arms = np.empty(len(rows), np.int64)
    for t, row in enumerate(rows):
        arms[t] = given[t] if t < len(given) else agent.ask()[0]
        agent.tell(arms[t : t + 1], row[arms[t : t + 1]])
    return arms, rows.max(axis=1) - rows[np.arange(len(rows)), arms]

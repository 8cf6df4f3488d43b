"""What bogunovic2016 and time learn from the training rows of readings before their runs.

As in bogunovic2016, Section 5.2, epsilon maximizes the marginal likelihood, and the block length N
of R-GP-UCB is chosen by cross-validation.
"""

from collections.abc import Sequence

import gymnasium as gym
import numpy as np

from gpbandits_env import agents
from gpbandits_env.arrays import Array, IntArray, Settings
from gpbandits_env.envs.table import split
from gpbandits_env.gp.kernels import Empirical
from gpbandits_env.gp.learning import Series, fit
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.rewards import datasets
from gpbandits_env.rewards.datasets import Readings
from gpbandits_env.scenarios.scenario import Scenario
from gpbandits_env.scenarios.study.runner import run_rounds

BLOCKS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 144)


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
    days, noise_var = training_days(scenario), float(scenario.env_kwargs["model_noise_var"])
    beta = next((e.settings["beta"] for e in scenario.agents if "beta" in e.settings), None)
    longest = max(len(day) for day in days)
    regret = {
        n: held_out_regret(days, noise_var, "r-gp-ucb", {"beta": beta, "reset_every": n})
        for n in blocks
        if n <= longest
    }
    return min(regret, key=lambda n: regret[n])


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
    if not isinstance(readings, Readings):
        readings = datasets.load(readings, given.get("dataset_options"))
    values = readings.values[:, list(given.get("columns") or range(readings.values.shape[1]))]
    train, _ = split(-values if given.get("minimise") else values, given["train_fraction"])
    return train, readings.days[: len(train)]


def held_out_regret(
    parts: Sequence[Array],
    noise_var: float,
    agent_name: str,
    settings: Settings,
    told: bool = False,
) -> float:
    """The regret per round of an agent, the mean over parts, each trained on the others.

    If it is ``told``, it also observes the others, as the rounds before.
    """
    total, rounds = 0.0, 0
    for i, part in enumerate(parts):
        others = np.concatenate([*parts[:i], *parts[i + 1 :]])
        env = gym.make(
            "gpbandits/Replay-v0",
            max_episode_steps=len(part),
            disable_env_checker=True,
            readings=np.concatenate([others, part]),
            # The tenth of a row keeps the boundary in place in spite of rounding.
            train_fraction=(len(others) + 0.1) / (len(others) + len(part)),
            model_noise_var=noise_var,
        )
        agent = agents.make(agent_name, env, seed=0, **settings)
        if told:
            agent.prior_data(**agent.problem.last_rows(len(others)))
        env.reset(seed=0)
        regret = run_rounds(env, agent, len(part))[0]["regret"]
        total, rounds = total + float(regret.sum()), rounds + len(part)
    return total / rounds

"""Learns epsilon and the block length N of R-GP-UCB from recorded readings before a run.

Only the training rows of a scenario are used, as in bogunovic2016, Section 5.2: epsilon maximizes
the marginal likelihood, and N is chosen by cross-validation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import gymnasium as gym
import numpy as np

from gpbandits_env import agents
from gpbandits_env.arrays import Array, IntArray, Settings
from gpbandits_env.envs.table import split
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Empirical
from gpbandits_env.gp.learning import Series, epsilon_interval, fit, log_marginal_likelihood
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.rewards import datasets
from gpbandits_env.rewards.datasets import Readings
from gpbandits_env.scenarios.scenario import Scenario
from gpbandits_env.scenarios.study.runner import run_rounds

BLOCKS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 144)


@dataclass(frozen=True)
class Tuning:
    """The values learned from the training rows.

    Attributes:
        epsilon: the value per row of largest marginal likelihood, with independent days.
        interval: its 95% likelihood-ratio interval.
        continuous: the same epsilon with the days taken as one series.
        noise_var: the noise variance that was assumed.
        regret: block length -> mean regret of R-GP-UCB over the rounds of all held-out days.
        rows: the number of training rows, and the number of their days.
    """

    epsilon: float
    interval: tuple[float, float]
    continuous: float
    noise_var: float
    regret: dict[int, float]
    rows: tuple[int, int]

    @property
    def block(self) -> int:
        """The block length with the smallest cross-validated regret."""
        return min(self.regret, key=lambda n: self.regret[n])

    def text(self) -> str:
        """A summary for a terminal."""
        low, high = self.interval
        lines = [
            f"{self.rows[0]} training rows of {self.rows[1]} days, noise_var {self.noise_var:g}",
            f"epsilon  {self.epsilon:.4f}  95% interval {low:.4f} to {high:.4f}, each day "
            f"independent; {self.continuous:.4f} as one series",
            f"N        {self.block}  by the regret of R-GP-UCB on each day, trained on the others:",
            *(f"         {n:>4}  {value:.4g}" for n, value in self.regret.items()),
        ]
        return "\n".join(lines)


@one_blas_thread()
def tune(scenario: Scenario, blocks: Sequence[int] = BLOCKS) -> Tuning:
    """Learn epsilon and N from the training rows of a scenario that replays readings.

    The folds of the cross-validation are the training days: each is run with the mean and the
    covariance of the others.

    Cost: seconds to a minute for hundreds of rows of tens of sensors.

    Args:
        scenario: a scenario on a named data set, with a ``model_noise_var`` and the agent
            "r-gp-ucb" or "tv-gp-ucb", whose beta is used.
        blocks: the block lengths to choose among; those longer than a day are left out.
    Raises:
        InvalidInput: it is another kind of scenario, or has fewer than two training days.
        MissingData: the data set is missing.
    """
    if scenario.env != "gpbandits/Replay-v0":
        raise InvalidInput(f"{scenario.id} does not replay readings: there is nothing to tune")
    train, days = training_rows(scenario)
    noise_var = float(scenario.env_kwargs["model_noise_var"])
    parts = [train[days == day] for day in np.unique(days)]
    if len(parts) < 2:
        raise InvalidInput(f"{scenario.id}: tuning needs at least two training days")
    mean, covariance = train.mean(axis=0), np.cov(train.T)
    model = Model(Empirical(covariance), noise_var, mean)
    series = [Series(part) for part in parts]
    found = fit(model, series, learn=["epsilon"]).model
    interval = epsilon_interval(
        lambda e: log_marginal_likelihood(replace(model, epsilon=e), series)[0], found.epsilon
    )
    longest = max(len(part) for part in parts)
    beta = next((e.settings["beta"] for e in scenario.agents if "beta" in e.settings), None)
    regret = {
        n: held_out_regret(parts, noise_var, "r-gp-ucb", {"beta": beta, "reset_every": n})
        for n in blocks
        if n <= longest
    }
    continuous = fit(model, [Series(train)], learn=["epsilon"]).model.epsilon
    rows = len(train), len(parts)
    return Tuning(found.epsilon, interval, continuous, noise_var, regret, rows)


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

"""How the seasons of time/temperature and time/traffic were chosen, from training days alone.

`choose_season(registry.get("time/temperature"), 144.0)` gives the kernel that it declares.
"""

import itertools
from typing import Any

import numpy as np

from gpbandits_env.scenarios.papers.time import markov, season, weighted
from gpbandits_env.scenarios.scenario import Scenario
from tools.tuning import held_out_regret, training_days

# The season's share of the variance beside a Markov part, its rate, and that of this part.
WEIGHTS, SEASON_RATES, MARKOV_RATES = (0.3, 0.6, 0.9), (0.0, 0.0005, 0.002), (0.03, 0.1)


def seasons(period: float) -> list[dict[str, Any]]:
    """The temporal kernels among which `choose_season` chooses: a slow season and a Markov part."""
    slow = [season(period, rate) for rate in SEASON_RATES]
    sums = itertools.product(slow, [markov(rate) for rate in MARKOV_RATES], WEIGHTS)
    return [*(weighted(*parts) for parts in sums), *slow]


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
    days = training_days(scenario)
    noise_var = float(scenario.env_kwargs["model_noise_var"])
    betas = [e.settings["beta"] for e in scenario.agents if "beta" in e.settings]
    kernels = seasons(period)
    regrets = [
        held_out_regret(
            days, noise_var, "gp-ucb", {"beta": betas[0], "temporal": kernel}, told=True
        )
        for kernel in kernels
    ]
    return kernels[int(np.argmin(regrets))], regrets

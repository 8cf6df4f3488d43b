"""The figures of merit: each a curve over rounds, from the regret of every action."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpbandits_env import regret
from gpbandits_env.arrays import Array
from gpbandits_env.errors import unknown


@dataclass(frozen=True)
class Metric:
    """A figure of merit; smaller is better.

    Args:
        title: its name in tables and on an axis.
        formula: the same as a formula, for an axis.
        curve: (T, m) regret per action -> (T,).
    """

    title: str
    formula: str
    curve: Callable[[Array], Array]

    def curves(self, regrets: Array) -> Array:
        """The curve of each trial: (trials, T, m) -> (trials, T)."""
        return np.stack([self.curve(one) for one in regrets])


METRICS = {
    "average_regret": Metric("average regret", r"$R_t/t$", regret.average),
    "cumulative_regret": Metric("cumulative regret", r"$R_t$", regret.cumulative),
    "simple_regret": Metric("simple regret", r"$S_t$", regret.simple),
}


def metric_named(name: str) -> Metric:
    """The metric of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in METRICS:
        raise unknown("metric", name, METRICS)
    return METRICS[name]

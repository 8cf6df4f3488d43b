"""The figures of merit: each a curve over rounds, from the regret of every action."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpbandits_env import regret
from gpbandits_env.arrays import Array
from gpbandits_env.errors import unknown
from gpbandits_env.scenarios.results.store import Store

# A distance to the optimum below this counts as this: log10 of 0 is drawn nowhere.
FLOOR = 1e-12


@dataclass(frozen=True)
class Metric:
    """A figure of merit; smaller is better.

    Args:
        title: its name in tables and on an axis.
        formula: the same as a formula, for an axis.
        curve: (T, m) regret per action -> (T,).
        best: whether it is about the best action so far, which may be an initial point.
        signed: whether it may be negative.
    """

    title: str
    formula: str
    curve: Callable[[Array], Array]
    best: bool = False
    signed: bool = False

    def curves(self, regrets: Array) -> Array:
        """The curve of each trial: (trials, T, m) -> (trials, T)."""
        return np.stack([self.curve(one) for one in regrets])


def log_simple(regrets: Array) -> Array:
    """log10 of the simple regret, (T, m) -> (T,); of `FLOOR` where it is below."""
    logs: Array = np.log10(np.maximum(regret.simple(regrets), FLOOR))
    return logs


# What every report shows, and all that a scenario may rank by.
METRICS = {
    "average_regret": Metric("average regret", r"$R_t/t$", regret.average),
    "cumulative_regret": Metric("cumulative regret", r"$R_t$", regret.cumulative),
    "simple_regret": Metric("simple regret", r"$S_t$", regret.simple, best=True),
}
KNOWN = METRICS | {
    "log10_simple_regret": Metric(
        "log10 simple regret", r"$\log_{10} S_t$", log_simple, best=True, signed=True
    ),
}


def metric_named(name: str) -> Metric:
    """The metric of that name.

    Raises:
        UnknownName: there is none.
    """
    if not isinstance(name, str) or name not in KNOWN:
        raise unknown("metric", name, KNOWN)
    return KNOWN[name]


def shown(metric: str) -> list[str]:
    """The metrics of a report that ranks by one: this one first."""
    return list(dict.fromkeys([metric, *METRICS]))


def curves_of(store: Store, cell: int, label: str, name: str) -> Array:
    """A metric of all trials of an agent, in order: (trials, T).

    The best so far begins with the initial points, where the scenario says that they count.

    Raises:
        UnknownName: no such metric.
        StoreError: the agent has no trials there.
    """
    metric, regrets = metric_named(name), store.arrays(cell, label, "regret")
    if metric.best and store.scenario.get("initial", {}).get("counts"):
        before = np.fmin.reduce(store.arrays(cell, label, "initial_regret"), axis=1)
        regrets = regrets.copy()
        regrets[:, 0] = np.fmin(regrets[:, 0], before[:, None])
    return metric.curves(regrets)

"""The figures of merit: each a curve over rounds, from the regret of every action."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpbandits_env import regret
from gpbandits_env.arrays import Array
from gpbandits_env.errors import unknown

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

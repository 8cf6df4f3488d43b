"""The figures of merit, each a curve over rounds, and the panels that a plot may show them in."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpbandits_env import regret
from gpbandits_env.arrays import Array
from gpbandits_env.errors import one_of
from gpbandits_env.scenarios.declare import check

# A distance to the optimum below this counts as this: log10 of 0 is drawn nowhere.
FLOOR = 1e-12


@dataclass(frozen=True)
class Quantity:
    """Something of every round, with its axis label (`results.curves.along` reads it).

    It may be negative if ``signed``.
    """

    title: str
    label: str
    signed: bool = False


@dataclass(frozen=True)
class Metric(Quantity):
    """A figure of merit; smaller is better.

    Args:
        curve: (T, m) regret per action -> (T,).
        best: whether it is about the best action so far, which may be an initial point.
    """

    curve: Callable[[Array], Array] = field(kw_only=True)
    best: bool = False


def log_simple(regrets: Array) -> Array:
    """log10 of the simple regret, (T, m) -> (T,); of `FLOOR` where it is below."""
    logs: Array = np.log10(np.maximum(regret.simple(regrets), FLOOR))
    return logs


def log_latest(regrets: Array) -> Array:
    """log10 of the mean regret of a round's own actions, (T, m) -> (T,); at least of `FLOOR`."""
    logs: Array = np.log10(np.maximum(regrets.mean(axis=1), FLOOR))
    return logs


# What every report shows, and all that a scenario may rank by.
METRICS = {
    "average_regret": Metric("average regret", r"$R_t/t$", curve=regret.average),
    "cumulative_regret": Metric("cumulative regret", r"$R_t$", curve=regret.cumulative),
    "simple_regret": Metric("simple regret", r"$S_t$", curve=regret.simple, best=True),
}
KNOWN = METRICS | {
    "log10_simple_regret": Metric(
        "log10 simple regret", r"$\log_{10} S_t$", signed=True, curve=log_simple, best=True
    ),
    "log10_regret": Metric(
        "log10 regret of the latest action", r"$\log_{10} r_t$", signed=True, curve=log_latest
    ),
}
# What may stand on a panel's axes.
SPENT = {
    "model_order": Quantity("model order", "points in the posterior"),
    "evaluations": Quantity("evaluations", "evaluations spent"),
}
Y: dict[str, Quantity] = {**KNOWN, **SPENT}
X = {
    "rounds": Quantity("rounds", "round $t$"),
    "seconds": Quantity("clock time", "seconds of asking and telling"),
    "total_seconds": Quantity("total time", "seconds, evaluations included"),
    "evaluations": SPENT["evaluations"],
}
BANDS = {"error": "one standard error", "deviation": "one standard deviation"}
BRIEF = {"error": "1 s.e.", "deviation": "1 s.d."}


@dataclass(frozen=True)
class Panel:
    """One panel of a scenario's plot: the mean over the trials, with a band.

    Args:
        y: a metric (see `KNOWN`), "model_order" or "evaluations".
        x: "rounds"; "seconds" of asking and telling so far, or "total_seconds" with those of the
            evaluations that were observed, both mean over the trials; or "evaluations" spent.
        band: "error", one standard error of the mean, or "deviation", one standard deviation.
        log: whether y is logarithmic.
        log_x: whether x is.
    Raises:
        UnknownName: none of these.
    """

    y: str
    x: str = "rounds"
    band: str = "error"
    log: bool = False
    log_x: bool = False

    def __post_init__(self) -> None:
        check(self)
        parts = (("y axis", self.y, Y), ("x axis", self.x, X), ("band", self.band, BANDS))
        for kind, name, known in parts:
            one_of(name, known, kind)

    @property
    def title(self) -> str:
        """What stands above it."""
        against = "" if self.x == "rounds" else f" against {X[self.x].title}"
        return f"{Y[self.y].title}{against}"

    def band_of(self, curves: Array) -> Array:
        """Half the band's height (T,), from (trials, T); 0 for one trial."""
        trials = len(curves)
        if trials < 2:
            return np.zeros(curves.shape[1])
        deviation: Array = curves.std(axis=0, ddof=1)
        return deviation if self.band == "deviation" else deviation / np.sqrt(trials)


def metric_named(name: str) -> Metric:
    """The metric of that name.

    Raises:
        UnknownName: there is none.
    """
    return KNOWN[one_of(name, KNOWN, "metric")]


def shown(metric: str, moves: bool = False) -> list[str]:
    """The metrics of a report that ranks by one: this one first.

    Where the optimum ``moves``, those about the best action so far are left out: they compare
    rounds with different optima, and reach zero by chance. The report's own metric always stays.
    """
    others = [name for name, known in METRICS.items() if not (moves and known.best)]
    return list(dict.fromkeys([metric, *others]))

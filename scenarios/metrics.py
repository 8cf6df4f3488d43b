"""Metrics, each a curve over rounds, and the panels of plots that show them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import one_of
from gpbandits_env.rewards import regret
from gpbandits_env.scenarios.declare import check

# Smaller distances to the optimum count as this, because log10 of 0 cannot be drawn.
FLOOR = 1e-12


@dataclass(frozen=True)
class Quantity:
    """A quantity that every round has, with its axis label (`results.curves.along` reads it).

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
        best: whether it measures the best action so far, which may be an initial point.
    """

    curve: Callable[[Array], Array] = field(kw_only=True)
    best: bool = False


def log_simple(regrets: Array) -> Array:
    """log10 of the simple regret, but at least log10 of `FLOOR`: (T, m) -> (T,)."""
    return np.log10(np.maximum(regret.simple(regrets), FLOOR))


def log_latest(regrets: Array) -> Array:
    """log10 of the mean regret of each round's actions, at least of `FLOOR`: (T, m) -> (T,)."""
    return np.log10(np.maximum(regrets.mean(axis=1), FLOOR))


# The metrics that a report shows; see `reported_metrics`.
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
# The quantities on a panel's axes.
Y: dict[str, Quantity] = {
    **KNOWN,
    "model_order": Quantity("model order", "points in the posterior"),
    "evaluations": Quantity("evaluations", "evaluations spent"),
    "rate": Quantity("evaluations per unit of time", "evaluations / time"),
}
X = {
    "rounds": Quantity("rounds", "round $t$"),
    "seconds": Quantity("clock time", "seconds of asking and telling"),
    "total_seconds": Quantity("total time", "seconds, evaluations included"),
    "evaluations": Y["evaluations"],
    "time": Quantity("time", "time, in units of the drift"),
}
BANDS = {"error": "one standard error", "deviation": "one standard deviation"}
BRIEF = {"error": "1 s.e.", "deviation": "1 s.d."}


@dataclass(frozen=True)
class Panel:
    """One panel of a scenario's plot: the mean over the trials, with a band.

    Args:
        y: a metric (see `KNOWN`), "model_order", "evaluations" or "rate", which is the evaluations
            per unit of time so far, without initial points.
        x: "rounds"; "time", that of the clock of an environment with a duration; "seconds" of
            ``ask`` and ``tell`` so far; "total_seconds", which adds those of the observed
            evaluations (both are means over the trials); or "evaluations" spent.
        band: "error", one standard error of the mean, or "deviation", one standard deviation.
        log: whether y is logarithmic.
        log_x: whether x is.
    Raises:
        UnknownName: a name is none of these.
    """

    y: str
    x: str = "rounds"
    band: str = "error"
    log: bool = False
    log_x: bool = False

    def __post_init__(self) -> None:
        check(self)
        one_of(self.y, Y, "y axis")
        one_of(self.x, X, "x axis")
        one_of(self.band, BANDS, "band")

    @property
    def title(self) -> str:
        """The title of the panel."""
        against = "" if self.x == "rounds" else f" against {X[self.x].title}"
        return f"{Y[self.y].title}{against}"

    def band_of(self, curves: Array) -> Array:
        """Half the height of the band, (trials, T) -> (T,); 0 for one trial."""
        trials = len(curves)
        if trials < 2:
            return np.zeros(curves.shape[1])
        deviation: Array = curves.std(axis=0, ddof=1)
        return deviation if self.band == "deviation" else deviation / np.sqrt(trials)


def metric_named(name: str) -> Metric:
    """The metric with a name; UnknownName if there is none."""
    return KNOWN[one_of(name, KNOWN, "metric")]


def reported_metrics(metric: str, moves: bool = False) -> list[str]:
    """The metrics of a report that ranks by ``metric``, which comes first.

    Where the optimum ``moves``, metrics of the best action so far are left out: they compare rounds
    with different optima, and reach zero by chance. So they are under a clock, where regret is a
    mean over some time. ``metric`` itself is always included.
    """
    others = [name for name, known in METRICS.items() if not (moves and known.best)]
    return list(dict.fromkeys([metric, *others]))

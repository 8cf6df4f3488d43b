"""What a plot may show: a quantity against rounds, seconds or evaluations."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import unknown
from gpbandits_env.scenarios.declare import check
from gpbandits_env.scenarios.metrics import KNOWN


@dataclass(frozen=True)
class Quantity:
    """Something of every round, with its axis label (`results.curves.along` reads it).

    It may be negative if ``signed``.
    """

    title: str
    label: str
    signed: bool = False


SPENT = {
    "model_order": Quantity("model order", "points in the posterior"),
    "evaluations": Quantity("evaluations", "evaluations spent"),
}
Y = {name: Quantity(m.title, m.formula, m.signed) for name, m in KNOWN.items()} | SPENT
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
        y: a metric (see `metrics.KNOWN`), "model_order" or "evaluations".
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
            if name not in known:
                raise unknown(kind, name, known)

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

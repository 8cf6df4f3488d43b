"""What a plot may show: a quantity against rounds, seconds or evaluations."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.scenarios.results.metrics import KNOWN, curves_of
from gpbandits_env.scenarios.results.store import Store


@dataclass(frozen=True)
class Axis:
    """Something of every round, of one agent in one cell.

    Args:
        title: its name.
        label: on an axis, with the unit.
        curves: store, cell, agent -> (trials, T).
        signed: whether it may be negative.
    """

    title: str
    label: str
    curves: Callable[[Store, int, str], Array]
    signed: bool = False


def _array(name: str) -> Callable[[Store, int, str], Array]:
    return lambda store, cell, label: store.arrays(cell, label, name).astype(np.float64)


def _rounds(store: Store, cell: int, label: str) -> Array:
    trials, horizon = store.arrays(cell, label, "optimum").shape
    return np.broadcast_to(np.arange(1.0, horizon + 1.0), (trials, horizon))


def _seconds(*names: str) -> Callable[[Store, int, str], Array]:
    def spent(store: Store, cell: int, label: str) -> Array:
        total: Array = np.sum([store.seconds(cell, label, name) for name in names], axis=0)
        return np.cumsum(total, axis=1)

    return spent


def _metric(name: str) -> Axis:
    metric = KNOWN[name]
    return Axis(
        metric.title,
        metric.formula,
        lambda store, cell, label: curves_of(store, cell, label, name),
        metric.signed,
    )


SPENT = {
    "model_order": Axis("model order", "points in the posterior", _array("model_order")),
    "evaluations": Axis("evaluations", "evaluations spent", _array("evaluations")),
}
Y = {name: _metric(name) for name in KNOWN} | SPENT
X = {
    "rounds": Axis("rounds", "round $t$", _rounds),
    "seconds": Axis("clock time", "seconds of asking and telling", _seconds("ask", "tell")),
    "total_seconds": Axis(
        "total time",
        "seconds, evaluations included",
        _seconds("ask", "tell", "evaluate"),
    ),
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
        parts = (("y axis", self.y, Y), ("x axis", self.x, X), ("band", self.band, BANDS))
        for kind, name, known in parts:
            if not isinstance(name, str) or name not in known:
                raise unknown(kind, name, known)

    @property
    def title(self) -> str:
        """What stands above it."""
        against = "" if self.x == "rounds" else f" against {X[self.x].title}"
        return f"{Y[self.y].title}{against}"

    def to_dict(self) -> dict[str, Any]:
        """A plain dict that `panel_from_dict` reads back."""
        return asdict(self)

    def band_of(self, curves: Array) -> Array:
        """Half the band's height (T,), from (trials, T); 0 for one trial."""
        trials = len(curves)
        if trials < 2:
            return np.zeros(curves.shape[1])
        deviation: Array = curves.std(axis=0, ddof=1)
        return deviation if self.band == "deviation" else deviation / np.sqrt(trials)


def panel_from_dict(plain: Mapping[str, Any]) -> Panel:
    """The panel of a plain dict.

    Raises:
        InvalidInput: no dict, or one without a y.
        UnknownName: fields or values that there are not.
    """
    if not isinstance(plain, Mapping) or "y" not in plain:
        raise InvalidInput(f"a panel is a dict with a 'y', got {shown(plain)}")
    for key in plain:
        if key not in (known := [field.name for field in fields(Panel)]):
            raise unknown("field of a panel", key, known)
    return Panel(**plain)

"""Regret against rounds, from a store alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpbandits_env.arrays import IntArray
from gpbandits_env.errors import StoreError
from gpbandits_env.scenarios.course_findings import resets
from gpbandits_env.scenarios.metrics import METRICS
from gpbandits_env.scenarios.statistics import mean_and_error
from gpbandits_env.scenarios.store import Store
from gpbandits_env.scenarios.style import INK, line_style, new_figure, share_legend, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 400
DOTS: tuple[Any, ...] = ((0, (1, 2)), (0, (4, 2)), (0, (8, 2)), (0, (6, 2, 1, 2)))


def plot(
    store: Store,
    stem: Path | None = None,
    *,
    log: bool = False,
    bounds: bool = False,
    suffixes: Sequence[str] = (".png", ".svg"),
) -> list[Path]:
    """Draw every metric, one column each, one row a cell; bands of one standard error.

    Args:
        store: an open store.
        stem: the files' path less the suffix; None puts them beside the store.
        log: logarithmic regret.
        bounds: lay the theory curves over.
        suffixes: the kinds of file.
    Returns:
        The files.
    Raises:
        StoreError: nothing to plot, or a file cannot be written.
    """
    scenario = store.scenario
    cells = [i for i in range(len(scenario["points"])) if store.labels(i)]
    if not cells:
        raise StoreError(f"{store.path} holds no finished trial yet; 'gpbandits run' resumes it")
    labels = list(scenario["agents"])
    with new_figure(12.0, 0.9 + 3.3 * len(cells)) as figure:
        grid = figure.subplots(len(cells), len(METRICS), squeeze=False)
        for row, cell in zip(grid, cells, strict=True):
            params = ", ".join(f"{k} = {v}" for k, v in scenario["points"][cell].items())
            for axes, name in zip(row, METRICS, strict=True):
                draw_curves(axes, store, cell, name, log=log)
                if bounds:
                    draw_bounds(axes, store, cell, name)
            row[0].set_title(f"{METRICS['average_regret'].title}  {params}".strip())
        trials = max(len(store.trials(c, a)) for c in cells for a in store.labels(c))
        figure.suptitle(
            f"{scenario['id']}:  {scenario['title']}  ({trials} trials, band: one standard error)",
            x=0.01,
            ha="left",
            fontsize=12,
            color=INK,
        )
        share_legend(figure, grid[0][0], min(len(labels) + bounds, 6))
        return write(figure, stem or store.path.with_suffix(""), suffixes)


def draw_curves(axes: "Axes", store: Store, cell: int, name: str, *, log: bool = False) -> None:
    """One metric of all agents of a cell; a dot where an agent has just forgotten everything.

    Args:
        axes: an empty panel.
        store: an open store.
        cell: which.
        name: the metric's.
        log: logarithmic regret.
    """
    metric, labels = METRICS[name], list(store.scenario["agents"])
    top = 0.0
    for label in store.labels(cell):
        curves = metric.curves(store.arrays(cell, label, "regret"))
        mean, error = mean_and_error(curves)
        error = np.nan_to_num(error)
        style: dict[str, Any] = line_style(labels.index(label))
        forgotten = resets(store.arrays(cell, label, "model_order").mean(axis=0))
        axes.plot(forgotten, mean[forgotten - 1], ".", color=style["color"], markersize=5)
        rounds = _shown(len(mean))
        mean, error = mean[rounds - 1], error[rounds - 1]
        axes.plot(rounds, mean, label=label, **style)
        axes.fill_between(
            rounds, mean - error, mean + error, color=style["color"], alpha=0.18, linewidth=0
        )
        top = max(top, float(np.max(mean + error)))
    axes.set_title(metric.title)
    axes.set_xlabel("round $t$")
    axes.set_ylabel(metric.formula)
    axes.set_xlim(1, max(int(rounds[-1]), 2))
    if log and top > 0:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0.0, 1.05 * top or 1.0)


def _shown(horizon: int) -> IntArray:
    """The rounds to draw: all early ones, then no more than a plot can show."""
    evenly = np.linspace(1, horizon, min(horizon, POINTS)).round().astype(np.int64)
    return np.union1d(np.arange(1, min(horizon, 50) + 1), evenly)


def draw_bounds(axes: "Axes", store: Store, cell: int, name: str) -> None:
    """The theory's bounds on a metric in a cell, over what is drawn there already."""
    for i, (title, (metric, curve)) in enumerate(store.bounds(cell).items()):
        if metric == name:
            rounds = _shown(len(curve))
            axes.plot(
                rounds,
                curve[rounds - 1],
                color=INK,
                linewidth=1.2,
                linestyle=DOTS[i % len(DOTS)],
                label=title,
            )
            axes.autoscale(axis="y")

"""The figures of the documentation, from a store alone.

One panel an agent where cells differ in the size of the batch; one panel a cell with the scenario's
own metric; regret against the swept setting where agents differ in one; else the scenario's panels,
or all metrics, as `plots` draws them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.reporting import batch_plot
from gpbandits_env.scenarios.reporting.plots import draw_bounds, draw_panel, plot
from gpbandits_env.scenarios.reporting.style import (
    COLOURS,
    entitle,
    line_style,
    new_figure,
    share_legend,
    write,
)
from gpbandits_env.scenarios.results.metrics import KNOWN, curves_of
from gpbandits_env.scenarios.results.panels import Panel
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.statistics import mean_and_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The spread over the worlds that a sweep shows: from the 10th percentile to the 90th.
SPREAD = (0.1, 0.9)


def draw(store: Store, stem: Path, suffixes: Sequence[str] = (".png",)) -> list[Path]:
    """Draw the figure that suits a study, and one with the theory's bounds if it has any.

    Args:
        store: an open store with a finished trial.
        stem: the files' path less the suffix; "-bounds" is added for the second.
        suffixes: the kinds of file.
    Returns:
        The files.
    Raises:
        StoreError: nothing to plot, or a file cannot be written.
    """
    if batch_plot.sweeps(store.scenario):
        return batch_plot.draw(store, stem, suffixes)
    if store.scenario.get("sweep"):
        return _sweep(store, stem, suffixes)
    if len(store.scenario["points"]) == 1 or store.scenario.get("panels"):
        files = plot(store, stem, suffixes=suffixes)
        if store.scenario.get("panels") and store.bounds(0):
            beyond = stem.with_name(f"{stem.name}-bounds")
            files += plot(store, beyond, bounds=True, suffixes=suffixes)
        return files
    files = _panels(store, stem, suffixes, bounds=False)
    if store.bounds(0):
        files += _panels(store, stem.with_name(f"{stem.name}-bounds"), suffixes, bounds=True)
    return files


def _panels(store: Store, stem: Path, suffixes: Sequence[str], *, bounds: bool) -> list[Path]:
    """The scenario's metric, one panel a cell; with bounds on a logarithmic scale."""
    scenario, metric = store.scenario, store.scenario["metric"]
    cells = [i for i in range(len(scenario["points"])) if store.labels(i)]
    with new_figure(max(4.2 * len(cells), 10.5), 4.2 + 0.6 * bounds) as figure:
        row: Any = figure.subplots(1, len(cells), squeeze=False, sharey=True)[0]
        for axes, cell in zip(row, cells, strict=True):
            draw_panel(axes, store, cell, Panel(metric, log=bounds))
            if bounds:
                draw_bounds(axes, store, cell, metric)
            axes.set_title(", ".join(f"{k} = {v}" for k, v in scenario["points"][cell].items()))
            if axes is not row[0]:
                axes.set_ylabel("")
        if not bounds:
            row[0].set_ylim(0.0, max(_tops(axes) for axes in row))
        _entitle(figure, store)
        share_legend(figure, row[0], 3 if bounds else 5)
        return write(figure, stem, suffixes)


def _tops(axes: "Axes") -> float:
    """What must be seen of a panel: all but the first rounds, when nobody knows anything."""
    lines = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.get_lines()]
    return 1.1 * max((float(y[len(y) // 20 :].max()) for y in lines if len(y)), default=1.0)


def _sweep(store: Store, stem: Path, suffixes: Sequence[str]) -> list[Path]:
    """The metric at the last round against the swept setting; other agents as level lines."""
    scenario = store.scenario
    name, metric = scenario["sweep"], KNOWN[scenario["metric"]]
    settings = {k: v["settings"].get(name) for k, v in scenario["agents"].items()}
    finals = {
        label: curves_of(store, 0, label, scenario["metric"])[:, -1] for label in store.labels(0)
    }
    swept = sorted((v, finals[k]) for k, v in settings.items() if v is not None and k in finals)
    with new_figure(10.5, 4.6) as figure:
        axes = figure.subplots()
        _curve(axes, np.array([x for x, _ in swept], float), np.stack([y for _, y in swept]))
        for i, (label, values) in enumerate(finals.items()):
            if settings[label] is None:
                axes.axhline(
                    float(values.mean()), color=COLOURS[1 + i % 5], linestyle="--", label=label
                )
        _scale(axes, [x for x, _ in swept])
        axes.set(xlabel=f"{name}, as the agent is told", ylim=(0, None))
        axes.set_ylabel(f"{metric.title} at round {scenario['horizon']}")
        _entitle(figure, store)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return write(figure, stem, suffixes)


def _curve(axes: "Axes", x: Array, values: Array) -> None:
    mean, error = mean_and_error(values, axis=1)
    low, high = np.quantile(values, SPREAD, axis=1)
    axes.fill_between(
        x, low, high, color=COLOURS[0], alpha=0.13, linewidth=0, label="10% to 90% of the worlds"
    )
    axes.errorbar(
        x, mean, error, marker="o", capsize=3, label="mean ± standard error", **line_style(0)
    )


def _scale(axes: "Axes", x: Sequence[float]) -> None:
    """Logarithmic, or by square roots if 0 is there; every swept value is a tick."""
    if min(x) > 0:
        axes.set_xscale("log")
        axes.set_xlim(min(x) / 1.15, 1.15 * max(x))
    else:
        axes.set_xscale("function", functions=(np.sqrt, np.square))
        axes.set_xlim(0.0, 1.08 * max(x))
    axes.set_xticks(list(x), [f"{value:g}" for value in x])
    axes.set_xticks([], minor=True)


def _entitle(figure: Any, store: Store) -> None:
    scenario = store.scenario
    title = f"{scenario['id']}: {scenario['title']} ({scenario['trials']} trials)"
    entitle(figure, title)

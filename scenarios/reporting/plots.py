"""Regret, model order and evaluations against rounds or time, from a results file alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, IntArray, Plain, Settings, all_of
from gpbandits_env.display import counted
from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.declare import read
from gpbandits_env.scenarios.metrics import BANDS, BRIEF, METRICS, Panel, X, Y, reported_metrics
from gpbandits_env.scenarios.reporting import style
from gpbandits_env.scenarios.results.curves import along, in_parts, optimum_moves, resets
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import words

POINTS = 400
# Two panels in a row are as wide as can be read on a phone; a longer title would run into the next.
COLUMNS, WIDTH, TITLE = 2, 7.0, 38
# Bands of many agents lie on top of each other, and are fainter.
FEW, SHADE, FAINT = 4, 0.18, 0.1
DOTS: tuple[Any, ...] = ((0, (1, 2)), (0, (4, 2)), (0, (8, 2)), (0, (6, 2, 1, 2)))


def plot(
    store: Store, stem: Path | None = None, *, log: bool = False, bounds: bool = False
) -> list[Path]:
    """Draw the panels of a scenario, two per row, with rows of its own for each cell.

    With one panel per cell, those of two cells are in a row.

    Args:
        store: an open results file.
        stem: the path of the files, with or without suffix; by default next to the results file.
        log: whether all regret is drawn on a logarithmic axis.
        bounds: whether the scenario's theory curves are drawn too.
    Returns:
        The files.
    """
    picture = figure(store, log=log, bounds=bounds)
    return style.write(picture, stem or store.path.with_suffix(""), [store.path])


def figure(
    store: Store, *, log: bool = False, bounds: bool = False, panels: Sequence[Panel] = ()
) -> "style.Figure":
    """The same plot as a Matplotlib figure, which a notebook shows; see `plot`.

    The ``panels`` are by default those of the scenario, or the metrics against rounds (without
    simple regret where the optimum moves).
    """
    if isinstance(store, (str, Path)):
        raise InvalidInput(f"a figure needs an open results file: Store.open({str(store)!r})")
    shown = all_of(Panel, panels, "panels", "Panels") if panels else declared(store)
    scenario = store.scenario
    cells = store.cells()
    panels = [replace(p, log=p.log or (log and p.y in METRICS)) for p in shown]
    first = panels[0]
    curves = {cell: store.bounds(cell) for cell in cells} if bounds else {}
    known = {metric for of in curves.values() for metric, _ in of.values()}
    if bounds and not any(panel.x == "rounds" and panel.y in known for panel in panels):
        raise InvalidInput(f"{scenario['id']} has no theory curves for any of the panels")
    # A block of places for each cell, in whole rows unless it has a single panel.
    columns = min(max(len(panels), len(cells) * (len(panels) == 1)), COLUMNS)
    size = 1 if len(panels) == 1 else -(-len(panels) // columns) * columns
    rows = -(-len(cells) * size // columns)
    # Those of all agents of the study, whether or not they are drawn.
    styles = style.line_styles({k: entry["agent"] for k, entry in scenario["agents"].items()})
    with style.new_figure(WIDTH, 1.2 + 2.6 * rows) as figure:
        grid: Any = figure.subplots(rows, columns, squeeze=False)
        blocks = grid.reshape(-1, size)
        for axes in blocks[len(cells) :].ravel():
            axes.remove()
        for block, cell in zip(blocks, cells, strict=False):
            for axes, panel in zip(block, panels, strict=False):
                _draw_curves(axes, store, cell, panel, styles)
                if bounds and panel.x == "rounds":
                    _draw_bounds(axes, curves[cell], panel.y)
                if panel.band != first.band:
                    axes.set_title(_above(f"{panel.title} (± {BRIEF[panel.band]})"))
            for axes in block[len(panels) :]:
                axes.remove()
            above = [_above(first.title), *heading(scenario["points"], cell)]
            block[0].set_title(style.escaped("\n".join(above)))
        trials = max(len(store.trials(c, a)) for c in cells for a in store.labels(c))
        about = f"{counted(trials, 'trial')}, band: {BANDS[first.band]}"
        style.entitle(figure, f"{scenario['id']}: {scenario['title']} ({about})")
        style.share_legend(figure, min(len(scenario["agents"]) + bounds, 6))
    return figure


def telling(points: Sequence[Settings]) -> list[str]:
    """The first parameters that tell the cells apart."""
    found: list[str] = []
    cells = 1
    for name in dict.fromkeys(n for point in points for n in point):
        told = len({repr([point.get(n) for n in (*found, name)]) for point in points})
        if told > cells:
            found.append(name)
            cells = told
    return found


def heading(points: Sequence[Settings], cell: int) -> list[str]:
    """The parameters that tell a cell from the others, in lines that fit above a panel.

    Where the types of settings tell them apart, the types are enough.
    """
    told: Plain = {}
    for name in (n for n in telling(points) if n in points[cell]):
        values: list[Any] = [point.get(name) for point in points]
        types = {value["type"] for value in values if isinstance(value, dict) and "type" in value}
        told[name] = values[cell]["type"] if len(types) == len(values) else values[cell]
    return wrap(words(told or points[cell]), TITLE)


def _above(title: str) -> str:
    """The title of a panel, in lines that fit above it."""
    return "\n".join(wrap(title, TITLE))


def declared(store: Store) -> list[Panel]:
    """The panels of a scenario: its own, or the metrics that suit it against rounds or time."""
    if own := store.scenario.get("panels", []):
        return [read(Panel, plain, "a panel") for plain in own]
    parts = in_parts(store.scenario)
    names = reported_metrics(store.scenario["metric"], parts or optimum_moves(store))
    return [Panel(name, "time" if parts else "rounds") for name in METRICS if name in names]


def _draw_curves(
    axes: "style.Axes", store: Store, cell: int, panel: Panel, styles: Mapping[str, Plain]
) -> None:
    """Draw means with bands on empty axes, and a dot where an agent has just forgotten everything.

    On a logarithmic axis a band of half height h around a mean y reaches from y / (1 + h / y) to
    y + h: as far down as up.
    """
    y, x, labels = Y[panel.y], X[panel.x], store.labels(cell)
    top, end = 0.0, 0.0
    for label in labels:
        look = styles[label]
        curves = along(store, cell, label, panel.y)
        mean, half = curves.mean(axis=0), panel.band_of(curves)
        at = along(store, cell, label, panel.x).mean(axis=0)
        forgotten = resets(store.arrays(cell, label, "model_order").mean(axis=0)) - 1
        axes.plot(at[forgotten], mean[forgotten], ".", color=look["color"], markersize=5)
        rounds = _plotted(len(mean)) - 1
        at, mean, half = at[rounds], mean[rounds], half[rounds]
        alone = "o" if np.isfinite(at).sum() == 1 else None  # a line of one point is not seen
        axes.plot(at, mean, label=style.legible(label), marker=alone, clip_on=not alone, **look)
        low = _reflected(mean, half) if panel.log else mean - half
        alpha = SHADE if len(labels) <= FEW else FAINT
        style.band(axes, at, low, mean + half, look["color"], alpha=alpha)
        top, end = max(top, float(np.max(mean + half))), max(end, float(at[-1]))
    axes.set_title(_above(panel.title))
    axes.set_xlabel(x.label)
    axes.set_ylabel(y.label)
    if panel.log_x and end > 0:
        axes.set_xscale("log")
    else:
        start = 1.0 if panel.x == "rounds" else 0.0
        axes.set_xlim(start, max(end, 2.0) if start else end or 1.0)
    if panel.log and top > 0:
        axes.set_yscale("log")
    elif not y.signed:
        axes.set_ylim(0.0, 1.05 * top or 1.0)


def _reflected(mean: Array, half: Array) -> Array:
    return np.divide(mean**2, mean + half, out=np.zeros_like(mean), where=mean + half > 0)


def _plotted(horizon: int) -> IntArray:
    """The rounds that are drawn: all early ones, and as many of the others as a plot can show."""
    evenly = np.linspace(1, horizon, min(horizon, POINTS)).round().astype(np.int64)
    return np.union1d(np.arange(1, min(horizon, 50) + 1), evenly)


def _draw_bounds(axes: "style.Axes", bounds: Mapping[str, tuple[str, Array]], name: str) -> None:
    """Add the theoretical bounds on a metric to a panel."""
    for i, (title, (metric, curve)) in enumerate(bounds.items()):
        if metric == name:
            rounds = _plotted(len(curve))
            looks: Plain = {"linestyle": DOTS[i % len(DOTS)], "linewidth": 1.2}
            axes.plot(rounds, curve[rounds - 1], color=style.INK, label=title, **looks)
            axes.autoscale(axis="y")
            if axes.get_yscale() == "linear":
                axes.set_ylim(bottom=0.0)

"""A figure of batches of several sizes: an agent a panel, a size a line.

Also whether larger batches end lower, as words: `improvements`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.reporting.style import (
    entitle,
    line_style,
    new_figure,
    share_legend,
    write,
)
from gpbandits_env.scenarios.results.metrics import KNOWN, curves_of
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.statistics import mean_and_error, paired

SIZE = "batch_size"
COLUMNS = 4


@dataclass(frozen=True)
class Improvement:
    """One agent's figure at the last round, batch by batch.

    Args:
        agent: its label.
        sizes: of the batches, growing.
        mean: (sizes,) over the worlds.
        error: (sizes,) its standard error.
        worlds: (sizes - 1,) the part of them in which each size is no worse than the one before.
        clear: whether the largest is below the smallest by two paired standard errors, in
            logarithms.
    """

    agent: str
    sizes: tuple[int, ...]
    mean: Array
    error: Array
    worlds: Array
    clear: bool

    @property
    def falls(self) -> bool:
        """Whether the mean falls from each size to the next."""
        return bool((np.diff(self.mean) < 0.0).all())


def sweeps(scenario: dict[str, Any]) -> bool:
    """Whether the cells of a scenario differ in the size of the batch, and in nothing else."""
    points = scenario["points"]
    return len(points) > 1 and all(set(point) == {SIZE} for point in points)


def improvements(store: Store) -> list[Improvement]:
    """What larger batches bring each agent, over the worlds that it played in all sizes."""
    found, metric = [], store.scenario["metric"]
    for label, cells in _played(store).items():
        sizes = tuple(store.scenario["points"][cell][SIZE] for cell in cells)
        common = set.intersection(*(set(store.trials(cell, label)) for cell in cells))
        if not common:
            continue
        finals = np.stack([_finals(store, cell, label, metric, common) for cell in cells])
        mean, error = mean_and_error(finals, axis=1)
        worlds = (finals[1:] <= finals[:-1]).mean(axis=1)
        logs = np.log10(np.maximum(finals, 1e-12))
        p = paired(logs[-1], logs[0])
        found.append(Improvement(label, sizes, mean, error, worlds, bool(p.difference < -2 * p.se)))
    return found


def draw(store: Store, stem: Path, suffixes: Sequence[str] = (".png",)) -> list[Path]:
    """One panel an agent.

    Args:
        store: an open store with finished trials.
        stem: the files' path less the suffix.
        suffixes: the kinds of file.
    Returns:
        The files.
    Raises:
        StoreError: a file cannot be written.
    """
    scenario, played = store.scenario, _played(store)
    metric = KNOWN[scenario["metric"]]
    lines = -(-len(played) // COLUMNS)
    with new_figure(13.0, 1.0 + 3.0 * lines) as figure:
        grid: Any = figure.subplots(lines, COLUMNS, squeeze=False, sharex=True, sharey=True)
        for axes, (label, cells) in zip(grid.ravel(), played.items(), strict=False):
            for i, cell in enumerate(cells):
                curves = curves_of(store, cell, label, scenario["metric"])
                mean, error = mean_and_error(curves)
                rounds, style = np.arange(1, len(mean) + 1), line_style(i)
                axes.plot(rounds, mean, label=f"m = {scenario['points'][cell][SIZE]}", **style)
                low, high = np.maximum(mean - error, 0.1 * mean), mean + error
                axes.fill_between(rounds, low, high, color=style["color"], alpha=0.18, linewidth=0)
            axes.set(title=label, xlabel="round $t$", yscale="log")
        for axes in grid[:, 0]:
            axes.set_ylabel(metric.formula)
        for axes in grid.ravel()[len(played) :]:
            axes.set_axis_off()
        title = f"{scenario['id']}: {scenario['title']} ({scenario['trials']} trials, band: s.e.)"
        entitle(figure, title)
        share_legend(figure, grid[0][0], len(scenario["points"]))
        return write(figure, stem, suffixes)


def _finals(store: Store, cell: int, label: str, metric: str, common: set[int]) -> Array:
    """The metric at the last round in the worlds asked for."""
    kept = [trial in common for trial in store.trials(cell, label)]
    finals: Array = curves_of(store, cell, label, metric)[kept, -1]
    return finals


def _played(store: Store) -> dict[str, list[int]]:
    """Agent -> the cells that it has played, by growing batches."""
    points = store.scenario["points"]
    order = sorted(range(len(points)), key=lambda i: int(points[i][SIZE]))
    found = {}
    for label in store.scenario["agents"]:
        cells = [i for i in order if label in store.labels(i)]
        if len(cells) > 1:
            found[label] = cells
    return found

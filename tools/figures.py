"""The figures of the documentation, drawn from a results file alone.

If the agents of a scenario differ in one setting, regret is drawn against that setting. Otherwise
there is one panel per cell with the metric of the scenario, or the scenario's own panels as `plots`
draws them.

`python -m tools.figures FILE...` makes other PNG pictures as light as these.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.metrics import KNOWN, Panel
from gpbandits_env.scenarios.reporting.plots import WIDTH, plot
from gpbandits_env.scenarios.reporting.style import (
    band,
    colour_of,
    entitle,
    new_figure,
    share_legend,
    write,
)
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.report import mean_and_error
from gpbandits_env.scenarios.results.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PNG = (".png",)
# The spread over the instances that a sweep shows: from the 10th percentile to the 90th.
SPREAD = (0.1, 0.9)
# A kept picture has so many colours, any two of which differ by so much in red, green or blue: each
# line keeps its own, because the tints of bands, which cover more of the picture, are merged.
COLOURS, APART = 32, 16
# Its pictures stay PNG, because LaTeX reads no WebP, which takes a fifth less.
PAPER = Path(__file__).parents[1] / "paper.md"


def draw(store: Store, stem: Path) -> list[Path]:
    """Draw the figure that suits a study, and another with the theoretical bounds if it has any.

    The files are light pictures; "-bounds" is added to the name of the second one.

    Raises:
        StoreError: there is nothing to plot, or a file cannot be written.
    """
    return [lighten(file) for file in _drawn(store, stem)]


def lighten(file: Path) -> Path:
    """Replace a PNG picture by a WebP of half the width, in the colours that cover most of it."""
    with Image.open(file) as opened:
        if opened.mode == "P" or opened.format == "WEBP":  # it is light already
            return file
        picture = opened.convert("RGB")
    kept: list[Any] = []
    counts = picture.getcolors(picture.width * picture.height)
    for _, colour in sorted(counts or [], reverse=True):
        differences = (max(abs(a - b) for a, b in zip(colour, k, strict=True)) for k in kept)
        if len(kept) < COLOURS and min(differences, default=APART) >= APART:
            kept.append(colour)
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for colour in kept for value in colour])
    light = picture.reduce(2).quantize(palette=palette, dither=Image.Dither.NONE)
    target = file if f"/{file.name}" in PAPER.read_text("utf-8") else file.with_suffix(".webp")
    light.save(target, optimize=True, lossless=True, quality=100, method=6)
    if target != file:
        file.unlink()
    return target


def _drawn(store: Store, stem: Path) -> list[Path]:
    scenario = store.scenario
    if scenario.get("sweep"):
        return _sweep(store, stem)
    own, swept = bool(scenario.get("panels")), len(scenario["points"]) > 1
    panels = [Panel(scenario["metric"])] if swept and not own else []
    files = plot(store, stem, suffixes=PNG, panels=panels)
    if (own or swept) and store.bounds(0):
        beyond = stem.with_name(f"{stem.name}-bounds")
        files += plot(store, beyond, log=bool(panels), bounds=True, suffixes=PNG, panels=panels)
    return files


def _sweep(store: Store, stem: Path) -> list[Path]:
    """Draw the metric at the last round against the swept setting; other agents are level lines."""
    scenario = store.scenario
    name, metric = scenario["sweep"], scenario["metric"]
    finals = {label: curves_of(store, 0, label, metric)[:, -1] for label in store.labels(0)}
    settings = {label: scenario["agents"][label]["settings"].get(name) for label in finals}
    swept = sorted((v, label) for label, v in settings.items() if v is not None)
    x, values = np.array([v for v, _ in swept], float), np.stack([finals[k] for _, k in swept])
    colours = {label: colour_of(scenario["agents"][label]["agent"]) for label in finals}
    own = colours[swept[0][1]]
    with new_figure(WIDTH, 3.8) as figure:
        axes = figure.subplots()
        mean, error = mean_and_error(values, axis=1)
        low, high = np.quantile(values, SPREAD, axis=1)
        band(axes, x, low, high, own, label="10% to 90% of the trials", alpha=0.13)
        looks: dict[str, Any] = {"marker": "o", "capsize": 3, "color": own}
        axes.errorbar(x, mean, error, label="mean ± standard error", **looks)
        for label, final in finals.items():
            if settings[label] is None:
                level = float(final.mean())
                axes.axhline(level, color=colours[label], linestyle="--", label=label)
        _scale(axes, x)
        axes.set(xlabel=f"{name}, as the agent assumes", ylim=(0, None))
        axes.set_ylabel(f"{KNOWN[metric].title} at round {scenario['horizon']}")
        entitle(figure, f"{scenario['id']}: {scenario['title']} ({scenario['trials']} trials)")
        share_legend(figure, 4, [axes])
        return write(figure, stem, PNG)


def _scale(axes: "Axes", x: Array) -> None:
    """Set a logarithmic scale, or one of square roots if 0 occurs; every swept value has a tick."""
    if min(x) > 0:
        axes.set_xscale("log")
        axes.set_xlim(min(x) / 1.15, 1.15 * max(x))
    else:
        axes.set_xscale("function", functions=(np.sqrt, np.square))
        axes.set_xlim(0.0, 1.08 * max(x))
    axes.set_xticks(x, [f"{value:g}" for value in x])
    axes.set_xticks([], minor=True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        lighten(Path(name))

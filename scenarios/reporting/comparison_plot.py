"""A comparison over scenarios as a picture: scores, performance profiles, and who beats whom."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gpbandits_env.arrays import Plain, Settings
from gpbandits_env.scenarios.reporting.style import (
    INK,
    draw_profiles,
    legible,
    line_styles,
    new_figure,
    share_legend,
)
from gpbandits_env.scenarios.results.comparison import Anytime, Comparison
from gpbandits_env.scenarios.results.statistics import LIMITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Styles: TypeAlias = Mapping[str, Settings]


def figure(
    compared: Comparison, agents: Mapping[str, str] | None = None, over: Anytime | None = None
) -> "Figure":
    """The picture of a comparison as a Matplotlib figure.

    ``agents``, label -> agent, determines the colours (see `agents_of`); by default the labels do.
    ``over`` adds a row of panels: the scores before the last round, and runtime profiles.
    """
    styles = line_styles(agents or {s.label: s.label for s in compared.agents})
    height = max(3.6, 1.6 + 0.34 * len(compared.agents))
    heights = [height, 3.6] if over else [height]
    with new_figure(13.0, sum(heights)) as figure:
        grid = figure.add_gridspec(1 + (over is not None), 6, height_ratios=heights)
        scores, profiles, wins = (figure.add_subplot(grid[0, i : i + 2]) for i in (0, 2, 4))
        if over is not None:
            _anytime(figure.add_subplot(grid[1, :3]), over, styles)
            _runtime(figure.add_subplot(grid[1, 3:]), over, styles)
        _scores(scores, compared, styles)
        _profiles(profiles, compared, styles)
        _improvement(wins, compared)
        share_legend(figure, 6)
    return figure


def _scores(axes: "Axes", compared: Comparison, styles: Styles) -> None:
    for row, agent in enumerate(compared.agents):
        s, colour = agent.score, styles[agent.label]["color"]
        axes.plot([s.low, s.high], [row, row], color=colour, linewidth=6, alpha=0.35)
        axes.plot(s.value, row, marker="o", color=colour)
    axes.set_yticks(range(len(compared.agents)), [s.label for s in compared.agents])
    axes.invert_yaxis()
    axes.set_title("interquartile mean of the scores")
    axes.set_xlabel(compared.ends)


def _profiles(axes: "Axes", compared: Comparison, styles: Styles) -> None:
    shares = {agent.label: (agent.profile, *agent.band) for agent in compared.agents}
    draw_profiles(axes, LIMITS, shares, styles, title="performance profile", xlabel="score")
    axes.set_ylabel("share of runs at or below")


def _anytime(axes: "Axes", over: Anytime, styles: Styles) -> None:
    for label, scores in over.scores.items():
        axes.plot(over.shares, scores, label=legible(label), **styles[label])
    axes.set(title="scores before the last round", xlabel="share of the horizon")
    axes.set_ylabel("interquartile mean of the scores")
    axes.set_ylim(top=min(axes.get_ylim()[1], 2.0))


def _runtime(axes: "Axes", over: Anytime, styles: Styles) -> None:
    shares = {label: (share,) for label, share in over.reached.items()}
    draw_profiles(axes, over.rounds, shares, styles, title="runtime profile", xlabel="rounds")
    axes.set(xscale="log", ylabel="share of targets reached")


def _improvement(axes: "Axes", compared: Comparison) -> None:
    labels = [s.label for s in compared.agents]
    size = len(labels)
    looks: Plain = {"ha": "center", "va": "center", "fontsize": min(10.0, 80.0 / size)}
    table = np.full((size, size), np.nan)
    for (a, b), found in compared.improvement.items():
        table[labels.index(a), labels.index(b)] = found.value
    axes.imshow(table, vmin=0.0, vmax=1.0, cmap="RdBu", aspect="auto")
    for i in range(size):
        for j in range(size):
            if i != j:
                strong = abs(table[i, j] - 0.5) > 0.35
                colour = "white" if strong else INK
                axes.text(j, i, f"{table[i, j]:.2f}", color=colour, **looks)
    axes.set_xticks(range(size), labels, rotation=60, ha="right")
    axes.set_yticks(range(size), labels)
    axes.grid(visible=False)
    axes.set_title("probability that the row beats the column")

"""Frames of a trial on a line: the function and the belief, and below them the moving optimum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.scenarios.reporting.colours import INK, ORANGE, VERMILION
from gpbandits_env.scenarios.reporting.style import band, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCHES = (7.2, 5.2)
# Rounds whose readings are shown, the older the fainter.
RECENT = 12
STAR: dict[str, Any] = {
    "s": 210,
    "marker": "*",
    "color": ORANGE,
    "edgecolor": INK,
    "linewidth": 0.8,
}
HIT: dict[str, Any] = {"facecolor": "none", "edgecolor": VERMILION, "linewidth": 2.0}


@dataclass(frozen=True)
class Moment:
    """A round: the function at n arms, what was done and observed there, and what was believed.

    Args:
        values: (n,) the function.
        best: the best arm.
        actions: (m,) arms.
        rewards: (m,) noisy.
        belief: mean and standard deviation (n,) before the round's rewards; None without.
    """

    values: Array
    best: int
    actions: IntArray
    rewards: Array
    belief: tuple[Array, Array] | None

    @property
    def regret(self) -> float:
        """Mean regret of the round's actions."""
        return float((self.values[self.best] - self.values[self.actions]).mean())


def frames(
    moments: Sequence[Moment], x: Array, label: str, colour: str
) -> Iterator[NDArray[np.uint8]]:
    """One picture (height, width, 3) per round, all on the same axes.

    Args:
        moments: the rounds.
        x: (n,) where the arms are.
        label: the agent.
        colour: of its belief.
    """
    order = np.argsort(x)
    history = np.stack([moment.values[order] for moment in moments])
    low, high = _range(moments)
    for t in range(1, len(moments) + 1):
        with new_figure(*INCHES) as figure:
            top, bottom = _panels(figure, x, low, high, len(moments))
            _draw_now(top, moments[:t], x, order, label, colour)
            _draw_past(bottom, moments[:t], x, history)
            average = np.mean([moment.regret for moment in moments[:t]])
            figure.text(0.075, 0.955, f"round {t}", fontsize=12, color=INK)
            said = f"average regret {average:.2f}"
            figure.text(0.985, 0.955, said, fontsize=12, color=INK, ha="right")
            yield _pixels(figure)


def _range(moments: Sequence[Moment]) -> tuple[float, float]:
    """The rewards to be seen: all functions and readings, and what is believed of them mostly."""
    shown = [moment.values for moment in moments] + [moment.rewards for moment in moments]
    for moment in moments:
        if moment.belief is not None:
            mean, sd = moment.belief
            shown += [np.quantile(mean - 2 * sd, [0.1]), np.quantile(mean + 2 * sd, [0.9])]
    low, high = min(float(v.min()) for v in shown), max(float(v.max()) for v in shown)
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def _panels(
    figure: "Figure", x: Array, low: float, high: float, rounds: int
) -> "tuple[Axes, Axes]":
    """Empty panels in fixed places, so that nothing shakes from frame to frame."""
    figure.set_layout_engine("none")
    top = figure.add_axes((0.075, 0.42, 0.91, 0.515))
    bottom = figure.add_axes((0.075, 0.095, 0.91, 0.245), sharex=top)
    margin = 0.015 * float(np.ptp(x))
    top.set(xlim=(x.min() - margin, x.max() + margin), ylim=(low, high), ylabel="reward")
    top.tick_params(labelbottom=False)
    bottom.set(ylim=(rounds + 0.5, 0.5), xlabel="action", ylabel="round")
    bottom.grid(visible=False)
    return top, bottom


def _draw_now(
    axes: "Axes", past: Sequence[Moment], x: Array, order: IntArray, label: str, colour: str
) -> None:
    """The function of this round, the belief it was chosen with, and the latest readings."""
    now = past[-1]
    if now.belief is not None:
        mean, sd = (part[order] for part in now.belief)
        band(axes, x[order], mean - 2 * sd, mean + 2 * sd, colour, label="± 2 sd")
        axes.plot(x[order], mean, color=colour, linewidth=2.2, label=f"mean of {label}")
    axes.plot(x[order], now.values[order], color=INK, linewidth=1.8, label="reward function")
    for age, moment in enumerate(reversed(past[-RECENT:])):
        alpha = 0.75 * (1 - age / RECENT)
        axes.scatter(x[moment.actions], moment.rewards, s=18, color=INK, alpha=alpha, linewidth=0)
    axes.scatter(x[now.actions], now.rewards, s=80, zorder=6, label="action", **HIT)
    axes.scatter(x[now.best], now.values[now.best], zorder=7, label="optimum", **STAR)
    handles, names = axes.get_legend_handles_labels()
    looks: dict[str, Any] = {"handletextpad": 0.5, "columnspacing": 1.3, "fontsize": 9}
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (-0.012, -0.01)}
    axes.legend(handles, names, ncols=len(names), **place, **looks)


def _draw_past(axes: "Axes", past: Sequence[Moment], x: Array, history: Array) -> None:
    """All functions so far, a row each, with the actions and the path of the optimum."""
    rounds = np.arange(1, len(past) + 1)
    low, high = float(history.min()), float(history.max())
    # The darkest blues would hide the marks.
    looks: dict[str, Any] = {"cmap": "Blues", "vmin": low, "vmax": high + 0.5 * (high - low)}
    axes.pcolormesh(np.sort(x), rounds, history[: len(past)], shading="nearest", **looks)
    path = x[[moment.best for moment in past]]
    axes.scatter(path, rounds, marker="s", s=14, color=ORANGE, linewidth=0)
    for t, moment in zip(rounds, past, strict=True):
        at = np.full(len(moment.actions), t)
        axes.scatter(x[moment.actions], at, s=8, color=VERMILION, linewidth=0, zorder=3)


def _pixels(figure: "Figure") -> NDArray[np.uint8]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return pixels[:, :, :3].copy()

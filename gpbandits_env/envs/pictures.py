"""Pictures: the function, what was observed, the optimum, and an agent's belief.

Figures are made without pyplot, so there is no global state and no window.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Settings
from gpbandits_env.domains import Domain
from gpbandits_env.envs.maps import (
    DOTS,
    GREEN,
    INK,
    LEGEND,
    ORANGE,
    RING,
    actions_of,
    best_of,
    draw_maps,
    draw_star,
    points_of,
    rewards_of,
    rounds_of,
    tidy,
)
from gpbandits_env.envs.scene import Scene

FIGURE: Settings = {
    "figsize": (8.0, 4.5),
    "dpi": 100,
    "layout": "constrained",
    "facecolor": "white",
}
FINE = 400  # points of a curve in a box


def picture(scene: Scene) -> NDArray[np.uint8]:
    """A scene as pixels (450, 800, 3)."""
    figure = Figure(**FIGURE)
    draw(figure, scene)
    return pixels(figure)


def pixels(figure: Figure) -> NDArray[np.uint8]:
    """A figure as pixels (height, width, 3)."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return pixels[:, :, :3].copy()


def draw(figure: Figure, scene: Scene) -> None:
    """Draw a scene onto an empty figure."""
    domain = scene.bandit.problem.domain
    named = scene.bandit.problem.kernel.on_indices
    if scene.bandit.locations is not None or (domain.dim == 2 and not named):
        draw_maps(figure, scene)
    else:
        ax: Axes = figure.subplots()
        tidy(ax)
        unit = scene.bandit.unit
        ax.set_ylabel(f"reward ({unit})" if unit else "reward")
        if domain.dim == 1 and not named:
            _draw_curve(ax, scene, domain)
        elif domain.finite:
            _draw_bars(ax, scene, domain.size)
        else:
            _draw_episode(ax, scene)
        figure.legend(*ax.get_legend_handles_labels(), ncols=6, **LEGEND)
    figure.suptitle(_caption(scene), fontsize=11, color=INK, x=0.01, ha="left")


def _caption(scene: Scene) -> str:
    if not scene.round:
        return "round 0: no action yet"
    caption = f"round {scene.round:,}   cumulative regret {scene.cumulative:.4g}"
    if scene.bandit.process.moves:  # the best action so far means little here
        return caption
    return f"{caption}   simple regret {scene.simple:.3g}"


def _draw_readings(ax: Axes, scene: Scene, x: Array, last: Array) -> None:
    """Draw every reading at x, circles around those of the last round, and the legend's star."""
    ax.scatter(x, rewards_of(scene), s=16, **DOTS)
    ax.scatter(last, scene.seen[-1].rewards, s=52, label="last round", **RING)


def _draw_curve(ax: Axes, scene: Scene, domain: Domain) -> None:
    """Draw a one-dimensional function, the readings, the optimum and the belief."""
    function = scene.function
    if domain.finite:
        order = np.argsort(domain.span[:, 0])
        x, f, belief = domain.span[order, 0], function(order), scene.belief()
    else:
        order = np.arange(FINE)
        low, high = domain.span[:, 0]
        x = np.linspace(low, high, FINE)
        f, belief = function(x[:, None]), scene.belief(x[:, None])
    if belief is not None:
        mean, sd = belief[0][order], belief[1][order]
        band: Settings = {"color": GREEN, "alpha": 0.18, "lw": 0, "label": "agent's ± 2 sd"}
        ax.fill_between(x, mean - 2 * sd, mean + 2 * sd, **band)
        ax.plot(x, mean, color=GREEN, lw=1.8, ls="--", label="agent's mean", zorder=5)
    ax.plot(x, f, color=INK, lw=1.6, label="function", zorder=3)
    if scene.seen:
        last = points_of(scene, scene.seen[-1].actions)[:, 0]
        _draw_readings(ax, scene, points_of(scene, actions_of(scene))[:, 0], last)
    draw_star(ax, points_of(scene, best_of(scene))[:, 0], [function.optimum])
    ax.margins(x=0.01)
    ax.set_xlabel("x")


def _draw_bars(ax: Axes, scene: Scene, size: int) -> None:
    """Draw the value of each arm as a bar, for arms that have no coordinates to show."""
    function, belief = scene.function, scene.belief()
    arms = np.arange(size)
    values = function(arms)
    lowest = [values, rewards_of(scene)] if scene.seen else [values]
    if belief is not None:
        lowest.append(belief[0] - 2 * belief[1])
    bottom = min(float(low.min(initial=np.inf)) for low in lowest)
    floor = bottom - 0.08 * (function.optimum - bottom) - 1e-9
    ax.bar(arms, values - floor, bottom=floor, width=0.85, color="#C9D8E6", label="function")
    if belief is not None:
        style: Settings = {"fmt": "_", "color": GREEN, "lw": 1, "ms": 5}
        ax.errorbar(arms, belief[0], 2 * belief[1], label="agent's mean ± 2 sd", **style)
    if scene.seen:
        _draw_readings(ax, scene, actions_of(scene), scene.seen[-1].actions)
    draw_star(ax, best_of(scene), [function.optimum])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(-0.8, size - 0.2)
    ax.set_ylim(bottom=floor)
    ax.set_xlabel("arm")


def _draw_episode(ax: Axes, scene: Scene) -> None:
    """Draw the rewards round by round, for a box of more than two dimensions."""
    ax.axhline(scene.function.optimum, color=ORANGE, lw=1.8, label="optimum")
    if scene.seen:
        rounds = rounds_of(scene)
        ax.scatter(rounds, rewards_of(scene), s=14, **DOTS)
        if not scene.bandit.process.moves:  # otherwise it is known of other functions only
            regret = np.concatenate([seen.regret for seen in scene.seen])
            best = scene.function.optimum - np.minimum.accumulate(regret)
            looks: Settings = {"color": INK, "lw": 1.6, "drawstyle": "steps-post"}
            ax.plot(rounds, best, label="best value so far", **looks)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("round")

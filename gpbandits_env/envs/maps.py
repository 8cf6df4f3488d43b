"""Pictures of two-dimensional domains and of sensors, and the marks that all pictures share.

A map shows the function, with the belief of an agent beside it. The colors are those of Okabe and
Ito (2008) and the maps viridis and cividis, which color-blind readers can tell apart.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, Points, Settings
from gpbandits_env.domains import Arms
from gpbandits_env.envs.scene import Scene

BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
INK, GREY = "#222222", "#8A8A8A"
LEGEND: Settings = {
    "loc": "outside lower left",
    "fontsize": 9,
    "frameon": False,
    "handletextpad": 0.4,
    "columnspacing": 1.4,
}
DOTS: Settings = {"color": BLUE, "alpha": 0.55, "lw": 0, "label": "readings", "zorder": 4}
RING: Settings = {"facecolor": "none", "edgecolor": VERMILION, "lw": 1.8, "zorder": 6}
STAR: Settings = {"s": 190, "marker": "*", "color": ORANGE, "edgecolor": INK, "lw": 0.8}
COARSE = 64  # points per axis of an image of a box
WIDE = 1.25  # from this ratio of width to height on, one map is large and two are next to it
MARGIN = 0.05  # share of the axes around the points, so that the star stays inside
# If the sides of a box differ by a larger factor, their units differ too: panels are square then.
COMPARABLE = 4.0
STEPS = [1, 2, 2.5, 5, 10]


def points_of(scene: Scene, actions: Points) -> Array:
    """The positions at which actions are drawn: on the map if there is one."""
    if scene.bandit.locations is not None:
        return scene.bandit.locations[actions]
    return scene.bandit.problem.domain.points(actions)


def best_of(scene: Scene) -> Points:
    """The best action, as a batch of one."""
    return np.asarray(scene.function.best_action)[None]


def actions_of(scene: Scene) -> Points:
    """All actions that are shown."""
    return np.concatenate([seen.actions for seen in scene.seen])


def rewards_of(scene: Scene) -> Array:
    """All rewards that are shown."""
    return np.concatenate([seen.rewards for seen in scene.seen])


def rounds_of(scene: Scene) -> IntArray:
    """The round of each reward that is shown."""
    shown = np.arange(scene.round - len(scene.seen), scene.round) + 1
    return np.repeat(shown, [len(seen.rewards) for seen in scene.seen])


def draw_star(axes: Axes, x: ArrayLike, y: ArrayLike) -> None:
    """Draw the star that marks the optimum."""
    axes.scatter(x, y, label="optimum", zorder=7, clip_on=False, **STAR)


def tidy(axes: Axes) -> None:
    """Style a panel that is not a map."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#E6E6E6", lw=0.8)
    axes.set_axisbelow(True)


@dataclass(frozen=True)
class Ground:
    """Where values are drawn: points (n, 2), and the axes of a grid if they form one."""

    points: Array
    grid: tuple[Array, ...] | None
    names: tuple[str, str]

    @property
    def ratio(self) -> float | None:
        """Height over width; None if the two axes cannot be compared."""
        width, height = np.ptp(self.points, axis=0)
        if not (width > 0 and height > 0):
            return None
        ratio = float(height / width)
        return ratio if 1 / COMPARABLE <= ratio <= COMPARABLE else None

    @property
    def wide(self) -> bool:
        """Whether one large map and two small ones fill the canvas best."""
        return self.ratio is not None and self.ratio < 1 / WIDE


def draw_maps(figure: Figure, scene: Scene) -> None:
    """Draw the function, and beside it an agent's belief or, without an agent, the regret."""
    ground, values = _ground(scene)
    panels = [("function", values)]
    on_arms = scene.bandit.problem.domain.finite
    belief = scene.belief(None if on_arms else ground.points)
    if belief is not None:
        panels += [("agent's mean", belief[0]), ("agent's sd", belief[1])]
    places = _places(figure, len(panels), ground)
    low, high = float(values.min()), float(values.max())
    for i, (axes, (title, shown)) in enumerate(zip(places, panels, strict=False)):
        colours: Settings = {"cmap": "viridis", "vmin": low, "vmax": high}
        if title.endswith("sd"):
            colours = {"cmap": "cividis", "vmin": 0.0, "vmax": max(float(shown.max()), 1e-12)}
        drawn = _draw_values(axes, ground, shown, colours)
        _draw_bar(figure, axes, drawn, below=len(panels) > 1 and not ground.wide)
        unit = f" in {scene.bandit.unit}" if scene.bandit.unit else ""
        axes.set_title(f"{title}{unit}", fontsize=10, color=INK, loc="left")
        _draw_marks(axes, scene)
        if i == 0 or not ground.wide:
            axes.set_xlabel(ground.names[0], fontsize=9)
        if i == 0:
            axes.set_ylabel(ground.names[1], fontsize=9)
    if len(panels) == 1:
        _draw_regret(places[1], scene)
    figure.legend(*places[0].get_legend_handles_labels(), ncols=3, **LEGEND)


def _ground(scene: Scene) -> tuple[Ground, Array]:
    """The points at which the function is drawn, and its values there."""
    domain, mapped = scene.bandit.problem.domain, scene.bandit.locations is not None
    if isinstance(domain, Arms):
        actions = np.arange(domain.size)
        names = ("east", "north") if mapped else ("$x_1$", "$x_2$")
        grid = None if mapped else domain.axes
        if grid is not None and min(len(axis) for axis in grid) == 1:
            grid = None
        return Ground(points_of(scene, actions), grid, names), scene.function(actions)
    axes = tuple(np.linspace(low, high, COARSE) for low, high in domain.span.T)
    points = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    return Ground(points, axes, ("$x_1$", "$x_2$")), scene.function(points)


def _places(figure: Figure, maps: int, ground: Ground) -> list[Axes]:
    """Panels that fill the canvas: a map and a curve, or three maps."""
    if maps == 1:
        shares = [min(1.0, max(0.5, 0.55 / (ground.ratio or 1.0))), 0.6]
        left, right = figure.subplots(1, 2, width_ratios=shares)
        places, curves = [left], [right]
    elif ground.wide:
        grid = figure.add_gridspec(2, 2, width_ratios=[2.1, 1.0])
        spots = [grid[:, 0], grid[0, 1], grid[1, 1]]
        places, curves = [figure.add_subplot(spot) for spot in spots], []
    else:
        places, curves = list(figure.subplots(1, 3, sharex=True, sharey=True)), []
    for axes in places:
        if ground.ratio is None:
            axes.set_box_aspect(1.0)
        else:
            axes.set_aspect("equal")
        axes.spines[:].set_visible(False)
        axes.tick_params(labelsize=8, color=GREY)
        axes.use_sticky_edges = False
        ticks = 5 if axes is places[0] else 3
        axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=STEPS))
        axes.yaxis.set_major_locator(MaxNLocator(ticks, steps=STEPS))
    return places + curves


def _draw_values(axes: Axes, ground: Ground, values: Array, colours: Settings) -> Collection:
    """Values as an image of a grid or as dots, with a margin around them."""
    drawn: Collection
    if ground.grid is not None:
        image = values.reshape([len(axis) for axis in ground.grid]).T
        drawn = axes.pcolormesh(*ground.grid, image, shading="nearest", **colours)
    else:
        size = float(np.clip(6000 / len(values), 12, 100))
        looks: Settings = {"s": size, "edgecolor": GREY, "lw": 0.3, **colours}
        east, north = ground.points.T
        drawn = axes.scatter(east, north, c=values, **looks)
    axes.margins(MARGIN)
    return drawn


def _draw_bar(figure: Figure, axes: Axes, drawn: Collection, below: bool) -> None:
    """The colour bar of a map, below it or to its right at the same height."""
    if below:
        bar = figure.colorbar(drawn, ax=axes, location="bottom", fraction=0.05, pad=0.02, aspect=25)
    else:
        bar = figure.colorbar(drawn, cax=axes.inset_axes((1.02, 0.0, 0.03, 1.0)))
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)


def _draw_marks(axes: Axes, scene: Scene) -> None:
    """Mark the actions, those of the last round, and the optimum."""
    if scene.seen:
        before, last = (points_of(scene, a) for a in (actions_of(scene), scene.seen[-1].actions))
        looks: Settings = {"s": 9, "color": "white", "edgecolor": INK, "lw": 0.4}
        axes.scatter(before[:, 0], before[:, 1], label="actions so far", **looks)
        for label, ring in (("", {**RING, "edgecolor": "white", "lw": 3.2}), ("last round", RING)):
            axes.scatter(last[:, 0], last[:, 1], s=70, label=label, **ring)
    draw_star(axes, *points_of(scene, best_of(scene)).T)


def _draw_regret(axes: Axes, scene: Scene) -> None:
    """Plot the regret of each action against the best of its round."""
    tidy(axes)
    if scene.seen:
        regret = np.concatenate([seen.regret for seen in scene.seen])
        axes.scatter(rounds_of(scene), regret, s=16, color=BLUE, alpha=0.55, lw=0)
    axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title("regret of each action", fontsize=10, color=INK, loc="left")
    axes.set_xlabel("round", fontsize=9)
    axes.tick_params(labelsize=8)

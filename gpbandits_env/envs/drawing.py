"""Drawing: the function, what was observed of it, the optimum, and what an agent believes of it.

`draw` draws a scene of an environment: a curve on a line or on numbered arms, maps on a plane, and
otherwise the regret of each action. The parts that show no more than plain arrays, `draw_belief`
and `draw_star`, serve illustrations too. Figures are made without pyplot, so there is no global
state and no window. The colors are those of Okabe and Ito (2008) and the maps viridis and cividis,
which color-blind readers can tell apart.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array, Points, Settings
from gpbandits_env.domains import Arms, mesh
from gpbandits_env.envs.scene import Scene, in_context
from gpbandits_env.rewards.functions import ReplayProcess

BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
INK, GREY = "#222222", "#8A8A8A"
# In so few inches the smallest words have 8 pixels on a phone, which shows 800 pixels as 390.
FIGURE: Settings = {
    "figsize": (16 / 3, 3.0),
    "dpi": 150,
    "layout": "constrained",
    "facecolor": "white",
}
LEGEND: Settings = {
    "loc": "outside lower left",
    "fontsize": 9,
    "frameon": False,
    "handletextpad": 0.4,
    "columnspacing": 1.4,
}
DOTS: Settings = {"s": 16, "color": BLUE, "alpha": 0.55, "lw": 0, "zorder": 4}
FADED = 0.15  # the alpha of readings in another context than the one shown
RING: Settings = {"facecolor": "none", "edgecolor": VERMILION, "lw": 1.8, "zorder": 6}
STAR: Settings = {"s": 190, "marker": "*", "color": ORANGE, "edgecolor": INK, "lw": 0.8}
FINE, COARSE = 400, 64  # points of a curve in a box, and per axis of an image of a box
WIDE = 1.25  # from this ratio of width to height on, one map is large and two are next to it
MARGIN = 0.05  # share of the axes around the points, so that the star stays inside
# If the sides of a box differ by a larger factor, their units differ too: panels are square then.
COMPARABLE = 4.0
STEPS = [1, 2, 2.5, 5, 10]


def picture(scene: Scene) -> NDArray[np.uint8]:
    """A scene as pixels (450, 800, 3)."""
    figure = Figure(**FIGURE)
    canvas = FigureCanvasAgg(figure)
    draw(figure, scene)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return pixels[:, :, :3].copy()


def draw(figure: Figure, scene: Scene) -> None:
    """Draw a scene onto an empty figure."""
    domain = scene.bandit.problem.domain
    recorded = isinstance(scene.bandit.process, ReplayProcess)  # whose kernel may have contexts too
    named = recorded or scene.bandit.problem.kernel.on_indices
    if scene.bandit.locations is not None or (domain.dim == 2 and not named):
        _draw_maps(figure, scene)
    elif domain.finite or domain.dim == 1:
        _draw_curve(figure, scene, numbered=named or domain.dim > 1)
    else:
        _draw_regret(figure.subplots(), scene)
    caption = f"round {scene.round:,}{in_context(scene)}   cumulative regret {scene.cumulative:.4g}"
    if not scene.round:
        caption = "round 0: no action yet"
    elif not scene.bandit.process.moves:  # otherwise the best action so far means little
        caption += f"   simple regret {scene.simple:.3g}"
    figure.suptitle(caption, fontsize=10, color=INK, x=0.01, ha="left", wrap=True)


def draw_belief(axes: Axes, x: Array, mean: Array, sd: Array, *, steps: bool = False) -> None:
    """Draw an agent's mean and standard deviation (n,) at sorted positions x (n,)."""
    band: Settings = {"color": GREEN, "alpha": 0.18, "lw": 0, "label": "agent's ± 2 sd"}
    axes.fill_between(x, mean - 2 * sd, mean + 2 * sd, step="mid" if steps else None, **band)
    line: Settings = {"color": GREEN, "lw": 1.8, "ls": "--", "label": "agent's mean", "zorder": 5}
    axes.plot(x, mean, drawstyle="steps-mid" if steps else "default", **line)


def draw_star(axes: Axes, x: ArrayLike, y: ArrayLike) -> None:
    """Draw the star that marks the optimum."""
    axes.scatter(x, y, label="optimum", zorder=7, clip_on=False, **STAR)


def _draw_curve(figure: Figure, scene: Scene, numbered: bool) -> None:
    """Draw the function, the belief, the readings and the optimum on a line of points or arms."""
    axes, problem, function = figure.subplots(), scene.bandit.problem, scene.function
    domain = problem.domain
    _tidy(axes)
    place = np.asarray if numbered else lambda actions: domain.points(actions)[:, 0]
    actions: Points = np.arange(domain.size)
    if not domain.finite:
        actions = np.linspace(domain.span[0], domain.span[-1], FINE)
    order = np.argsort(place(actions), kind="stable")
    actions = actions[order]
    x, belief = place(actions), scene.belief(None if domain.finite else actions)
    if belief is not None:
        draw_belief(axes, x, belief[0][order], belief[1][order], steps=numbered)
    style = "steps-mid" if numbered else "default"
    axes.plot(x, function(actions), color=INK, lw=1.6, ls="-", drawstyle=style, label="function")
    if scene.history:
        _draw_readings(axes, place(scene.all("actions")), scene)
        last = scene.history[-1]
        axes.scatter(place(last.actions), last.rewards, s=52, label="last round", **RING)
    draw_star(axes, place(scene.best), [function.optimum])
    axes.margins(x=0.01)
    # The axis of what drifts is the same in all rounds, unless values are extreme.
    if scene.bandit.process.moves and problem.contexts is None:
        reach = 3.0 * np.sqrt(problem.kernel.diagonal(domain.points(actions)).max())
        mean, (low, high) = problem.prior_mean, axes.get_ylim()
        axes.set_ylim(min(low, np.min(mean) - reach), max(high, np.max(mean) + reach))
    unit = f" ({scene.bandit.unit})" if scene.bandit.unit else ""
    axes.set(xlabel="arm" if numbered else "x", ylabel=f"reward{unit}")
    figure.legend(*axes.get_legend_handles_labels(), ncols=4, **LEGEND)


def _draw_readings(axes: Axes, x: Array, scene: Scene) -> None:
    """Draw the readings as dots; those of another context are fainter."""
    other = scene.elsewhere
    axes.scatter(x[~other], scene.all("rewards")[~other], label="readings", **DOTS)
    if other.any():
        faded = {**DOTS, "alpha": FADED, "label": "in other contexts"}
        axes.scatter(x[other], scene.all("rewards")[other], **faded)


def _draw_regret(axes: Axes, scene: Scene) -> None:
    """Draw the regret of each action against the best of its round."""
    _tidy(axes)
    if scene.history:
        axes.scatter(scene.rounds, scene.all("regret"), **DOTS)
    axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_title("regret of each action", fontsize=10, color=INK, loc="left")
    axes.set_xlabel("round", fontsize=9)
    axes.tick_params(labelsize=8)


def _tidy(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#E6E6E6", lw=0.8)
    axes.set_axisbelow(True)


# -- Maps -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MapArea:
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


def _draw_maps(figure: Figure, scene: Scene) -> None:
    """Draw the function, and beside it an agent's belief or, without an agent, the regret."""
    area, values = _area(scene)
    panels = {"function": values}
    belief = scene.belief(None if scene.bandit.problem.domain.finite else area.points)
    if belief is not None:
        panels |= {"agent's mean": belief[0], "agent's sd": belief[1]}
    places = _places(figure, len(panels), area)
    low, high = float(values.min()), float(values.max())
    unit = f" in {scene.bandit.unit}" if scene.bandit.unit else ""
    for i, (axes, (title, panel)) in enumerate(zip(places, panels.items(), strict=False)):
        colours: Settings = {"cmap": "viridis", "vmin": low, "vmax": high}
        if title.endswith("sd"):
            colours = {"cmap": "cividis", "vmin": 0.0, "vmax": max(float(panel.max()), 1e-12)}
        artist = _draw_values(axes, area, panel, colours)
        _draw_bar(figure, axes, artist, below=len(panels) > 1 and not area.wide)
        axes.set_title(f"{title}{unit}", fontsize=9, color=INK, loc="left")
        _draw_marks(axes, scene)
        if i == 0 or not area.wide:
            axes.set_xlabel(area.names[0], fontsize=9)
    places[0].set_ylabel(area.names[1], fontsize=9)
    if len(panels) == 1:
        _draw_regret(places[1], scene)
    figure.legend(*places[0].get_legend_handles_labels(), ncols=3, **LEGEND)


def _area(scene: Scene) -> tuple[MapArea, Array]:
    """The points at which the function is drawn, and its values there."""
    domain, mapped = scene.bandit.problem.domain, scene.bandit.locations is not None
    if isinstance(domain, Arms):
        grid = None if mapped else domain.axes
        grid = grid if grid and min(map(len, grid)) > 1 else None
        actions: Points = np.arange(domain.size)
    else:
        grid = tuple(np.linspace(low, high, COARSE) for low, high in domain.span.T)
        actions = mesh(grid)
    names = ("east", "north") if mapped else ("$x_1$", "$x_2$")
    return MapArea(scene.at(actions), grid, names), scene.function(actions)


def _places(figure: Figure, maps: int, area: MapArea) -> list[Axes]:
    """Panels that fill the canvas: a map and a curve, or three maps."""
    shares = [min(1.0, max(0.5, 0.55 / (area.ratio or 1.0))), 0.6]
    layout = "AB"
    if maps > 1:
        layout, shares = ("AB;AC", [2.1, 1.0]) if area.wide else ("ABC", [1.0, 1.0, 1.0])
    places = list(figure.subplot_mosaic(layout, width_ratios=shares).values())
    for i, axes in enumerate(places[:maps]):
        if area.ratio is None:
            axes.set_box_aspect(1.0)
        else:
            axes.set_aspect("equal")
        axes.spines[:].set_visible(False)
        labelled = i == 0 or area.wide
        axes.tick_params(labelsize=8, color=GREY, labelleft=labelled)
        axes.use_sticky_edges = False
        many = i == 0 and (area.ratio or 1.0) < WIDE
        axes.xaxis.set_major_locator(MaxNLocator(5 if many else 3, steps=STEPS))
        axes.yaxis.set_major_locator(MaxNLocator(5 if i == 0 else 3, steps=STEPS))
    return places


def _draw_values(axes: Axes, area: MapArea, values: Array, colours: Settings) -> Collection:
    """Draw values as an image of a grid or as dots, with a margin around them."""
    artist: Collection
    if area.grid is not None:
        image = values.reshape([len(axis) for axis in area.grid]).T
        artist = axes.pcolormesh(*area.grid, image, shading="nearest", **colours)
    else:
        size = float(np.clip(6000 / len(values), 12, 100))
        looks: Settings = {"s": size, "edgecolor": GREY, "lw": 0.3, **colours}
        east, north = area.points.T
        artist = axes.scatter(east, north, c=values, **looks)
    axes.margins(MARGIN)
    return artist


def _draw_bar(figure: Figure, axes: Axes, artist: Collection, below: bool) -> None:
    """Draw the colour bar of a map, below it or to its right at the same height."""
    if below:
        bar = figure.colorbar(
            artist, ax=axes, location="bottom", fraction=0.05, pad=0.02, aspect=25
        )
    else:
        bar = figure.colorbar(artist, cax=axes.inset_axes((1.02, 0.0, 0.03, 1.0)))
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)


def _draw_marks(axes: Axes, scene: Scene) -> None:
    """Mark the actions, those of the last round, and the optimum."""
    if scene.history:
        before, last = scene.at(scene.all("actions")), scene.at(scene.history[-1].actions)
        looks: Settings = {"s": 9, "color": "white", "edgecolor": INK, "lw": 0.4}
        axes.scatter(before[:, 0], before[:, 1], label="actions so far", **looks)
        for label, ring in (("", {**RING, "edgecolor": "white", "lw": 3.2}), ("last round", RING)):
            axes.scatter(last[:, 0], last[:, 1], s=70, label=label, **ring)
    draw_star(axes, *scene.at(scene.best).T)

"""Pictures of a world: the function, what was played, the optimum, and an agent's belief.

Colours are those of Okabe and Ito (2008) and the maps viridis and cividis, which colour-blind
readers can tell apart. Figures are made without pyplot: no global state, no window.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms, Box
from gpbandits_env.envs.rendering import Batch, Scene
from gpbandits_env.envs.world import World

BLUE, VERMILION, ORANGE, GREEN, INK, GREY = (
    "#0072B2",
    "#D55E00",
    "#E69F00",
    "#009E73",
    "#222222",
    "#8A8A8A",
)
LEGEND: dict[str, Any] = {
    "fontsize": 9,
    "frameon": False,
    "handletextpad": 0.4,
    "columnspacing": 1.4,
}
FINE = 400  # points of a curve in a box
COARSE = 64  # points per axis of an image of a box

Belief: TypeAlias = tuple[Array, Array] | None


@dataclass(frozen=True)
class View:
    """All that a picture shows."""

    world: World
    scene: Scene
    batches: Sequence[Batch]
    belief: Belief

    @property
    def actions(self) -> NDArray[Any]:
        """Every action so far."""
        return np.concatenate([b.actions for b in self.batches])

    @property
    def rewards(self) -> Array:
        """Every noisy reward so far."""
        return np.concatenate([b.rewards for b in self.batches])

    @property
    def unit(self) -> str:
        """The label of a reward axis."""
        return f"reward ({self.world.unit})" if self.world.unit else "reward"

    def points(self, actions: NDArray[Any]) -> Array:
        """Where actions are drawn: on the map if there is one."""
        if self.world.locations is not None:
            points: Array = self.world.locations[actions]
            return points
        return self.world.problem.domain.points(actions)

    @property
    def best(self) -> NDArray[Any]:
        """The best action, as a batch of one."""
        return np.asarray(self.scene.function.best_action)[None]


def picture(
    world: World, scene: Scene, batches: Sequence[Batch], belief: Belief
) -> NDArray[np.uint8]:
    """The picture of a world as pixels (450, 800, 3).

    Args:
        world: what is played.
        scene: its state.
        batches: the rounds so far.
        belief: an agent's mean and standard deviation at the arms, (n,) each, if one is attached.
    """
    figure = Figure(figsize=(8.0, 4.5), dpi=100, layout="constrained", facecolor="white")
    canvas = FigureCanvasAgg(figure)
    view = View(world, scene, batches, belief)
    _painter(view)(figure, view)
    figure.suptitle(_caption(scene), fontsize=11, color=INK, x=0.01, ha="left")
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return pixels[:, :, :3].copy()


def _painter(view: View) -> Callable[[Figure, View], None]:
    domain = view.world.problem.domain
    named = view.world.problem.kernel.on_indices
    if view.world.locations is not None or (domain.dim == 2 and not named):
        return _maps
    if domain.dim == 1 and not named:
        return _curve
    return _bars if isinstance(domain, Arms) else _course


def _caption(scene: Scene) -> str:
    if not scene.round:
        return "round 0: nothing played yet"
    return (
        f"round {scene.round:,}   cumulative regret {scene.cumulative:.4g}"
        f"   simple regret {scene.simple:.3g}"
    )


def _curve(figure: Figure, view: View) -> None:
    """One dimension: function, readings, optimum, belief."""
    ax = _axes(figure, view)
    domain, function = view.world.problem.domain, view.scene.function
    if isinstance(domain, Arms):
        order = np.argsort(domain.coordinates[:, 0])
        x, f = domain.coordinates[order, 0], function(order)
        _band(ax, x, view.belief, order)
    else:
        assert isinstance(domain, Box)
        x = np.linspace(domain.low[0], domain.high[0], FINE)
        f = function(x[:, None])
    ax.plot(x, f, color=INK, lw=1.6, label="function", zorder=3)
    if view.batches:
        ax.scatter(
            view.points(view.actions)[:, 0],
            view.rewards,
            s=16,
            color=BLUE,
            alpha=0.55,
            lw=0,
            label="readings",
            zorder=4,
        )
        last = view.batches[-1]
        ax.scatter(
            view.points(last.actions)[:, 0],
            last.rewards,
            s=52,
            facecolor="none",
            edgecolor=VERMILION,
            lw=1.8,
            label="last round",
            zorder=6,
        )
    _star(ax, view.points(view.best)[:, 0], [function.optimum])
    ax.margins(x=0.01)
    ax.set_xlabel("x")
    ax.set_ylabel(view.unit)
    _legend(ax)


def _maps(figure: Figure, view: View) -> None:
    """Two dimensions: the function from above, and beside it the agent's mean."""
    function, domain = view.scene.function, view.world.problem.domain
    if isinstance(domain, Arms):
        truth = function(np.arange(domain.size))
        panels = [("function", truth)]
        if view.belief is not None:
            panels += [("agent's mean", view.belief[0]), ("its standard deviation", view.belief[1])]
        points = view.points(np.arange(domain.size))
        grid = domain.axes if view.world.locations is None else None
    else:
        assert isinstance(domain, Box)
        grid = tuple(
            np.linspace(a, b, COARSE) for a, b in zip(domain.low, domain.high, strict=True)
        )
        points = np.stack([g.ravel() for g in np.meshgrid(*grid, indexing="ij")], axis=1)
        panels = [("function", function(points))]
    axes = figure.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True)[0]
    low, high = float(panels[0][1].min()), float(panels[0][1].max())
    for i, (ax, (title, values)) in enumerate(zip(axes, panels, strict=True)):
        spread = title.endswith("deviation")
        limits = (0.0, max(float(values.max()), 1e-12)) if spread else (low, high)
        _image(figure, ax, view, points, grid, values, limits, "cividis" if spread else "viridis")
        ax.set_title(title, fontsize=10, color=INK)
        _marks(ax, view)
        ax.tick_params(labelsize=8)
        if view.world.locations is None:
            ax.set_xlabel("$x_1$")
            ax.set_ylabel("$x_2$" if i == 0 else "")
        elif np.ptp(points, axis=0).min() > 0:
            ax.set_aspect("equal", adjustable="box")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=3, **LEGEND)


def _image(
    figure: Figure,
    ax: Axes,
    view: View,
    points: Array,
    grid: tuple[Array, ...] | None,
    values: Array,
    limits: tuple[float, float],
    colours: str,
) -> None:
    low, high = limits
    if grid is not None and min(len(axis) for axis in grid) > 1:
        image = values.reshape([len(axis) for axis in grid]).T
        shown: Any = ax.pcolormesh(*grid, image, cmap=colours, vmin=low, vmax=high, rasterized=True)
    else:
        size = float(np.clip(6000 / len(points), 6, 100))
        shown = ax.scatter(
            points[:, 0],
            points[:, 1],
            c=values,
            s=size,
            cmap=colours,
            vmin=low,
            vmax=high,
            edgecolor=GREY,
            lw=0.3,
        )
    bar = figure.colorbar(shown, ax=ax, fraction=0.05, pad=0.02)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)
    if view.world.unit:
        bar.set_label(view.world.unit, fontsize=8.5)


def _marks(ax: Axes, view: View) -> None:
    if view.batches:
        before = view.points(view.actions)
        ax.scatter(
            before[:, 0], before[:, 1], s=9, color="white", edgecolor=INK, lw=0.4, label="played"
        )
        last = view.points(view.batches[-1].actions)
        ax.scatter(last[:, 0], last[:, 1], s=70, facecolor="none", edgecolor="white", lw=3.2)
        ax.scatter(
            last[:, 0],
            last[:, 1],
            s=70,
            facecolor="none",
            edgecolor=VERMILION,
            lw=1.8,
            label="last round",
        )
    _star(ax, *view.points(view.best).T)


def _bars(figure: Figure, view: View) -> None:
    """No picture of its own: the value of each arm as a bar."""
    ax = _axes(figure, view)
    domain, function = view.world.problem.domain, view.scene.function
    assert isinstance(domain, Arms)
    arms = np.arange(domain.size)
    values = function(arms)
    lowest = [values, view.rewards] if view.batches else [values]
    if view.belief is not None:
        lowest.append(view.belief[0] - 2 * view.belief[1])
    bottom = min(float(low.min()) for low in lowest)
    floor = bottom - 0.08 * (function.optimum - bottom) - 1e-9
    ax.bar(arms, values - floor, bottom=floor, width=0.85, color="#C9D8E6", label="function")
    if view.belief is not None:
        mean, sd = view.belief
        ax.errorbar(
            arms, mean, 2 * sd, fmt="_", color=GREEN, lw=1, ms=5, label="agent's mean ± 2 sd"
        )
    if view.batches:
        ax.scatter(view.actions, view.rewards, s=16, color=BLUE, alpha=0.55, lw=0, label="readings")
        last = view.batches[-1]
        ax.scatter(
            last.actions,
            last.rewards,
            s=52,
            facecolor="none",
            edgecolor=VERMILION,
            lw=1.8,
            label="last round",
            zorder=6,
        )
    _star(ax, [function.best_action], [function.optimum])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(-0.8, domain.size - 0.2)
    ax.set_ylim(bottom=floor)
    ax.set_xlabel("arm")
    ax.set_ylabel(view.unit)
    _legend(ax)


def _course(figure: Figure, view: View) -> None:
    """A box of more than two dimensions: the course of the episode."""
    ax = _axes(figure, view)
    ax.axhline(view.scene.function.optimum, color=ORANGE, lw=1.8, label="optimum")
    if view.batches:
        m = len(view.batches[0].rewards)
        rounds = np.repeat(np.arange(1, len(view.batches) + 1), m)
        regret = np.concatenate([b.regret for b in view.batches])
        best = view.scene.function.optimum - np.minimum.accumulate(regret)
        ax.scatter(rounds, view.rewards, s=14, color=BLUE, alpha=0.5, lw=0, label="readings")
        ax.plot(rounds, best, color=INK, lw=1.6, drawstyle="steps-post", label="best value so far")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("round")
    ax.set_ylabel(view.unit)
    _legend(ax)


def _axes(figure: Figure, view: View) -> Axes:
    ax: Axes = figure.subplots()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E6E6E6", lw=0.8)
    ax.set_axisbelow(True)
    return ax


def _band(ax: Axes, x: Array, belief: Belief, order: NDArray[np.int64]) -> None:
    if belief is None:
        return
    mean, sd = belief[0][order], belief[1][order]
    ax.fill_between(
        x, mean - 2 * sd, mean + 2 * sd, color=GREEN, alpha=0.18, lw=0, label="agent's ± 2 sd"
    )
    ax.plot(x, mean, color=GREEN, lw=1.8, ls="--", label="agent's mean", zorder=5)


def _star(ax: Axes, x: Any, y: Any) -> None:
    ax.scatter(
        x,
        y,
        s=190,
        marker="*",
        color=ORANGE,
        edgecolor=INK,
        lw=0.8,
        label="optimum",
        zorder=7,
        clip_on=False,
    )


def _legend(ax: Axes) -> None:
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside lower left", ncols=6, **LEGEND)

"""Pictures: the function, what was observed, the optimum, and an agent's belief.

Colours are those of Okabe and Ito (2008) and the maps viridis and cividis, which colour-blind
readers can tell apart. Figures are made without pyplot: no global state, no window.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms, Box
from gpbandits_env.envs.scene import Scene

BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
INK, GREY = "#222222", "#8A8A8A"
LEGEND: dict[str, Any] = {
    "loc": "outside lower left",
    "fontsize": 9,
    "frameon": False,
    "handletextpad": 0.4,
    "columnspacing": 1.4,
}
DOTS: dict[str, Any] = {"color": BLUE, "alpha": 0.55, "lw": 0, "label": "readings", "zorder": 4}
RING: dict[str, Any] = {"facecolor": "none", "edgecolor": VERMILION, "lw": 1.8, "zorder": 6}
STAR: dict[str, Any] = {"s": 190, "marker": "*", "color": ORANGE, "edgecolor": INK, "lw": 0.8}
FINE = 400  # points of a curve in a box
COARSE = 64  # points per axis of an image of a box


def picture(scene: Scene) -> NDArray[np.uint8]:
    """A scene as pixels (450, 800, 3)."""
    figure = Figure(figsize=(8.0, 4.5), dpi=100, layout="constrained", facecolor="white")
    canvas = FigureCanvasAgg(figure)
    domain = scene.bandit.problem.domain
    named = scene.bandit.problem.kernel.on_indices
    if scene.bandit.locations is not None or (domain.dim == 2 and not named):
        _draw_maps(figure, scene)
    else:
        ax: Axes = figure.subplots()
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#E6E6E6", lw=0.8)
        ax.set_axisbelow(True)
        unit = scene.bandit.unit
        ax.set_ylabel(f"reward ({unit})" if unit else "reward")
        if domain.dim == 1 and not named:
            _draw_curve(ax, scene, domain)
        elif isinstance(domain, Arms):
            _draw_bars(ax, scene, domain)
        else:
            _draw_episode(ax, scene)
        figure.legend(*ax.get_legend_handles_labels(), ncols=6, **LEGEND)
    figure.suptitle(_caption(scene), fontsize=11, color=INK, x=0.01, ha="left")
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return pixels[:, :, :3].copy()


def _caption(scene: Scene) -> str:
    if not scene.round:
        return "round 0: no action yet"
    return (
        f"round {scene.round:,}   cumulative regret {scene.cumulative:.4g}"
        f"   simple regret {scene.simple:.3g}"
    )


def _points(scene: Scene, actions: NDArray[Any]) -> Array:
    """Where actions are drawn: on the map if there is one."""
    if scene.bandit.locations is not None:
        return scene.bandit.locations[actions]
    return scene.bandit.problem.domain.points(actions)


def _best(scene: Scene) -> NDArray[Any]:
    """The best action, as a batch of one."""
    return np.asarray(scene.function.best_action)[None]


def _actions(scene: Scene) -> NDArray[Any]:
    return np.concatenate([seen.actions for seen in scene.seen])


def _rewards(scene: Scene) -> Array:
    return np.concatenate([seen.rewards for seen in scene.seen])


def _draw_readings(ax: Axes, scene: Scene, x: Array, last: Array) -> None:
    """Every reading at x, those of the last round encircled, and the legend's star."""
    ax.scatter(x, _rewards(scene), s=16, **DOTS)
    ax.scatter(last, scene.seen[-1].rewards, s=52, label="last round", **RING)


def _draw_star(ax: Axes, x: Any, y: Any) -> None:
    ax.scatter(x, y, label="optimum", zorder=7, clip_on=False, **STAR)


def _draw_curve(ax: Axes, scene: Scene, domain: Any) -> None:
    """One dimension: function, readings, optimum, belief."""
    function, belief = scene.function, scene.belief
    if isinstance(domain, Arms):
        order = np.argsort(domain.coordinates[:, 0])
        x, f = domain.coordinates[order, 0], function(order)
        if belief is not None:
            mean, sd = belief[0][order], belief[1][order]
            band: dict[str, Any] = {
                "color": GREEN,
                "alpha": 0.18,
                "lw": 0,
                "label": "agent's ± 2 sd",
            }
            ax.fill_between(x, mean - 2 * sd, mean + 2 * sd, **band)
            ax.plot(x, mean, color=GREEN, lw=1.8, ls="--", label="agent's mean", zorder=5)
    else:
        x = np.linspace(domain.low[0], domain.high[0], FINE)
        f = function(x[:, None])
    ax.plot(x, f, color=INK, lw=1.6, label="function", zorder=3)
    if scene.seen:
        last = _points(scene, scene.seen[-1].actions)[:, 0]
        _draw_readings(ax, scene, _points(scene, _actions(scene))[:, 0], last)
    _draw_star(ax, _points(scene, _best(scene))[:, 0], [function.optimum])
    ax.margins(x=0.01)
    ax.set_xlabel("x")


def _draw_bars(ax: Axes, scene: Scene, domain: Arms) -> None:
    """Arms without a picture of their own: the value of each as a bar."""
    function, belief = scene.function, scene.belief
    arms = np.arange(domain.size)
    values = function(arms)
    lowest = [values, _rewards(scene)] if scene.seen else [values]
    if belief is not None:
        lowest.append(belief[0] - 2 * belief[1])
    bottom = min(float(low.min(initial=np.inf)) for low in lowest)
    floor = bottom - 0.08 * (function.optimum - bottom) - 1e-9
    ax.bar(arms, values - floor, bottom=floor, width=0.85, color="#C9D8E6", label="function")
    if belief is not None:
        style: dict[str, Any] = {"fmt": "_", "color": GREEN, "lw": 1, "ms": 5}
        ax.errorbar(arms, belief[0], 2 * belief[1], label="agent's mean ± 2 sd", **style)
    if scene.seen:
        _draw_readings(ax, scene, _actions(scene), scene.seen[-1].actions)
    _draw_star(ax, [function.best_action], [function.optimum])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(-0.8, domain.size - 0.2)
    ax.set_ylim(bottom=floor)
    ax.set_xlabel("arm")


def _draw_episode(ax: Axes, scene: Scene) -> None:
    """A box of more than two dimensions: the rewards, round by round."""
    ax.axhline(scene.function.optimum, color=ORANGE, lw=1.8, label="optimum")
    if scene.seen:
        shown = np.arange(scene.round - len(scene.seen), scene.round) + 1
        rounds = np.repeat(shown, [len(seen.rewards) for seen in scene.seen])
        regret = np.concatenate([seen.regret for seen in scene.seen])
        best = scene.function.optimum - np.minimum.accumulate(regret)
        ax.scatter(rounds, _rewards(scene), s=14, **DOTS)
        ax.plot(rounds, best, color=INK, lw=1.6, drawstyle="steps-post", label="best value so far")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("round")


def _draw_maps(figure: Figure, scene: Scene) -> None:
    """Two dimensions: the function from above, and next to it the agent's belief."""
    domain, mapped = scene.bandit.problem.domain, scene.bandit.locations is not None
    grid: tuple[Array, ...] | None
    if isinstance(domain, Arms):
        actions = np.arange(domain.size)
        points, grid = _points(scene, actions), None if mapped else domain.axes
        panels = [("function", scene.function(actions))]
    else:
        assert isinstance(domain, Box)
        ends = zip(domain.low, domain.high, strict=True)
        grid = tuple(np.linspace(low, high, COARSE) for low, high in ends)
        points = np.stack([g.ravel() for g in np.meshgrid(*grid, indexing="ij")], axis=1)
        panels = [("function", scene.function(points))]
    low, high = float(panels[0][1].min()), float(panels[0][1].max())
    if scene.belief is not None and isinstance(domain, Arms):
        panels += [("agent's mean", scene.belief[0]), ("its standard deviation", scene.belief[1])]
    axes = figure.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True)[0]
    for i, (ax, (title, values)) in enumerate(zip(axes, panels, strict=True)):
        colours: dict[str, Any] = {"cmap": "viridis", "vmin": low, "vmax": high}
        if title.endswith("deviation"):
            colours = {"cmap": "cividis", "vmin": 0.0, "vmax": max(float(values.max()), 1e-12)}
        if grid is not None and min(len(axis) for axis in grid) > 1:
            image = values.reshape([len(axis) for axis in grid]).T
            drawn: Any = ax.pcolormesh(*grid, image, rasterized=True, **colours)
        else:
            size = float(np.clip(6000 / len(points), 6, 100))
            colours |= {"edgecolor": GREY, "lw": 0.3}
            drawn = ax.scatter(points[:, 0], points[:, 1], c=values, s=size, **colours)
        bar = figure.colorbar(drawn, ax=ax, fraction=0.05, pad=0.02)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)
        if scene.bandit.unit:
            bar.set_label(scene.bandit.unit, fontsize=8.5)
        ax.set_title(title, fontsize=10, color=INK)
        _draw_marks(ax, scene)
        ax.tick_params(labelsize=8)
        if not mapped:
            ax.set_xlabel("$x_1$")
            ax.set_ylabel("$x_2$" if i == 0 else "")
        elif np.ptp(points, axis=0).min() > 0:
            ax.set_aspect("equal", adjustable="box")
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=3, **LEGEND)


def _draw_marks(ax: Axes, scene: Scene) -> None:
    if scene.seen:
        before, last = (_points(scene, a) for a in (_actions(scene), scene.seen[-1].actions))
        ax.scatter(
            before[:, 0],
            before[:, 1],
            s=9,
            color="white",
            edgecolor=INK,
            lw=0.4,
            label="actions so far",
        )
        ax.scatter(last[:, 0], last[:, 1], s=70, **{**RING, "edgecolor": "white", "lw": 3.2})
        ax.scatter(last[:, 0], last[:, 1], s=70, label="last round", **RING)
    _draw_star(ax, *_points(scene, _best(scene)).T)

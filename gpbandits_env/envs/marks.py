"""Colors, marks and positions of actions that all pictures of an environment share.

The colors are those of Okabe and Ito (2008) and the maps viridis and cividis, which color-blind
readers can tell apart.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
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


def points_of(scene: Scene, actions: NDArray[Any]) -> Array:
    """The positions at which actions are drawn: on the map if there is one."""
    if scene.bandit.locations is not None:
        return scene.bandit.locations[actions]
    return scene.bandit.problem.domain.points(actions)


def best_of(scene: Scene) -> NDArray[Any]:
    """The best action, as a batch of one."""
    return np.asarray(scene.function.best_action)[None]


def actions_of(scene: Scene) -> NDArray[Any]:
    """All actions that are shown."""
    return np.concatenate([seen.actions for seen in scene.seen])


def rewards_of(scene: Scene) -> Array:
    """All rewards that are shown."""
    return np.concatenate([seen.rewards for seen in scene.seen])


def rounds_of(scene: Scene) -> NDArray[Any]:
    """The round of each reward that is shown."""
    shown = np.arange(scene.round - len(scene.seen), scene.round) + 1
    return np.repeat(shown, [len(seen.rewards) for seen in scene.seen])


def draw_star(axes: Axes, x: Any, y: Any) -> None:
    """Draw the star that marks the optimum."""
    axes.scatter(x, y, label="optimum", zorder=7, clip_on=False, **STAR)


def tidy(axes: Axes) -> None:
    """Style a panel that is not a map."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#E6E6E6", lw=0.8)
    axes.set_axisbelow(True)

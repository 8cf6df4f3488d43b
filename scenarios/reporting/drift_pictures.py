"""The illustrations of bogunovic2016, drawn with this library's own kernels, drifts and data."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gpbandits_env import datasets
from gpbandits_env.domains import Arms
from gpbandits_env.drift import MarkovDrift, Path
from gpbandits_env.kernels import Kernel, Matern32, SquaredExponential
from gpbandits_env.samplers import sampler_for
from gpbandits_env.scenarios.reporting.style import INK, line_style
from gpbandits_env.seeding import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILON = 0.01
TIMES = (1, 151, 301, 451)
EVERY, DAY, TRAINING_DAYS = 10, 24 * 60, 3


def distant_times(figure: "Figure", seed: int) -> None:
    """Fig. 1: the function at distant times of one path, epsilon = 0.01; maxima marked."""
    arms = Arms.grid(400)
    kernels: dict[str, Kernel] = {
        "squared exponential, $l = 0.2$": SquaredExponential(0.2),
        r"Matern, $l = 0.2$, $\nu = 1.5$": Matern32(0.2),
    }
    panels: Any = figure.subplots(1, 2, sharey=True)
    x = arms.coordinates[:, 0]
    for axes, (name, kernel) in zip(panels, kernels.items(), strict=True):
        rng = stream("bogunovic2016/fig-1", seed, name)
        functions = Path(MarkovDrift(EPSILON), sampler_for(arms, kernel).draw, rng).ahead(TIMES[-1])
        for i, t in enumerate(TIMES):
            values, style = functions[t - 1], line_style(i)
            best = int(np.argmax(values))
            axes.plot(x, values, label=f"$f_{{{t}}}$", **style)
            axes.plot(x[best], values[best], "o", color=style["color"], clip_on=False)
        axes.set(title=name, xlabel="$x$", xlim=(0, 1))
    panels[0].set_ylabel("$f_t(x)$")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)


def sensors(figure: "Figure", seed: int) -> None:
    """Fig. 3(b): the 46 sensors' readings over the five days, and which of them is the warmest."""
    readings = datasets.load("intel-berkeley", {"every": EVERY})
    values = readings.values
    days = np.arange(len(values)) * EVERY / DAY
    axes = figure.subplots()
    for i, column in enumerate(values.T):
        colour = line_style(i % 7)["color"]
        axes.plot(days, column, color=colour, alpha=0.45, linewidth=0.8)
    axes.plot(days, values.max(axis=1), color=INK, linewidth=1.2, label="the warmest sensor")
    axes.axvline(TRAINING_DAYS, color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
    axes.set(xlabel="day", ylabel=f"temperature in {readings.unit}", xlim=(0, float(days[-1])))
    height = axes.get_ylim()[1]
    for place, side, label in ((-0.03, "right", "training"), (0.03, "left", "played")):
        axes.text(TRAINING_DAYS + place, height, label, ha=side, va="top", color=INK)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center")

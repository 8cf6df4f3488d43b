"""A trial as a moving picture: the function, its optimum, and the agent's posterior.

On a line, a frame shows the function and the belief, and below them the path of the optimum.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, IntArray, Plain, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.files import check_output, writing
from gpbandits_env.regret import average
from gpbandits_env.scenarios.reporting.style import (
    COLOURS,
    INK,
    ORANGE,
    VERMILION,
    band,
    colour_of,
    legible,
    new_figure,
)
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study.runner import make_agent, make_env, run_rounds
from gpbandits_env.seeding import seed_for

# A GIF of this width is legible in a page and stays below about a megabyte.
WIDTH, SHADES = 720, 128
NEARLY = 247  # of 255: as good as white
INCHES = (7.2, 5.2)
# Rounds whose readings are shown, the older the fainter.
RECENT = 12
STAR: Plain = {
    "s": 210,
    "marker": "*",
    "color": ORANGE,
    "edgecolor": INK,
    "linewidth": 0.8,
}
HIT: Plain = {"facecolor": "none", "edgecolor": VERMILION, "linewidth": 2.0}


def animate(
    scenario: Scenario,
    agent: str,
    path: Path,
    rounds: int = 60,
    seed: int = 0,
    frames_per_second: int = 5,
) -> Path:
    """Run a trial of an agent in a scenario's environment as a GIF, one frame per round.

    A round whose end empties the agent's memory (R-GP-UCB) is marked "reset".

    Args:
        scenario: the scenario; of a grid of parameters, the first point is taken.
        agent: a label of the scenario, or a registered agent.
        path: the file, ending in .gif, which is returned.
        rounds: the number of frames.
        seed: the seed of the environment and of the agent.
        frames_per_second: the speed.
    Raises:
        InvalidInput: the file has another suffix, or a number is out of range.
        UnknownName: there is no such agent.
        StoreError: the file cannot be written.
    """
    if path.suffix != ".gif":
        raise InvalidInput(f"{path}: an animation is a file ending in .gif")
    check_output(path, "gif")
    whole(frames_per_second, "frames per second")
    chosen = scenario.select([agent], horizon=whole(rounds, "rounds"))
    cell = chosen.cells()[0]
    env = make_env(scenario.env, {**cell.scenario.env_kwargs, "render_mode": "rgb_array"}, rounds)
    images = _with_one_palette(_frames(env, cell.scenario.agents[0], rounds, seed))
    looks: Plain = {"duration": round(1000 / frames_per_second), "loop": 0}
    with writing(path, "gif") as part:
        images[0].save(
            part, format="GIF", save_all=True, append_images=images[1:], optimize=True, **looks
        )
    return path


def _frames(env: gym.Env[Any, Any], entry: AgentEntry, rounds: int, seed: int) -> list[Any]:
    """The picture of each round, with a frame if the agent's memory was emptied at its end."""
    agent = make_agent(entry, env, seed_for("animation", "agent", seed))
    bare: Any = env.unwrapped
    observation, _ = env.reset(seed=seed_for("animation", "world", seed))
    if "context" in observation:
        agent.enter(observation["context"])
    believes = agent.belief() is not None
    if believes:
        bare.attach(agent)
    domain = bare.problem.domain
    line = domain.finite and domain.dim == 1 and not bare.problem.kernel.on_indices
    pictures: list[NDArray[np.uint8]] = []
    moments: list[Moment] = []

    def watch(observation: Plain) -> None:
        """Note the belief with which the agent chose, and what it is about to be told."""
        if not line:
            pictures.append(np.asarray(env.render(), dtype=np.uint8))
            return
        belief = agent.belief() if believes else None
        values, best = bare.function(np.arange(domain.size)), int(bare.function.best_action)
        shown = observation.get("arrived", np.ones(len(observation["rewards"]))) == 1
        readings = observation["actions"][shown], observation["rewards"][shown]
        moments.append(Moment(values, best, *readings, belief))

    found, _ = run_rounds(env, agent, rounds, observation, watch=watch)
    resets = (found["model_order"] == 0) & hasattr(agent, "posterior")
    if line:
        colour = colour_of(entry.agent)
        regret = average(found["regret"])
        pictures = list(frames(moments, regret, domain.coordinates[:, 0], entry.label, colour))
    return [_image(*both) for both in zip(pictures, resets, strict=True)]


def _image(pixels: NDArray[np.uint8], reset: bool) -> Any:
    from PIL import Image, ImageDraw

    image = Image.fromarray(pixels)
    if image.width > WIDTH:
        size = (WIDTH, round(WIDTH * image.height / image.width))
        image = image.resize(size, Image.Resampling.LANCZOS)
    if reset:
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, image.width - 1, image.height - 1), outline=(213, 94, 0), width=4)
        pen.text((image.width - 60, 8), "reset", fill=(213, 94, 0), font_size=16)
    return image


def _with_one_palette(images: Sequence[Any]) -> list[Any]:
    """The images in the same few colours, so that parts that do not change cost no bytes.

    White and the colours of agents and marks, which cover few pixels, are among these colours.
    """
    from PIL import Image

    samples = [np.asarray(image)[::3, ::3] for image in images]
    exact = [255, 255, 255, *(int(c[i : i + 2], 16) for c in COLOURS for i in (1, 3, 5))]
    common = Image.fromarray(np.concatenate(samples)).quantize(SHADES - len(exact) // 3)
    colours = np.array([*(common.getpalette() or ()), *exact]).reshape(-1, 3)
    colours[(colours > NEARLY).all(axis=1)] = 255
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours.ravel().tolist())
    return [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Moment:
    """A round: the function at n arms, the actions and their rewards, and the agent's belief.

    Args:
        values: (n,).
        best: the best arm.
        actions: (k,) those whose rewards arrive in this round: its own, if nothing is delayed.
        rewards: (k,) with noise.
        belief: the mean and the standard deviation (n,) before the rewards; None without a belief.
    """

    values: Array
    best: int
    actions: IntArray
    rewards: Array
    belief: tuple[Array, Array] | None


def frames(
    moments: Sequence[Moment], regret: Array, x: Array, label: str, colour: str
) -> Iterator[NDArray[np.uint8]]:
    """Yield one picture (height, width, 3) per round, all on the same axes.

    ``regret`` is the average regret after each round, ``x`` are the positions of the arms, (n,),
    and ``colour`` is that of the agent's belief.
    """
    from gpbandits_env.envs.pictures import pixels

    order = np.argsort(x)
    history = np.stack([moment.values[order] for moment in moments])
    low, high = _range(moments)
    for t in range(1, len(moments) + 1):
        with new_figure(*INCHES) as figure:
            top, bottom = _panels(figure, x, low, high, len(moments))
            _draw_now(top, moments[:t], x, order, label, colour)
            _draw_past(bottom, moments[:t], x, history)
            figure.text(0.075, 0.955, f"round {t}", fontsize=12, color=INK)
            said = f"average regret {regret[t - 1]:.2f}"
            figure.text(0.985, 0.955, said, fontsize=12, color=INK, ha="right")
            picture = pixels(figure)
        yield picture  # when the style is no longer in force


def _range(moments: Sequence[Moment]) -> tuple[float, float]:
    """The range of rewards that is shown: all functions and readings, and most of the beliefs."""
    shown = [moment.values for moment in moments]
    shown += [moment.rewards for moment in moments if len(moment.rewards)]
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
    """Make empty panels in fixed places, so that nothing moves from frame to frame."""
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
    """Draw the function of this round, the belief before its actions, and the latest readings."""
    now = past[-1]
    if now.belief is not None:
        mean, sd = (part[order] for part in now.belief)
        band(axes, x[order], mean - 2 * sd, mean + 2 * sd, colour, label="± 2 sd")
        looks = {"color": colour, "linewidth": 2.2, "label": legible(f"mean of {label}")}
        axes.plot(x[order], mean, **looks)
    axes.plot(x[order], now.values[order], color=INK, linewidth=1.8, label="reward function")
    for age, moment in enumerate(reversed(past[-RECENT:])):
        alpha = 0.75 * (1 - age / RECENT)
        axes.scatter(x[moment.actions], moment.rewards, s=18, color=INK, alpha=alpha, linewidth=0)
    axes.scatter(x[now.actions], now.rewards, s=80, zorder=6, label="action", **HIT)
    axes.scatter(x[now.best], now.values[now.best], zorder=7, label="optimum", **STAR)
    handles, names = axes.get_legend_handles_labels()
    looks: Plain = {"handletextpad": 0.5, "columnspacing": 1.3, "fontsize": 9}
    place: Plain = {"loc": "upper left", "bbox_to_anchor": (-0.012, -0.01)}
    axes.legend(handles, names, ncols=len(names), **place, **looks)


def _draw_past(axes: "Axes", past: Sequence[Moment], x: Array, history: Array) -> None:
    """Draw all functions so far, one row each, with the actions and the path of the optimum."""
    rounds = np.arange(1, len(past) + 1)
    low, high = float(history.min()), float(history.max())
    # The darkest blues would hide the marks.
    looks: Plain = {"cmap": "Blues", "vmin": low, "vmax": high + 0.5 * (high - low)}
    axes.pcolormesh(np.sort(x), rounds, history[: len(past)], shading="nearest", **looks)
    path = x[[moment.best for moment in past]]
    axes.scatter(path, rounds, marker="s", s=14, color=ORANGE, linewidth=0)
    for t, moment in zip(rounds, past, strict=True):
        at = np.full(len(moment.actions), t)
        axes.scatter(x[moment.actions], at, s=8, color=VERMILION, linewidth=0, zorder=3)

"""Pictures that the site puts at the top of pages of the manual, made by the code they describe.

A bar chart shows the numbers of a table of its page; nothing is written twice.
"""

import re
import sys
from collections.abc import Callable
from io import BytesIO
from math import log10
from pathlib import Path
from types import ModuleType
from typing import Any

import agent_pages
import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from gpbandits_env import Arms, Integer, Real, SquaredExponential, agents, benchmark_function
from gpbandits_env.agents.optimize import plots
from gpbandits_env.arrays import Array
from gpbandits_env.envs.drawing import BLUE, GREY, INK, VERMILION, draw_belief
from gpbandits_env.figure import NotebookFigure
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.rewards import drift
from gpbandits_env.scenarios.reporting.style import new_figure, share_legend

DOCS = Path(__file__).parents[2] / "docs"
CALLS = {"optimize": 30, "seconds": 20}
# In inches, so that words can be read where a picture is as wide as a phone.
WIDTH = 6.6
# The place of a picture in a page, with its address and what it shows.
PICTURE = re.compile(r"<!-- picture (\S+): (.*?) -->", re.DOTALL)


def with_pictures(markdown: str) -> str:
    """The page with its pictures, and below each what it shows."""
    return PICTURE.sub(lambda f: f"![{f[2].replace('`', '')}]({f[1]})\n\n*{f[2]}.*", markdown)


def pictures() -> dict[str, bytes]:
    """The pictures of pages of the manual, by address."""
    return {
        "images/time-draws.png": _png(_draws, 5.6, 6.0),
        "images/time-belief.png": _png(_beliefs, 2.8, 6.0),
        "images/time-clock.webp": _speeds(CALLS["seconds"]),
        "pictures/slices.png": _slices(),
        "pictures/benchmarks.png": _png(_benchmarks, 2.8),
        "pictures/rl.png": _png(_returns, 2.2),
        "pictures/kernel.png": _png(_kernel, 2.6),
        "pictures/mixing.png": _png(_mixing, 4.6),
        "pictures/own-agent.png": agent_pages.picture(_written("adding-an-agent", "my_parts").Mine),
    }


def _png(draw: Callable[[Figure], None], height: float, width: float = WIDTH) -> bytes:
    with new_figure(width, height) as figure:
        draw(figure)
    return figure._repr_png_()


def _slices() -> bytes:
    f = benchmark_function("hartmann-6")
    space = {"rate": Real(1e-4, 1.0, prior="log-uniform"), "width": Real(0.0, 1.0)}
    space["layers"] = Integer(1, 8)

    def loss(p: dict[str, float]) -> float:
        return f([0.2, 0.15, p["width"], 0.28, p["layers"] / 8, 1 + 0.25 * log10(p["rate"])])

    found = agents.minimize(loss, space, n_calls=CALLS["optimize"], seed=0)
    figure = plots.slices(found)
    figure.set_size_inches(WIDTH, 2.3)
    return figure._repr_png_()


def _benchmarks(figure: Figure) -> None:
    """The ratios of the first tables that compare with another library."""
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) / ours[^|]*\| ([\d.]+) \|$", text, re.MULTILINE)[:6]
    names = ("GP-UCB", "GP-UCB", "TV-GP-UCB", "TV-GP-UCB", "posterior", "posterior")
    labels = [f"{name}: {other}" for name, (other, _) in zip(names, rows, strict=True)]
    axes = figure.subplots()
    axes.barh(labels[::-1], [float(ratio) for _, ratio in rows[::-1]], color=BLUE)
    axes.set(xscale="log", xlabel="time of the other library / ours", xlim=(1.0, None))


def _returns(figure: Figure) -> None:
    """The mean returns of the table of examples/reinforcement_learning.py, the longer training."""
    text = (DOCS / "rl.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| ([^|]+) \| [^|]+ \| (-?[\d.]+) ± ([\d.]+) \|$", re.MULTILINE)
    rows = [(name.replace("`", ""), float(mean), float(se)) for name, mean, se in row.findall(text)]
    labels, means, errors = zip(*rows[::-1], strict=True)
    axes = figure.subplots()
    axes.barh(labels, means, xerr=errors, color=BLUE, ecolor=GREY)
    axes.set_xlabel("mean return of an episode")


def _kernel(figure: Figure) -> None:
    """The kernel of the page on own kernels, and draws with it, by its hyper-parameter."""
    module, x = _written("own-kernel", "my_kernels"), np.linspace(0.0, 1.0, 200)[:, None]
    profile, draws = figure.subplots(1, 2)
    for alpha, color in ((0.1, VERMILION), (1.0, BLUE), (10.0, GREY)):
        covariance = module.RationalQuadratic(0.2, alpha=alpha)(x)
        values, vectors = np.linalg.eigh(covariance)
        white = np.random.default_rng(3).standard_normal(200)
        draw = vectors @ (np.sqrt(np.maximum(values, 0.0)) * (vectors.T @ white))
        profile.plot(x, covariance[0], color=color, label=f"alpha = {alpha:g}")
        draws.plot(x, draw, color=color)
    profile.set(xlabel="distance", title="covariance")
    draws.set(xlabel="x", title="a draw with each")
    share_legend(figure, 3)


def _mixing(figure: Figure) -> None:
    """What GP-UCB believes after the same readings, by how it forgets."""
    env: Any = gym.make("gpbandits/MarkovGP-v0", grid=100, epsilon=0.03, noise_var=0.01)
    env.reset(seed=4)
    actions = np.random.default_rng(0).integers(100, size=40)
    rewards = [env.step(arm)[1] for arm in actions]
    ways: tuple[dict[str, Any], ...] = ({}, {"epsilon": 0.03}, {"window": 8}, {"reset_every": 30})
    truth, age = env.unwrapped.function(np.arange(100)), np.linspace(0.1, 1.0, len(actions))
    for axes, given in zip(figure.subplots(2, 2).flat, ways, strict=True):
        agent = agents.make("gp-ucb", env, seed=0, **given)
        for arm, reward in zip(actions, rewards, strict=True):
            agent.tell([arm], [reward])
        x = agent.problem.domain.span[:, 0]
        draw_belief(axes, x, *agent.belief())
        axes.plot(x, truth, color=INK, lw=1.4, label="function")
        axes.scatter(x[actions], rewards, s=14, color=BLUE, alpha=age, label="readings")
        title = ", ".join(f"{k}={v}" for k, v in given.items()) or "static"
        axes.set(ylim=(-3.5, 3.5), title=title)
    share_legend(figure, 4)
    env.close()


def _written(page: str, name: str) -> ModuleType:
    """A module that a page of the manual writes."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    module = ModuleType(name)
    sys.modules[name] = module  # where dataclasses look for it
    exec(text.split(f"<!-- file: {name}.py -->\n```python\n")[1].split("```")[0], vars(module))
    return module


# -- docs/time.md ---------------------------------------------------------------------------------

DAY = {"type": "quasi-periodic", "period": 24.0, "harmonics": 3, "epsilon": 0.002}
MARKOV = {"type": "markov", "epsilon": 0.1}
ARMS = 60
DRAWS: dict[str, dict[str, Any]] = {
    "Markov, epsilon 0.1": MARKOV,
    "Matern 3/2, lengthscale 20": {"type": "matern32", "lengthscale": 20.0},
    "Matern 5/2, lengthscale 20": {"type": "matern52", "lengthscale": 20.0},
    "Wiener, rate 0.05": {"type": "wiener", "rate": 0.05},
    "periodic, period 24": {"type": "periodic", "period": 24.0, "harmonics": 3},
    "season 0.7 + Markov 0.3": {"type": "sum", "kernels": [DAY, MARKOV], "weights": [0.7, 0.3]},
}


def _draws(figure: Figure) -> None:
    """Three values of one arm over 150 rounds, for each temporal kernel."""
    axes = figure.subplots(3, 2, sharex=True)
    for axis, (title, spec) in zip(axes.flat, DRAWS.items(), strict=True):
        axis.plot(np.arange(1, 151), _path(spec, 4, 3, 150), linewidth=1.0)
        axis.set_title(title, fontsize=10)
    for axis in axes[2]:
        axis.set_xlabel("round")


def _path(spec: dict[str, Any], seed: int, arms: int, rounds: int) -> Array:
    """Values of independent arms that drift with a temporal kernel, (rounds, arms)."""
    rng = np.random.default_rng(seed)
    moves = drift.TemporalDrift(spec)  # type: ignore[arg-type]
    return drift.Path(moves, lambda rng, size: rng.standard_normal((size, arms)), rng).ahead(rounds)


def _beliefs(figure: Figure) -> None:
    """The belief about one arm, which is seen on two days, with a season and without one."""
    arms, kernel = Arms.grid(1), SquaredExponential(1.0)
    season, rounds = DRAWS["season 0.7 + Markov 0.3"], np.arange(1, 97)
    truth = _path(season, 1, 1, 96)[:, 0]
    seen = (rounds <= 48) & (rounds % 2 == 0)
    models = {"knows the season": season, "assumes a Markov drift": MARKOV}
    axes = figure.subplots(1, 2, sharey=True)
    for axis, (title, spec) in zip(axes, models.items(), strict=True):
        temporal = drift.TemporalDrift(spec).kernel  # type: ignore[arg-type]
        posterior = posterior_for(arms, kernel, 0.02, temporal=temporal)
        mean, sd = np.empty((2, 96))
        for i in range(96):
            mean[i], sd[i] = posterior.mean[0], posterior.sd[0]
            if seen[i]:
                posterior.condition([0], truth[i : i + 1])
            posterior.advance(0.0)
        draw_belief(axis, rounds, mean, sd)
        axis.plot(rounds, truth, color="black", linewidth=0.8, label="truth")
        axis.plot(rounds[seen], truth[seen], "k.", label="observed")
        axis.set(title=title, xlabel="round")
    share_legend(figure, 4)


def _speeds(seconds: float) -> bytes:
    """The same agent at two speeds on a function that moves while it thinks.

    All frames have the colors of the last one.
    """
    speeds = {"decides in a millisecond": 0.001, "decides in a second": 1.0}
    (env, _), *_ = runs = [_clocked(thinking, seconds) for thinking in speeds.values()]
    figure = NotebookFigure(figsize=(6.0, 3.2), dpi=80)
    axes = figure.subplots(1, 2, sharey=True)
    frames = []
    for now in np.arange(5.0, seconds, 0.9):
        truth = env.unwrapped.bandit.process.at(1.0 + now).values
        for axis, title, (_, rounds) in zip(axes, speeds, runs, strict=True):
            past = [round_ for round_ in rounds if round_[0] <= now]
            read, action, belief, regret = past[-1]
            said = f"{now:.1f} s: {len(past)} evaluations, regret over time {regret / read:.2f}"
            axis.clear()
            draw_belief(axis, np.arange(ARMS), *belief)
            axis.plot(truth, color="black", linewidth=1.0, label="function")
            axis.plot(action, truth[action], "o", color="tab:red", label="action")
            axis.set(ylim=(-4.0, 4.0), xlabel="arm")
            axis.set_title(f"{title}\n{said}", fontsize=9)
        axes[0].legend(fontsize=9, loc="lower left", ncols=2)
        frames.append(Image.open(BytesIO(figure._repr_png_())).convert("RGB"))
    palette = frames[-1].quantize(20, kmeans=1)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    looks: dict[str, Any] = {"append_images": others, "duration": 500, "loop": 0}
    first.save(file := BytesIO(), "webp", save_all=True, lossless=True, **looks)
    return file.getvalue()


def _clocked(thinking: float, seconds: float) -> tuple[Any, list[Any]]:
    """The time, the action, the belief that chose it and the regret over time of each round."""
    clock = {"evaluation": 0.1, "thinking": thinking, "duration": seconds}
    kernel = {"type": "matern52", "lengthscale": 70.0}
    world: dict[str, Any] = {"function": "eggholder", "sweep": 60.0, "grid": ARMS, "kernel": kernel}
    env = gym.make("gpbandits/Drifting-v0", **world, noise_var=0.05, clock=clock)
    agent = agents.make("tv-gp-ucb", env, seed=0, epsilon=0.1, beta=4.0)
    observation, _ = env.reset(seed=0)
    played, over = [], False
    while not over:
        agent.observe(observation)
        actions, belief = agent.ask(), agent.belief()
        observation, _, _, over, info = env.step(actions)
        regret = info["time_regret"]
        played.append((float(observation["time"][0]), int(actions[0]), belief, regret))
    return env, played

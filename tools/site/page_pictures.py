"""Pictures that the site puts at the top of pages of the manual, made by the code they describe.

A bar chart shows the numbers of a table of its page; nothing is written twice.
"""

import re
import sys
from math import log10
from pathlib import Path
from types import ModuleType
from typing import Any

import agent_pictures
import gymnasium as gym
import numpy as np
import time_pictures

from gpbandits_env import Integer, Real, agents, benchmark_function, minimize
from gpbandits_env.agents.optimize import plots
from gpbandits_env.envs.drawing import BLUE, GREY, INK, VERMILION, draw_belief
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
        **time_pictures.pictures(CALLS["seconds"]),
        "pictures/slices.png": _slices(),
        "pictures/benchmarks.png": _benchmarks(),
        "pictures/rl.png": _returns(),
        "pictures/kernel.png": _kernel(),
        "pictures/mixing.png": _mixing(),
        "pictures/own-agent.png": agent_pictures.picture(
            _written("adding-an-agent", "my_parts").Mine
        ),
    }


def _slices() -> bytes:
    f = benchmark_function("hartmann-6")
    space = {"rate": Real(1e-4, 1.0, prior="log-uniform"), "width": Real(0.0, 1.0)}
    space["layers"] = Integer(1, 8)

    def loss(p: dict[str, float]) -> float:
        return f([0.2, 0.15, p["width"], 0.28, p["layers"] / 8, 1 + 0.25 * log10(p["rate"])])

    found = minimize(loss, space, n_calls=CALLS["optimize"], seed=0)
    figure = plots.slices(found)
    figure.set_size_inches(WIDTH, 2.3)
    return figure._repr_png_()


def _benchmarks() -> bytes:
    """The ratios of the first tables that compare with another library."""
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) / ours[^|]*\| ([\d.]+) \|$", text, re.MULTILINE)[:6]
    names = ("GP-UCB", "GP-UCB", "TV-GP-UCB", "TV-GP-UCB", "posterior", "posterior")
    labels = [f"{name}: {other}" for name, (other, _) in zip(names, rows, strict=True)]
    with new_figure(WIDTH, 2.8) as figure:
        axes = figure.subplots()
        axes.barh(labels[::-1], [float(ratio) for _, ratio in rows[::-1]], color=BLUE)
        axes.set(xscale="log", xlabel="time of the other library / ours", xlim=(1.0, None))
    return figure._repr_png_()


def _returns() -> bytes:
    """The mean returns of the table of examples/reinforcement_learning.py, the longer training."""
    text = (DOCS / "rl.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| ([^|]+) \| [^|]+ \| (-?[\d.]+) ± ([\d.]+) \|$", re.MULTILINE)
    rows = [(name.replace("`", ""), float(mean), float(se)) for name, mean, se in row.findall(text)]
    labels, means, errors = zip(*rows[::-1], strict=True)
    with new_figure(WIDTH, 2.2) as figure:
        axes = figure.subplots()
        axes.barh(labels, means, xerr=errors, color=BLUE, ecolor=GREY)
        axes.set_xlabel("mean return of an episode")
    return figure._repr_png_()


def _kernel() -> bytes:
    """The kernel of the page on own kernels, and draws with it, by its hyper-parameter."""
    module, x = _written("own-kernel", "my_kernels"), np.linspace(0.0, 1.0, 200)[:, None]
    with new_figure(WIDTH, 2.6) as figure:
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
    return figure._repr_png_()


def _mixing() -> bytes:
    """What GP-UCB believes after the same readings, by how it forgets."""
    env: Any = gym.make("gpbandits/MarkovGP-v0", grid=100, epsilon=0.03, noise_var=0.01)
    env.reset(seed=4)
    actions = np.random.default_rng(0).integers(100, size=40)
    rewards = [env.step(arm)[1] for arm in actions]
    ways: tuple[dict[str, Any], ...] = ({}, {"epsilon": 0.03}, {"window": 8}, {"reset_every": 30})
    truth, age = env.unwrapped.function(np.arange(100)), np.linspace(0.1, 1.0, len(actions))
    with new_figure(WIDTH, 4.6) as figure:
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
    return figure._repr_png_()


def _written(page: str, name: str) -> ModuleType:
    """A module that a page of the manual writes."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    module = ModuleType(name)
    sys.modules[name] = module  # where dataclasses look for it
    exec(text.split(f"<!-- file: {name}.py -->\n```python\n")[1].split("```")[0], vars(module))
    return module

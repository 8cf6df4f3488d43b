"""Pictures that the site puts at the top of pages of the manual, made by the code they describe.

A bar chart shows the numbers of a table of its page; nothing is written twice.
"""

import re
import sys
from math import log10
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpbandits_env import Integer, Real, benchmark_function, minimize
from gpbandits_env.agents.optimize import plots
from gpbandits_env.envs.drawing import BLUE, GREY, VERMILION
from gpbandits_env.figure import NotebookFigure

DOCS = Path(__file__).parents[2] / "docs"
CALLS = {"optimize": 30}
# In inches, so that words can be read where a picture is as wide as a phone.
WIDTH = 6.6
# The place of a picture in a page, with its address and what it shows. Pictures in images/ and
# results/ are in the checkout; the others are made by this build.
PICTURE = re.compile(r"<!-- picture (\S+): (.*?) -->", re.DOTALL)


def with_pictures(markdown: str) -> str:
    """The page with its pictures, and below each what it shows."""
    return PICTURE.sub(lambda f: f"![{f[2].replace('`', '')}]({f[1]})\n\n*{f[2]}.*", markdown)


def pictures() -> dict[str, bytes]:
    """The PNG pictures that this build makes, by address."""
    return {
        "pictures/slices.png": _slices(),
        "pictures/benchmarks.png": _benchmarks(),
        "pictures/rl.png": _returns(),
        "pictures/kernel.png": _kernel(),
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
    figure, axes = _axes(2.8)
    axes.barh(labels[::-1], [float(ratio) for _, ratio in rows[::-1]], color=BLUE)
    axes.set(xscale="log", xlabel="time of the other library / ours", xlim=(1.0, None))
    return figure._repr_png_()


def _returns() -> bytes:
    """The mean returns of the table of examples/reinforcement_learning.py, the longer training."""
    text = (DOCS / "rl.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| ([^|]+) \| [^|]+ \| (-?[\d.]+) ± ([\d.]+) \|$", re.MULTILINE)
    rows = [(name.replace("`", ""), float(mean), float(se)) for name, mean, se in row.findall(text)]
    figure, axes = _axes(2.2)
    labels, means, errors = zip(*rows[::-1], strict=True)
    axes.barh(labels, means, xerr=errors, color=BLUE, ecolor=GREY)
    axes.set_xlabel("mean return of an episode")
    return figure._repr_png_()


def _kernel() -> bytes:
    """The kernel of the page on own kernels, and draws with it, by its hyper-parameter."""
    text = (DOCS / "own-kernel.md").read_text(encoding="utf-8")
    module = ModuleType("my_kernels")
    sys.modules[module.__name__] = module  # where dataclasses look for it
    exec(text.split("<!-- file: my_kernels.py -->\n```python\n")[1].split("```")[0], vars(module))
    figure, (profile, draws) = _axes(2.4, 2)
    x = np.linspace(0.0, 1.0, 200)[:, None]
    for alpha, color in ((0.1, VERMILION), (1.0, BLUE), (10.0, GREY)):
        covariance = module.RationalQuadratic(0.2, alpha=alpha)(x)
        values, vectors = np.linalg.eigh(covariance)
        white = np.random.default_rng(3).standard_normal(200)
        draw = vectors @ (np.sqrt(np.maximum(values, 0.0)) * (vectors.T @ white))
        profile.plot(x, covariance[0], color=color, label=f"alpha = {alpha:g}")
        draws.plot(x, draw, color=color)
    profile.set(xlabel="distance", title="covariance")
    draws.set(xlabel="x", title="a draw with each")
    above: Any = {"loc": "outside upper center", "ncols": 3, "frameon": False}
    figure.legend(*profile.get_legend_handles_labels(), **above)
    return figure._repr_png_()


def _axes(height: float, columns: int = 1) -> tuple[NotebookFigure, Any]:
    figure = NotebookFigure(figsize=(WIDTH, height), dpi=100, facecolor="white")
    found = figure.subplots(1, columns)
    for axes in np.atleast_1d(found):
        axes.spines[["top", "right"]].set_visible(False)
    return figure, found

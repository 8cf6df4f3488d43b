"""Pictures that the site puts at the top of pages of the manual, made by the code they describe.

A bar chart shows the numbers of a table of its page; nothing is written twice.
"""

import re
from math import log10
from pathlib import Path
from typing import Any

from gpbandits_env import Integer, Real, benchmark_function, minimize
from gpbandits_env.agents.optimize import plots
from gpbandits_env.envs.drawing import BLUE, GREY
from gpbandits_env.figure import NotebookFigure

DOCS = Path(__file__).parents[2] / "docs"
CALLS = {"optimize": 30}
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
    }


def _slices() -> bytes:
    f = benchmark_function("hartmann-6")
    space = {"rate": Real(1e-4, 1.0, prior="log-uniform"), "width": Real(0.0, 1.0)}
    space["layers"] = Integer(1, 8)

    def loss(p: dict[str, float]) -> float:
        return f([0.2, 0.15, p["width"], 0.28, p["layers"] / 8, 1 + 0.25 * log10(p["rate"])])

    found = minimize(loss, space, n_calls=CALLS["optimize"], seed=0)
    return plots.slices(found)._repr_png_()


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


def _axes(height: float) -> tuple[NotebookFigure, Any]:
    figure = NotebookFigure(figsize=(8.0, height), dpi=100, facecolor="white")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes

"""Pictures that the site puts at the top of pages of the manual, made by the code they describe.

A bar chart shows the numbers of a table of its page; nothing is written twice.
"""

import re
from io import BytesIO
from math import log10
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gpbandits_env import Integer, Real, benchmark_function, minimize
from gpbandits_env.agents.optimize import plots
from gpbandits_env.envs.drawing import BLUE, GREY

DOCS = Path(__file__).parents[2] / "docs"
CALLS = {"optimize": 30}
# The picture of a page: its address from the page, and what it shows. Those in images/ and results/
# are in the checkout; the others are made by this build.
PAGES = {
    "getting-started.md": (
        "images/drift.gif",
        "What a drifting environment and an agent in it look like, round by round",
    ),
    "optimize.md": (
        "pictures/slices.png",
        "`plots.slices`: what is believed of a function along each dimension, after 30 calls",
    ),
    "benchmarks.md": (
        "pictures/benchmarks.png",
        "How many times as long another library takes, from the first tables of this page",
    ),
    "studies.md": (
        "results/srinivas2010-se-1d.png",
        "What a study ends with: the regret of five agents, with standard errors",
    ),
    "contexts.md": (
        "environments/Contextual-v0.png",
        "The function in the present context, an agent's belief, and the readings; those of other "
        "contexts are faint",
    ),
    "drift.md": (
        "images/drift.gif",
        "A drifting function, TV-GP-UCB's mean and band, and the moving optimum",
    ),
    "suite.md": ("card.png", "What the suite says of an agent: its card"),
    "scenarios.md": (
        "results/bogunovic2016-se.png",
        "The plot of a scenario: average regret at three rates of drift",
    ),
    "rl.md": ("pictures/rl.png", "Mean return after training, from the last table of this page"),
    "environments.md": (
        "environments/Drifting-v0.png",
        "A function that rotates, and what an agent believes of it",
    ),
    "agents.md": (
        "agents/tv-gp-ucb.png",
        "What an agent believes, how it scores actions, what it chose, and its regret",
    ),
    "delayed-rewards.md": ("results/delay-fixed.png", "The regret with rewards that arrive late"),
    "mixing.md": (
        "agents/ts-rsr.png",
        "An agent is composed of parts: the belief, the score, the choice, and the regret",
    ),
}


def with_picture(uri: str, markdown: str) -> str:
    """The page with its picture after the first paragraph."""
    if uri not in PAGES:
        return markdown
    address, words = PAGES[uri]
    title, first, rest = markdown.split("\n\n", 2)
    return f"{title}\n\n{first}\n\n![{words.replace('`', '')}]({address})\n\n*{words}.*\n\n{rest}"


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
    return png(plots.slices(found))


def _benchmarks() -> bytes:
    """The ratios of the first tables that compare with another library."""
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) / ours[^|]*\| ([\d.]+) \|$", text, re.MULTILINE)[:6]
    names = ("GP-UCB", "GP-UCB", "TV-GP-UCB", "TV-GP-UCB", "posterior", "posterior")
    labels = [f"{name}: {other}" for name, (other, _) in zip(names, rows, strict=True)]
    figure, axes = _axes(2.8)
    axes.barh(labels[::-1], [float(ratio) for _, ratio in rows[::-1]], color=BLUE)
    axes.set(xscale="log", xlabel="time of the other library / ours", xlim=(1.0, None))
    return png(figure)


def _returns() -> bytes:
    """The mean returns of the table of examples/reinforcement_learning.py, the longer training."""
    text = (DOCS / "rl.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| ([^|]+) \| [^|]+ \| (-?[\d.]+) ± ([\d.]+) \|$", re.MULTILINE)
    rows = [(name.replace("`", ""), float(mean), float(se)) for name, mean, se in row.findall(text)]
    figure, axes = _axes(2.2)
    labels, means, errors = zip(*rows[::-1], strict=True)
    axes.barh(labels, means, xerr=errors, color=BLUE, ecolor=GREY)
    axes.set_xlabel("mean return of an episode")
    return png(figure)


def _axes(height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(8.0, height), dpi=100, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def png(figure: Figure) -> bytes:
    """A figure as a PNG picture."""
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()

"""The style of plots, their colours, and how they are written to files.

An agent has one colour, the same in every plot; variants of an agent differ by line style. The ten
colours are those of Okabe and Ito (2008) without the yellow, and four darker ones. Readers with any
common colour blindness can tell all of them apart (a test measures this). There are more agents
than colours, so agents that appear in no common scenario may share one.
"""

import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from io import StringIO
from pathlib import Path
from textwrap import wrap
from threading import RLock
from typing import TYPE_CHECKING, Any

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.files import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

BLUE, VERMILION, GREEN, PINK, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
SKY, INK, INDIGO, WINE, BROWN = "#56B4E9", "#262626", "#332288", "#882255", "#8C6239"
COLOURS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, INDIGO, WINE, BROWN, INK)
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))

# Agents of one scenario differ; compressed agents of bedi2022 are near to what they compress.
AGENTS = {
    BLUE: "gp-ucb",
    VERMILION: "ei bma-gp-ucb dpp-ts ms-ucb",
    GREEN: "tv-gp-ucb mini-gp-ucb mpi ucbpe line-bo",
    PINK: "lb-gp-ucb sw-gp-ucb ui-tvbo max-mean cmpi rembo",
    ORANGE: "r-gp-ucb max-variance cei mini-ei qei sre",
    SKY: "ts et-gp-ucb cub turbo optuna",
    INK: "random",
    INDIGO: "genie bkb-ucb bucb dropout-ucb",
    WINE: "rexp3 bkb-ei ts-rsr hesbo",
    BROWN: "wgp-ucb w-dbo bkb-mpi sp botorch",
}
OF_AGENT = {name: colour for colour, names in AGENTS.items() for name in names.split()}
# An agent of the user's own takes one of these by its name, for they are rare above.
RARE = (BROWN, WINE, PINK)
# The shades of many variants reach from this share of black to this share of white.
DARKEST, LIGHTEST = 0.3, 0.55


def colour_of(agent: str) -> str:
    """The colour of a registered agent, or of one of your own ("module:Class")."""
    name = agent.rpartition(":")[2]
    return OF_AGENT.get(name) or RARE[zlib.crc32(name.encode()) % len(RARE)]


def line_styles(agents: Mapping[str, str]) -> dict[str, Plain]:
    """The colour and the dash of each line of a plot.

    Built-in agents always have their own colour. An agent of the user's own keeps its colour too,
    unless a built-in agent in the same plot has it: then it takes the next free one. Lines of one
    colour differ by their dashes, and from five lines on also by their shade.

    Args:
        agents: label -> registered agent, or "module:Class".
    """
    colours = {name: colour_of(name) for name in agents.values() if name in OF_AGENT}
    for name in agents.values():
        if name not in colours:
            order = (colour_of(name), *RARE, *COLOURS)
            free = [colour for colour in order if colour not in colours.values()]
            colours[name] = (free or order)[0]
    by_colour: dict[str, list[str]] = {}
    for label, name in agents.items():
        by_colour.setdefault(colours[name], []).append(label)
    return {
        label: {"color": _shade(colour, i, len(labels)), "linestyle": DASHES[i % len(DASHES)]}
        for colour, labels in by_colour.items()
        for i, label in enumerate(labels)
    }


def _shade(colour: str, index: int, count: int) -> str:
    """The index-th of ``count`` shades of a colour, from dark to light; of up to 4, the colour."""
    if count <= len(DASHES):
        return colour
    place = index / (count - 1)
    target, share = (0, DARKEST) if place < 0.5 else (255, LIGHTEST)
    share *= abs(2 * place - 1)
    parts = bytes.fromhex(colour[1:])
    return "#" + "".join(f"{round(p + share * (target - p)):02X}" for p in parts)


# The characters of a label in a line.
LONGEST = 30
SUFFIXES = (".png", ".svg")
OTHER_SUFFIXES = (".pdf", ".jpg", ".jpeg", ".eps", ".ps", ".tif", ".tiff", ".webp")
# Letters that the first font does not have are taken from the next that is installed.
LATIN = "DejaVu Sans"
EAST_ASIAN = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "PingFang SC", "Hiragino Sans"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei"),
)
SETTINGS: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": "#8C8C8C",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    # The same data give the same SVG, byte for byte.
    "svg.hashsalt": "gpbandits",
}
_drawing = RLock()


@contextmanager
def house_style() -> Iterator[None]:
    """The style is that of the whole process, so that one thread draws at a time."""
    import matplotlib as mpl
    from matplotlib import font_manager

    there = set(font_manager.get_font_names())
    families = [LATIN, *(name for name in EAST_ASIAN if name in there)]
    with _drawing, mpl.rc_context({**SETTINGS, "font.family": families}):
        yield


@contextmanager
def new_figure(width: float, height: float) -> Iterator["Figure"]:
    """Make an empty figure in the house style, in inches, which is drawn without a display."""
    from gpbandits_env.figure import NotebookFigure

    with house_style():
        yield NotebookFigure(figsize=(width, height), facecolor="white")


def line_style(index: int) -> Plain:
    """The colour and the dash of the index-th curve of a plot without agents."""
    dash = sum(divmod(index, len(COLOURS))) % len(DASHES)
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[dash]}


def band(axes: "Axes", x: Array, low: Array, high: Array, color: str, **looks: Any) -> None:
    """Draw a shaded band between two curves."""
    axes.fill_between(x, low, high, **{"color": color, "alpha": 0.18, "linewidth": 0, **looks})


def write(figure: "Figure", stem: Path, reads: Sequence[Path] = ()) -> list[Path]:
    """Write a figure under each suffix: all files, or none if one cannot be written."""
    files = files_of(stem)
    with house_style(), ExitStack() as stack:
        parts = [stack.enter_context(writing(f, f.suffix[1:], reads)) for f in files]
        for file, part in zip(files, parts, strict=True):
            dates = {"Date": None} if file.suffix == ".svg" else {}
            figure.savefig(part, format=file.suffix[1:], dpi=160, metadata=dates)
    return files


def inline(figure: "Figure") -> str:
    """A figure as SVG to stand in a page, without the XML declaration and document type."""
    with house_style(), StringIO() as text:
        figure.savefig(text, format="svg", metadata={"Date": None})
        written = text.getvalue()
    return written[written.index("<svg") :]


@lru_cache(500)
def escaped(words: str) -> str:
    r"""The same words, with escaped dollars if a formula, as in "$\frac{$", cannot be read."""
    from matplotlib.mathtext import MathTextParser

    if words.count("$") > 1:
        try:
            MathTextParser("path").parse(words)
        except ValueError:
            return re.sub(r"(?<!\\)\$", r"\\$", words)
    return words


def legible(label: str) -> str:
    """A label for a legend, which would leave it out if it began with "_"; a long one in lines."""
    lines = wrap(label, LONGEST) if len(label) > LONGEST else [label]
    return ("\u200b" if label.startswith("_") else "") + "\n".join(map(escaped, lines))


def shortened(label: str) -> str:
    """A label for a tick, a point or a title, without its middle if it is long."""
    half = LONGEST // 2
    return escaped(label if len(label) <= LONGEST else f"{label[:half]}…{label[1 - half :]}")


def files_of(stem: Path) -> list[Path]:
    """The files that `write` writes; a suffix of pictures that the name already has is replaced."""
    if stem.suffix.lower() in OTHER_SUFFIXES:
        raise InvalidInput(f"{stem}: pictures are written as .png and .svg; leave out the suffix")
    name = stem.stem if stem.suffix in SUFFIXES else stem.name
    if name in ("", ".."):
        raise InvalidInput(f"{stem} is a folder; give the name of a picture")
    return [stem.with_name(name + suffix) for suffix in SUFFIXES]


def entitle(figure: "Figure", title: str) -> None:
    """Draw a title above all panels, in as many lines as it needs."""
    figure.suptitle(escaped(title), x=0.01, ha="left", fontsize=12, color=INK, wrap=True)


def share_legend(figure: "Figure", columns: int, axes: Sequence["Axes"] = ()) -> None:
    """Draw one legend of some panels, by default all, below them, in rows of about equal length."""
    both = [panel.get_legend_handles_labels() for panel in axes or figure.axes]
    named = {label: handle for pair in both for handle, label in zip(*pair, strict=True)}
    rows = math.ceil(len(named) / columns) or 1
    looks: Plain = {"loc": "outside lower center", "handlelength": 2.6}
    for ncols in range(math.ceil(len(named) / rows) or columns, 0, -1):
        legend = figure.legend(list(named.values()), list(named), ncols=ncols, **looks)
        if ncols == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()

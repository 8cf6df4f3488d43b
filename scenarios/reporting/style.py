"""The style of plots, and how they are written to files."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from gpbandits_env.arrays import Array
from gpbandits_env.files import writing
from gpbandits_env.scenarios.reporting.colours import COLOURS, DASHES, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
# Letters that the first font does not have are taken from the next that is installed.
LATIN = "DejaVu Sans"
EAST_ASIAN = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "WenQuanYi Zen Hei",
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
def new_figure(width: float, height: float) -> Iterator["Figure"]:
    """Make an empty figure in the house style, in inches, which is drawn without a display.

    The style is that of the whole process, so that one thread draws at a time.
    """
    import matplotlib as mpl
    from matplotlib import font_manager
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    there = set(font_manager.get_font_names())
    families = [LATIN, *(name for name in EAST_ASIAN if name in there)]
    with _drawing, mpl.rc_context({**SETTINGS, "font.family": families}):
        figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        yield figure


def line_style(index: int) -> dict[str, Any]:
    """The colour and the dash of the index-th curve of a plot without agents."""
    round_, colour = divmod(index, len(COLOURS))
    dash = (colour + round_) % len(DASHES)
    return {"color": COLOURS[colour], "linestyle": DASHES[dash]}


def band(axes: "Axes", x: Array, low: Array, high: Array, color: str, **looks: Any) -> None:
    """Draw a shaded band between two curves."""
    axes.fill_between(x, low, high, **{"color": color, "alpha": 0.18, "linewidth": 0, **looks})


def write(
    figure: "Figure",
    stem: Path,
    suffixes: Sequence[str] = SUFFIXES,
    reads: Sequence[Path] = (),
) -> list[Path]:
    """Write a figure under each suffix: all files, or none if one cannot be written.

    Raises:
        InvalidInput: a file would replace one of ``reads``, or a file that is no such picture.
        StoreError: a file cannot be written.
    """
    files = files_of(stem, suffixes)
    _spell_out(figure)
    with ExitStack() as stack:
        parts = [stack.enter_context(writing(f, f.suffix[1:], reads)) for f in files]
        for file, part in zip(files, parts, strict=True):
            dates = {"Date": None} if file.suffix == ".svg" else {}
            figure.savefig(part, format=file.suffix[1:], dpi=160, metadata=dates)
    return files


def _spell_out(figure: "Figure") -> None:
    r"""Draw a text as it is if its formula cannot be read, as in "$\frac{$"."""
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    parser = MathTextParser("path")
    for axes in figure.axes:
        axes.get_xticklabels(), axes.get_yticklabels()  # which makes those that words were set for
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_text().count("$") > 1:
            try:
                parser.parse(text.get_text())
            except ValueError:
                if not text.get_wrap():
                    text.set_parse_math(False)
                else:  # matplotlib breaks lines as if it still parsed formulas
                    text.set_text(re.sub(r"(?<!\\)\$", r"\\$", text.get_text()))


def files_of(stem: Path, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """The files that `write` writes."""
    return [stem.with_name(stem.name + suffix) for suffix in suffixes]


def entitle(figure: "Figure", title: str) -> None:
    """Draw a title above all panels, in as many lines as it needs."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=INK, wrap=True)


def share_legend(figure: "Figure", axes: "Axes", columns: int) -> None:
    """Draw one legend for all panels below them, in rows of about equal length."""
    count = len(axes.get_legend_handles_labels()[0])
    rows = math.ceil(count / columns) or 1
    legend_below(figure, axes, math.ceil(count / rows) or columns, handlelength=2.6)


def legend_below(figure: "Figure", axes: "Axes", columns: int, **looks: Any) -> None:
    """Draw the legend of one panel below all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, **looks)

"""One colour per agent, the same in every plot; variants of an agent differ by line style.

The ten colours are those of Okabe and Ito (2008) without the yellow, and four darker ones. Readers
with any common colour blindness can tell all of them apart (a test measures this). There are more
agents than colours, so agents that appear in no common scenario may share one.
"""

import zlib
from collections.abc import Mapping
from typing import Any

BLUE, VERMILION, GREEN, PINK, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
SKY, INK, INDIGO, WINE, BROWN = "#56B4E9", "#262626", "#332288", "#882255", "#8C6239"
COLOURS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, INDIGO, WINE, BROWN, INK)
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))

OF_AGENT = {
    # What most studies compare with, all different.
    "gp-ucb": BLUE,
    "ei": VERMILION,
    "ts": SKY,
    "tv-gp-ucb": GREEN,
    "r-gp-ucb": ORANGE,
    "sw-gp-ucb": PINK,
    "rexp3": WINE,
    # time: agents that are not told the drift.
    "bma-gp-ucb": VERMILION,
    "et-gp-ucb": SKY,
    "wgp-ucb": BROWN,
    "ui-tvbo": PINK,
    "bob-gp-ucb": WINE,
    "genie": INDIGO,
    "random": INK,
    # srinivas2010 and bedi2022: the compressed agents are near to what they compress.
    "mpi": GREEN,
    "max-mean": PINK,
    "max-variance": ORANGE,
    "cub": SKY,
    "cei": ORANGE,
    "cmpi": PINK,
    "bkb-ucb": INDIGO,
    "bkb-ei": WINE,
    "bkb-mpi": BROWN,
    # ren2024
    "ts-rsr": WINE,
    "bucb": INDIGO,
    "ucbpe": GREEN,
    "sp": BROWN,
    "qei": ORANGE,
    "dpp-ts": VERMILION,
    # tranthe2020
    "ms-ucb": VERMILION,
    "dropout-ucb": INDIGO,
    "line-bo": GREEN,
    "sre": ORANGE,
    "rembo": PINK,
    "hesbo": WINE,
    "turbo": SKY,
    # Optimisers of other libraries.
    "botorch": BROWN,
    "optuna": SKY,
    "sklearn": PINK,
}
# An agent of the user's own takes one of these by its name, for they are rare above.
RARE = (BROWN, WINE, PINK)
# The shades of many variants reach from this share of black to this share of white.
DARKEST, LIGHTEST = 0.3, 0.55


def colour_of(agent: str) -> str:
    """The colour of a registered agent, or of one of your own ("module:Class")."""
    name = agent.rpartition(":")[2]
    return OF_AGENT.get(name) or RARE[zlib.crc32(name.encode()) % len(RARE)]


def line_styles(agents: Mapping[str, str]) -> dict[str, dict[str, Any]]:
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
        label: {
            "color": _shade(colour, i, len(labels)),
            "linestyle": DASHES[i % len(DASHES)],
        }
        for colour, labels in by_colour.items()
        for i, label in enumerate(labels)
    }


def _shade(colour: str, index: int, count: int) -> str:
    """The index-th of ``count`` shades of a colour, from dark to light; of up to 4, the colour."""
    if count <= len(DASHES):
        return colour
    place = index / (count - 1)
    target, share = (
        (0, DARKEST * (1 - 2 * place)) if place < 0.5 else (255, LIGHTEST * (2 * place - 1))
    )
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(p + share * (target - p)):02X}" for p in parts)

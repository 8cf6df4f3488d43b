"""How objects are displayed in a terminal and in a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from threading import RLock
from typing import Any

import numpy as np


class Displayed:
    """An object displayed as ``Name(fact=value, ...)``, and as a small table in a notebook."""

    __slots__ = ()

    def _facts(self) -> Mapping[str, object]:
        """The values to display, by name; None is left out."""
        return {}

    def _title(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        given = [f"{name}={in_short(value)}" for name, value in _known(self._facts())]
        return f"{self._title()}({', '.join(given)})"

    def _repr_html_(self) -> str:
        rows = [[name.replace("_", " "), in_short(value)] for name, value in _known(self._facts())]
        return html_table([self._title(), ""], rows)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A plain table in HTML; everything is escaped."""
    cell = "<td style='text-align:left'>{}</td>".format
    top, *body = ("".join(cell(escape(text)) for text in row) for row in [head, *rows])
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of words as lines of columns, the first aligned to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
        for row in rows
    ]


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 trial", "2 trials"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_short(value: object) -> str:
    """A short text for a value: long arrays by shape and range, equal entries as one number."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if not isinstance(value, np.ndarray):
        return str(value)
    if value.size and (value == value.flat[0]).all():
        return f"{value.flat[0]:.6g}"
    if value.ndim == 1 and value.size <= 6:
        return f"[{', '.join(f'{number:.6g}' for number in value)}]"
    return (
        f"{' x '.join(map(str, value.shape))} numbers from {value.min():.4g} to {value.max():.4g}"
    )


def _known(facts: Mapping[str, object]) -> list[tuple[str, object]]:
    return [(name, value) for name, value in facts.items() if value is not None]


def progress_bar(**options: Any) -> Any:
    """A bar of tqdm, without its semaphore.

    Python 3.14 says in the terminal that a killed process has left it behind.
    """
    return _bar()(**options)


@cache
def _bar() -> Any:
    """The class of all bars; each class of tqdm starts a thread, which never ends."""
    from tqdm.auto import tqdm

    return type("Bar", (tqdm,), {"_lock": RLock()})

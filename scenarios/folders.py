"""Folders whose modules scenario files name: those beside the files that were read."""

import sys

_ADDED: list[str] = []


def look_in(folder: str) -> None:
    """Find modules in a folder too, after all others: no file there hides an installed module."""
    if folder not in sys.path:
        sys.path.append(folder)
    if folder not in _ADDED:
        _ADDED.append(folder)


def looked_in() -> tuple[str, ...]:
    """The folders so far; a worker that was started before must be told of them."""
    return tuple(_ADDED)

"""Arguments and options that several commands have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
FILES = click.argument("files", nargs=-1, required=True, type=PATH)
JOBS = click.option(
    "--jobs", type=click.IntRange(1), help="Processes; by default one per processor."
)


def agents(help: str) -> Callable[[F], F]:
    """Labels that are separated by commas, as a list."""
    return click.option("--agents", type=_labels, metavar="A,B", help=help)


def trials(help: str) -> Callable[[F], F]:
    """The number of environment instances."""
    return click.option("--trials", type=click.IntRange(1), help=help)


def out(help: str) -> Callable[[F], F]:
    """The file that is written."""
    return click.option("--out", type=PATH, help=help)


def as_json(help: str = "Print JSON.") -> Callable[[F], F]:
    """A flag."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def _labels(text: str) -> list[str]:
    return [label.strip() for label in text.split(",")]

"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Any

import click

PATH = click.Path(path_type=Path)
FILES = click.argument("files", nargs=-1, required=True, type=PATH)
JOBS = click.option(
    "--jobs", type=click.IntRange(1), help="Processes; by default one per processor."
)


def agents(help: str) -> Any:
    """Labels that are separated by commas, as a list."""
    return click.option("--agents", type=_labels, metavar="A,B", help=help)


def trials(help: str) -> Any:
    """The number of environment instances."""
    return click.option("--trials", type=click.IntRange(1), help=help)


def out(help: str) -> Any:
    """The file that is written."""
    return click.option("--out", type=PATH, help=help)


def as_json(help: str = "Print JSON.") -> Any:
    """A flag."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def _labels(text: str) -> list[str]:
    return [label.strip() for label in text.split(",")]

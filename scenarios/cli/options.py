"""Arguments and options that several commands have; a command adds what ``help`` says."""

from functools import partial
from pathlib import Path

import click


def _labels(text: str) -> list[str]:
    return [label.strip() for label in text.split(",")]


PATH = click.Path(path_type=Path)
FILES = click.argument("files", nargs=-1, required=True, type=PATH)
JOBS = click.option(
    "--jobs", type=click.IntRange(1), help="Processes; by default one per processor."
)
# Labels that are separated by commas, as a list.
agents = partial(click.option, "--agents", type=_labels, metavar="A,B")
# The number of environment instances.
trials = partial(click.option, "--trials", type=click.IntRange(1))
# The file that is written.
out = partial(click.option, "--out", type=PATH)
settings = partial(click.option, "--set", "settings", metavar="NAME=VALUE", multiple=True)
as_json = partial(click.option, "--json", "as_json", is_flag=True, help="Print JSON.")

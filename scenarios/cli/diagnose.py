"""`gpbandits diagnose`: what can be learned from data before a run."""

import json
from pathlib import Path

import click
import numpy as np

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.errors import one_of
from gpbandits_env.gp.learning import Diagnosis
from gpbandits_env.gp.learning import diagnose as judge
from gpbandits_env.rewards.datasets import FILE_OPTIONS, hours, read_table
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.declare import with_digits
from gpbandits_env.scenarios.study.files import parse_settings, toml_value

# The agent whose setting a recommended model is; GP-UCB for the others.
AGENT_FOR = {"epsilon": "tv-gp-ucb", "reset_every": "r-gp-ucb"}
DIGITS = 4  # of numbers that a person types
PER_HOUR = {"minute": "60.0 * ", "second": "3600.0 * "}


@click.command()
@click.argument("file", type=options.PATH)
@click.option("--time-column", metavar="NAME", help="Name of the column of time stamps.")
@options.settings(help="How FILE is read: an option of text files.")
@options.as_json(help="Print everything as JSON.")
def diagnose(
    file: Path,
    time_column: str | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Estimate whether the readings in FILE drift, how fast, and which model to use.

    FILE is a CSV file with one row per time and one column per arm. Its first line may contain the
    names of the columns. Its first column may contain dates; epsilon is then per hour, or per
    minute or second if rows follow each other faster, and also per row, because environments count
    rows. Empty cells are gaps. Commas, semicolons or tabs separate the cells.

    \b
    Examples:
      gpbandits diagnose readings.csv
      gpbandits diagnose readings.csv --time-column hour --json
      gpbandits diagnose messung.csv --set encoding=latin-1 --set decimal=, --set na_values=---
    """
    given: Plain = {"time_column": time_column, "gaps": "keep"} | parse_settings(settings)
    for name in given:
        one_of(name, FILE_OPTIONS, "option of a file of readings")
    readings = read_table(file, **given)
    times, unit, stamps = None, "row", ""
    if readings.times is not None:
        times, unit = hours(readings.times), "unit of time"
        if readings.times.dtype.kind == "M":
            times, unit = in_unit(times)
        stamps = f", {PER_HOUR.get(unit, '')}hours(readings.times)"
    how = "".join(f", {key}={value!r}" for key, value in given.items() if value is not None)
    source = [  # what is done here, in Python
        f"  readings = read_table({str(file)!r}{how})  # as hours: gpbandits_env.rewards.datasets",
        f"  found = diagnose(readings.values{stamps})  # gpbandits_env.gp.learning",
    ]
    found = judge(readings.values, times)
    text = f"{readings.values.shape[1]} arms, {table(found, unit, source)}"
    click.echo(json.dumps(found.to_dict(), indent=2) if as_json else text)


def in_unit(times: Array) -> tuple[Array, str]:
    """Times in hours, or in minutes or seconds if rows follow each other faster, and the unit.

    Epsilon is at most 0.999 per unit of time, which is slow if many rows lie in one unit.
    """
    gaps = np.diff(times)
    gap = float(np.median(gaps[gaps > 0.0])) if gaps.any() else 1.0
    for unit, count in (("hour", 1.0), ("minute", 60.0)):
        if gap * count > 0.99:
            return times * count, unit
    return times * 3600.0, "second"


def table(found: Diagnosis, unit: str, source: list[str]) -> str:
    """The result of `diagnose` in a unit of time, for a terminal; ``source`` has it in Python."""
    lines = [
        f"{found.rows[0]} rows to learn from, {found.rows[1]} to test on",
        f"epsilon    {_interval(found.epsilon, *found.interval, unit)}",
        *([] if unit == "row" else [f"           {_interval(*found.per_row, 'row')}"]),
        *([f"           {found.unknown}"] if found.unknown else []),
        f"noise_var  {found.noise_var:.4g}",
        "",
        f"  {'model':<18} epsilon   resets every     log score/reading  in the 95% band",
    ]
    for m in found.models:
        rows = "never" if m.block is None else f"{m.block} rows"
        lines.append(
            f"  {m.name:<18} {m.epsilon:<9.4g} {rows:<14} {m.log_score:>19.4f} {m.coverage:>16.1%}"
        )
    kernels = {m.name: m.temporal for m in found.models if m.temporal is not None}
    lines += ["", *(f"  {name}: temporal={kernel}" for name, kernel in kernels.items())]
    lines += ["", f"recommended: {found.recommended}, because {found.reason}"]
    return "\n".join([*lines, *_use(found, unit, source)])


def _interval(epsilon: float, low: float, high: float, unit: str) -> str:
    return f"{epsilon:.4g} per {unit} (95% interval {low:.4g} to {high:.4g})"


def _use(found: Diagnosis, unit: str, source: list[str]) -> list[str]:
    """The lines to type for the recommended model: in rounds, and in units of time."""
    (model,) = (m for m in found.models if m.name == found.recommended)
    settings = with_digits(model.settings, DIGITS)
    if "kernel" in settings:  # it has the covariance of all arms
        made = '  agents.make("gp-ucb", env, **found.models[-1].settings'
        lines = ["where a round is a row (Replay-v0), in Python:", *source, f"{made})"]
        timed_too = [*lines, _clocked(unit), made + ' | {"temporal": found.models[-1].temporal})']
        return lines if unit == "row" else timed_too
    agent = AGENT_FOR.get(next(iter(settings), ""), "gp-ucb")
    given = "".join(f", {key}={value!r}" for key, value in settings.items())
    lines = [
        "where a round is a row (Replay-v0):",
        f'  Python  agents.make("{agent}", env{given})',
        f'  TOML    agent = "{agent}"',
        f"          settings = {toml_value(settings)}",
    ]
    if unit == "row" or not settings or "reset_every" in settings:
        return lines
    key = "epsilon" if "epsilon" in settings else "temporal"
    return [*lines, _clocked(unit), f"  {key}={with_digits(getattr(model, key), DIGITS)!r}"]


def _clocked(unit: str) -> str:
    return f"with time stamps, or a clock (its unit: one {unit}):"

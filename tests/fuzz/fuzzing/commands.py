"""Bad command lines, in a folder of their own."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from fuzzing.case import Case, Refused
from fuzzing.studies import TOML, contents, empty, good_store
from fuzzing.values import near_miss, pick

from gpbandits_env.scenarios.cli import main

READINGS = "hour,a,b\n" + "".join(f"{t},{t % 5},{(t * t) % 7}.5\n" for t in range(24))
# Command lines that are right, or wrong in one place already where the right one would take long.
RUN = ["run", "small.toml", "--trials", "1", "--horizon", "2", "--jobs", "1", "--out", "x.sqlite"]
LINES: tuple[list[str], ...] = (
    [*RUN, "--agents", "random", "--seed", "3"],
    [*RUN, "--engine", "local", "--fresh"],
    ["report", "good.sqlite", "--metric", "simple_regret", "--json"],
    ["report", "bad.sqlite", "good.sqlite"],
    ["plot", "cut.sqlite", "--out", "p", "--log"],
    ["export", "good.sqlite", "--out", "x.csv"],
    ["export", "bad.sqlite", "--out", "x.parquet"],
    ["compare", "good.sqlite", "good.sqlite", "--metric", "simple_regret", "--json"],
    ["compare", "good.sqlite", "--agents", "random", "--baseline", "random", "--json"],
    ["compare", "good.sqlite", "bad.sqlite", "--json"],
    ["list", "srinivas2010/se-1d"],
    ["data", "--download", "nothing"],
    ["new", "fresh.toml", "--force"],
    ["new", "small.toml"],
    ["diagnose", "readings.csv", "--time-column", "hour"],
    ["diagnose", "ragged.csv", "--json"],
    ["reference", "srinivas2010/nothing"],
    ["agents"],
    ["tasks"],
)
TOKENS = (
    *("", " ", "x", "-1", "0", "1.5", "nan", "inf", "-inf", "1e400", "10" * 40, "true", "None"),
    *("--", "-", "--x", "-h", "--version", "é\u202e\U0001f600", "a\nb", "a,b,,", ",", "all"),
    *("missing.sqlite", "missing.toml", "bad.sqlite", "cut.sqlite", "bad.toml", "good.sqlite"),
    *("readings.csv", "ragged.csv", "folder", "folder/x", "small.toml/x", "/dev/null/x", "."),
    *("srinivas2010/", "srinivas2010/se-1", "gp-ucb", "nobody", "a" * 300),
    *("{}", "[]", "simple_regret", "x.toml", "x.csv", "\udcff"),
)


def _files(folder: Path) -> None:
    """What the command lines speak of."""
    empty(folder)
    good = good_store()
    (folder / "good.sqlite").write_bytes(good)
    (folder / "bad.sqlite").write_bytes(good[:3000] + b"\x07" * 3000 + good[6000:])
    (folder / "cut.sqlite").write_bytes(good[: len(good) // 2])
    (folder / "small.toml").write_text(TOML, encoding="utf-8")
    (folder / "bad.toml").write_text(TOML.replace("tv-gp-ucb", "tv"), encoding="utf-8")
    (folder / "readings.csv").write_text(READINGS, encoding="utf-8")
    (folder / "ragged.csv").write_text(READINGS + "1,2\nx,y,z\n", encoding="utf-8")
    (folder / "folder").mkdir()


def command_case(rng: np.random.Generator, folder: Path) -> Case:
    """A command line with a word that is wrong, missing or too many."""
    words = list(pick(rng, LINES))
    place, action = int(rng.integers(len(words))), rng.random()
    safe = words[0] in ("run", "reference")
    if action < 0.1:
        words.insert(place, str(pick(rng, TOKENS)))
    elif action < 0.2 and len(words) > 1:
        del words[place]
    elif action < 0.45:
        words[place] = near_miss(rng, words[place])
    elif words[0] not in ("agents", "tasks"):
        words[max(place, 1) if safe else place] = str(pick(rng, TOKENS))
    if not (folder / "good.sqlite").exists():
        _files(folder)

    def use(_: Any) -> None:
        _files(folder)

    return Case(
        "gpbandits", words, lambda: _invoked(words, folder), lambda: contents(folder), use=use
    )


def _invoked(words: list[str], folder: Path) -> str:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(main, words)
    if result.exit_code == 0:
        return str(result.output)
    if isinstance(result.exception, SystemExit):
        if result.exit_code == 2 and result.output.strip():
            raise Refused(result.output)
        raise RuntimeError(f"exit code {result.exit_code}: {result.output}")
    assert result.exception is not None
    raise result.exception

"""What a suite keeps of an agent's trials on a problem, and the files of these rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.scenarios.results.evidence import of_planes, planes, reading, write_arrays

# The name of a file of rows in its folder.
FILE = "rows.npz"
# The number of rounds at which regret is kept.
POINTS = 30
# The significant bits of regret: a relative error of at most 2^-11.
BITS = 11


@dataclass(frozen=True, eq=False)
class Row:
    """An agent on a problem.

    Args:
        agent: its label.
        problem: the id of the problem, such as "core-v1/se-noisy".
        rounds: (k,) log-spaced rounds, from 1 to the horizon.
        regret: (trials, k) the problem's metric after these rounds: average regret, or simple
            regret in boxes without noise; lower is better. Kept to about three digits.
        seconds: the time per round, asking and telling, of the median trial.
        settings: the hash of the agent and its settings.
        digests: (trials,) the first 4 bytes of the hash of the exact regret of every round.
        frozen: the hash of the problem.
        version: the version of this library.
        machine: the processor, the BLAS and other libraries of the agent: digests depend on them.
    """

    agent: str
    problem: str
    rounds: IntArray
    regret: Array
    seconds: float
    settings: str
    digests: IntArray = field(default_factory=lambda: np.zeros(0, np.uint32))
    frozen: str = ""
    version: str = ""
    machine: str = ""

    @property
    def trials(self) -> int:
        """The number of trials."""
        return len(self.regret)

    def first(self, trials: int) -> Self:
        """The row of the first trials alone."""
        return replace(self, regret=self.regret[:trials], digests=self.digests[:trials])

    def begins_with(self, other: Self) -> bool:
        """Whether its first trials are all those of another row."""
        return np.array_equal(self.digests[: other.trials], other.digests)


# (agent, problem) -> its row.
Field = Mapping[tuple[str, str], Row]

_PLAIN = ("agent", "problem", "seconds", "settings", "frozen", "version", "machine", "trials")


def log_spaced(horizon: int) -> IntArray:
    """At most `POINTS` different rounds, from 1 to the horizon: (k,)."""
    return np.unique(np.geomspace(1, horizon, POINTS).round().astype(np.int64))


def save(file: Path, rows: Iterable[Row]) -> None:
    """Write rows to a file, which is complete or absent, and the same bytes for the same rows."""
    rows = sorted(rows, key=lambda row: (row.agent, row.problem))
    about = [
        {name: getattr(row, name) for name in _PLAIN} | {"rounds": row.rounds.tolist()}
        for row in rows
    ]
    flat = np.concatenate([np.zeros(0), *(row.regret.ravel() for row in rows)])
    digests = np.concatenate([np.zeros(0, np.uint32), *(row.digests for row in rows)])
    write_arrays(file, about, regret=planes(flat, BITS), digests=digests)


def load(file: Path | Traversable) -> dict[tuple[str, str], Row]:
    """The rows of a file; none if there is no such file.

    Raises:
        StoreError: the file is damaged, or not one of these.
    """
    found: dict[tuple[str, str], Row] = {}
    if not file.is_file():
        return found
    cure = "remove it, and 'gpbandits suite run' writes it"
    with reading(file, "a suite's rows", cure) as (about, kept):
        regret, digests = of_planes(kept["regret"], BITS).astype(np.float64), kept["digests"]
        for each in about:
            trials, rounds = each.pop("trials"), np.array(each.pop("rounds"))
            size = trials * len(rounds)
            block, regret = regret[:size].reshape(trials, len(rounds)), regret[size:]
            own, digests = digests[:trials], digests[trials:]
            row = Row(**each, rounds=rounds, regret=block, digests=own)
            found[row.agent, row.problem] = row
    return found

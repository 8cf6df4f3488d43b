"""Evidence: the values of every trial by which the claims of a paper are judged.

They are the reference results of a scenario. `reference/ID.npz` holds for every cell, agent and
trial the quantities of `QUANTITIES` at some rounds, the independent unit to which each trial
belongs, and what else a claim measures, so that a claim can be judged again without running the
trials again. It is made by `python -m tools.reference SCENARIO`.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, IntArray, Plain
from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.files import writing
from gpbandits_env.scenarios.metrics import FLOOR
from gpbandits_env.scenarios.results.curves import along, optimum_moves
from gpbandits_env.scenarios.results.report import mean_and_error
from gpbandits_env.scenarios.results.store import Store

# The curves that are kept.
QUANTITIES = ("average_regret", "simple_regret", "model_order", "evaluations")
# The significant bits of what is kept: a relative error of at most 2^-15.
BITS = 15
# More trials than these are kept at some rounds, or at few, so that a file stays small.
SOME, MANY = 25, 500

# What reading a damaged or a foreign file may raise.
FOREIGN = (BadZipFile, EOFError, LookupError, LZMAError, OSError, TypeError, ValueError)

# What is measured in an agent's trials in a cell: (store, cell, label) -> name -> (trials, ...).
Measure = Callable[[Store, int, str], Mapping[str, Array]]
# The independent unit of each trial in a cell: (store, cell) -> (trials,).
Units = Callable[[Store, int], IntArray]


@dataclass(frozen=True)
class Evidence:
    """The values of one scenario.

    Args:
        rounds: (k,) the rounds at which quantities are kept, the last being the horizon.
        points: the parameters of each cell.
        values: (cell, agent, quantity) -> (trials, k), or (trials, ...) for a measure of a claim.
        units: cell -> (trials,), the same number for trials that are not independent.
        batch: cell -> the actions per round, if they are several.
        study: the "seed", whether the "optimum_moves", the "versions" and the "machine" on which
            results depend, and the "digest" of all results.
    """

    rounds: IntArray
    points: list[Plain]
    values: dict[tuple[int, str, str], Array]
    units: dict[int, IntArray] = field(default_factory=dict)
    batch: dict[int, int] = field(default_factory=dict)
    study: Plain = field(default_factory=dict)

    @property
    def trials(self) -> int:
        """The number of trials that all agents have."""
        return min(map(len, self.values.values()))

    @property
    def horizon(self) -> int:
        """The number of rounds."""
        return int(self.rounds[-1])

    def labels(self, cell: int) -> list[str]:
        """The agents of a cell."""
        return list(dict.fromkeys(label for at, label, _ in self.values if at == cell))

    def curve(self, cell: int, label: str, metric: str) -> Array:
        """A quantity or a metric made of one, at the rounds kept: (trials, k)."""
        if metric == "cumulative_regret":
            actions = self.rounds * self.batch.get(cell, 1)
            return self.curve(cell, label, "average_regret") * actions
        if metric == "log10_simple_regret":
            return np.log10(np.maximum(self.curve(cell, label, "simple_regret"), FLOOR))
        return np.asarray(self.values[cell, label, metric], np.float64)

    def summary(self, cell: int, label: str, metric: str) -> tuple[float, float]:
        """The mean over the trials after the last round, and its standard error."""
        mean, se = mean_and_error(self.curve(cell, label, metric)[:, -1])
        return float(mean), float(se)


def by_unit(values: Array, units: IntArray) -> Array:
    """The mean of each unit's trials: (trials, ...) -> (units, ...)."""
    _, of, counts = np.unique(units, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(sums, of, values)
    return sums / counts.reshape(-1, *(1,) * (values.ndim - 1))


def rounds_kept(horizon: int, trials: int) -> IntArray:
    """The rounds at which curves are kept: quarters; with fewer trials also powers, and twelfths.

    Of many powers it is every second one before the last.
    """
    parts = np.ceil(horizon * np.arange(1, 5) / 4)
    powers = np.round(np.geomspace(1, horizon, 12))
    if trials <= SOME:
        parts = np.concatenate([parts, powers, np.round(horizon * np.arange(1, 13) / 12)])
    elif trials <= MANY:
        parts = np.concatenate([parts, powers[:-2:2]])
    return np.unique(parts[parts >= 1]).astype(np.int64)


def gather(
    store: Store, measures: tuple[Measure, ...] = (), units: Units | None = None
) -> Evidence:
    """The evidence in an open results file; simple regret only where the optimum stays.

    Of each agent, the trials before the first one that is missing count.

    Raises:
        InvalidInput: the cells differ in their horizon.
    """
    moves, scenario = optimum_moves(store), store.scenario
    horizons = {scenario["points"][c].get("horizon", scenario["horizon"]) for c in store.cells()}
    if len(horizons) > 1:
        raise InvalidInput(
            f"{store.path} has trials of {min(horizons)} to {max(horizons)} rounds, and values are "
            "compared after the same rounds: run each horizon into a file of its own, such as with "
            f"'--set horizon={max(horizons)}'"
        )
    counts = dict[tuple[int, str], int]()
    for cell in store.cells():
        for label in store.labels(cell):
            counts[cell, label] = sum(i == t for i, t in enumerate(store.trials(cell, label)))
    rounds = rounds_kept(horizons.pop(), min(counts.values()))
    names = [n for n in QUANTITIES if n != "simple_regret" or not moves]
    found: dict[tuple[int, str, str], Array] = {}
    batch: dict[int, int] = {}
    for (cell, label), count in counts.items():
        m = store.arrays(cell, label, "regret").shape[2]
        batch |= {cell: m} if m > 1 else {}
        values = {name: along(store, cell, label, name)[:, rounds - 1] for name in names}
        for measure in measures:
            values.update(measure(store, cell, label))
        for name, each in values.items() if count else ():
            found[cell, label, name] = np.asarray(each[:count], np.float32)
    of = {cell: units(store, cell) for cell in store.cells()} if units else {}
    study = {
        "seed": store.scenario["seed"],
        "optimum_moves": moves,
        "versions": store.meta("versions"),
        "machine": {k: v for k, v in store.meta("machine").items() if k != "system"},
        "digest": store.digest(),
    }
    return Evidence(rounds, store.scenario["points"], found, of, batch, study)


def changed(kept: Evidence, now: Evidence) -> list[str]:
    """What makes two results those of different experiments: their means are not comparable."""

    def of(result: Evidence) -> Plain:
        study = {name: result.study.get(name) for name in ("seed", "optimum_moves")}
        return {"horizon": result.horizon, "cells": result.points, **study}

    old, new = of(kept), of(now)
    return [f"{name}: {new[name]}, reference {old[name]}" for name in old if old[name] != new[name]]


def differences(kept: Evidence, now: Evidence) -> list[str]:
    """Where the trials that both have differ: cell, agent, quantity and the first such trial.

    Differences of the rounding with which values are kept do not count.
    """
    found, shared = [], np.intersect1d(kept.rounds, now.rounds)
    for cell, point in enumerate(kept.points):
        where = f", {point}" if point else ""
        gone = [label for label in kept.labels(cell) if label not in now.labels(cell)]
        found += [f"{label}{where}: the scenario no longer has this agent" for label in gone]
    for (cell, label, name), values in now.values.items():
        if name not in QUANTITIES:
            continue
        if (cell, label, name) not in kept.values:
            found.append(f"{label}, {name}: no values are kept")
            continue
        old = kept.values[cell, label, name][:, np.isin(kept.rounds, shared)]
        n = min(len(old), len(values))
        new = rounded(values[:n, np.isin(now.rounds, shared)])
        tiny = 1e-9 * np.nan_to_num(np.abs(old)).max()  # trials under a clock end early, in NaN
        same = np.isclose(new, old[:n], rtol=2.0 ** (1 - BITS), atol=tiny, equal_nan=True).all(1)
        if not same.all():
            where = f", {kept.points[cell]}" if kept.points[cell] else ""
            first = f"{n - same.sum()} of {n} trials, the first being {same.argmin()}"
            found.append(f"{label}, {name}{where}: {first}")
    return found


def rounded(values: Array, bits: int = BITS) -> Array:
    """Values to some significant bits, of a relative error of at most 2^-bits; these compress."""
    fractions, exponents = np.frexp(np.asarray(values, np.float32).astype(np.float64))
    return np.ldexp(np.round(np.ldexp(fractions, bits)), exponents - bits)


def planes(values: Array, bits: int = BITS) -> NDArray[np.uint8]:
    """Numbers as `rounded` gives them, without the bits that are 0, by significance: (3, n)."""
    whole = rounded(values, bits).astype("<f4").view("<u4") >> np.uint32(24 - bits)
    return np.ascontiguousarray(whole.view(np.uint8).reshape(-1, 4).T[:3])


def of_planes(found: NDArray[np.uint8], bits: int = BITS) -> NDArray[np.float32]:
    """The numbers that `planes` took apart, (n,)."""
    whole = np.zeros((found.shape[1], 4), np.uint8)
    whole[:, :3] = found.T
    return (whole.view("<u4").ravel() << np.uint32(24 - bits)).view("<f4")


def write_arrays(path: Path, about: Any, **arrays: NDArray[Any]) -> None:
    """Write arrays and plain data to a file that `np.load` reads: same bytes for the same data."""
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with writing(path, "evidence") as part, ZipFile(part, "w", ZIP_LZMA) as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array)


def save(evidence: Evidence, path: Path) -> str:
    """Write evidence to a file, the values of a quantity together; returns the path as text."""
    names = list(dict.fromkeys(name for *_, name in evidence.values))
    kept = sorted(evidence.values.items(), key=lambda item: names.index(item[0][2]))
    about = {
        "rounds": evidence.rounds.tolist(),
        "points": evidence.points,
        "units": {cell: of.tolist() for cell, of in evidence.units.items()},
        "batch": evidence.batch,
        "study": evidence.study,
        "values": [[*key, array.shape] for key, array in kept],
    }
    flat = [np.zeros(0), *(array.ravel() for _, array in kept)]
    write_arrays(path, about, values=planes(np.concatenate(flat)))
    return str(path)


@contextmanager
def reading(file: Path | Traversable, kind: str, cure: str) -> Iterator[tuple[Any, Any]]:
    """The plain data and the arrays of a file; StoreError if the block cannot read them."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as kept:
            yield json.loads(kept["about"].tobytes()), kept
    except FOREIGN as error:
        said = f"is not a file of {kind}, or is damaged ({type(error).__name__})"
        raise StoreError(f"{file} {said}; {cure}") from None


def load(id: str, package: Traversable | None = None) -> Evidence | None:
    """The evidence of a scenario, from another folder if given; None if there is none.

    Raises:
        StoreError: the file is damaged, or of another version.
    """
    file = (package or files("gpbandits_env.scenarios")).joinpath(f"reference/{id}.npz")
    if not file.is_file():
        return None
    cure = f"'python -m tools.reference {id}' makes it anew"
    with reading(file, "kept values of this version", cure) as (about, kept):
        values, flat = dict[tuple[int, str, str], Array](), of_planes(kept["values"])
        for *key, shape in about["values"]:
            size = math.prod(shape)
            values[*key], flat = flat[:size].reshape(shape), flat[size:]
        units = {int(cell): np.array(of) for cell, of in about["units"].items()}
        batch = {int(cell): m for cell, m in about["batch"].items()}
        rounds = np.array(about["rounds"])
        return Evidence(rounds, about["points"], values, units, batch, about["study"])

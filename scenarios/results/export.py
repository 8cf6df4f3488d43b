"""Results as tables for other tools: one row an action of a round.

Seconds are those of the whole round, on each of its rows. Actions are there if they were kept.
"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.errors import require_extra
from gpbandits_env.scenarios.metrics import METRICS
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.records import SECONDS_FIELDS, TrialKey
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.results.store_errors import writing


def export_csv(store: Store, path: Path) -> int:
    """Write all rounds of a store as CSV; returns the number of rows.

    Raises:
        StoreError: the file cannot be written.
    """
    count = 0
    with _in_the_end(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for index, table in enumerate(_tables(store)):
            if index == 0:
                writer.writerow(table)
            writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
            count += len(table["round"])
    return count


def export_parquet(store: Store, path: Path) -> int:
    """Write all rounds of a store as Parquet; returns the number of rows.

    Raises:
        MissingExtra: pyarrow is not installed.
        StoreError: the file cannot be written.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise require_extra("pyarrow", "parquet") from None
    count, writer = 0, None
    with _in_the_end(path) as part:
        try:
            for columns in _tables(store):
                table = pyarrow.table(columns)
                writer = writer or pyarrow.parquet.ParquetWriter(part, table.schema)
                writer.write_table(table)
                count += len(columns["round"])
        finally:
            if writer is not None:
                writer.close()
    return count


@contextmanager
def _in_the_end(path: Path) -> Iterator[Path]:
    """A temporary file that replaces the file to write only after everything succeeded."""
    with writing(path):
        part = path.with_name(f"{path.name}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield part
            if part.exists():
                part.replace(path)
        except ValueError as error:  # of a writer
            raise OSError(str(error)) from None
        finally:
            part.unlink(missing_ok=True)


def _tables(store: Store) -> Iterator[dict[str, NDArray[Any]]]:
    """One table a trial: column name -> values; the same columns for all."""
    points = store.scenario["points"]
    for cell, params in enumerate(points):
        for label in store.labels(cell):
            curves = {name: curves_of(store, cell, label, name) for name in METRICS}
            for name in SECONDS_FIELDS:
                curves[f"{name}_seconds"] = store.seconds(cell, label, name)
            for i, trial in enumerate(store.trials(cell, label)):
                mine = {name: curve[i] for name, curve in curves.items()}
                yield _table(store, TrialKey(cell, label, trial), params, mine)


def _table(
    store: Store, key: TrialKey, params: dict[str, Any], curves: dict[str, Array]
) -> dict[str, NDArray[Any]]:
    regret = store.array(key, "regret")
    rounds, batch = regret.shape
    rows = rounds * batch
    table = {name: np.full(rows, value) for name, value in params.items()}
    table |= {
        "agent": np.full(rows, key.agent),
        "trial": np.full(rows, key.trial),
        "round": np.repeat(np.arange(1, rounds + 1), batch),
        "slot": np.tile(np.arange(batch), rounds),
    }
    if store.has(key, "actions"):
        actions = store.array(key, "actions").reshape(rows, -1)
        count = actions.shape[1]
        names = ["action"] if count == 1 else [f"x{i}" for i in range(count)]
        table |= dict(zip(names, actions.T, strict=True))
    for name, source in (("reward", "rewards"), ("value", "values"), ("regret", "regret")):
        table[name] = store.array(key, source).ravel()
    for name in ("optimum", "model_order", "evaluations"):
        table[name] = np.repeat(store.array(key, name), batch)
    for name, curve in curves.items():
        table[name] = np.repeat(curve, batch)
    return table

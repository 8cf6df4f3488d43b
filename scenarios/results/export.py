"""Results as tables for other tools: one row per action of a round.

A table has the columns of all cells of the grid. An entry is empty (CSV) or null (Parquet) if a
trial has no such value: a parameter that is not swept there, a coordinate beyond its dimension, or
an action that was not kept. Each row of a round has the seconds of the whole round.
"""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.errors import StoreError, optional
from gpbandits_env.files import writing
from gpbandits_env.scenarios.metrics import METRICS
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.records import SECONDS_FIELDS, TrialKey
from gpbandits_env.scenarios.results.store import Store

KEY = {"agent": str, "trial": int, "round": int, "slot": int}
ROUNDS = {"reward": "rewards", "value": "values", "regret": "regret"}
PER_ROUND = {"optimum": float, "model_order": int, "evaluations": int}
CURVES = (*METRICS, *(f"{name}_seconds" for name in SECONDS_FIELDS))
# The types of pandas whose columns may have missing entries.
NULLABLE = {str: "string", int: "Int64", float: "Float64", bool: "boolean"}
# A spreadsheet evaluates a cell that begins with one of these as a formula.
FORMULA = r"^[=+\-@\t\r]"


def export_csv(store: Store, path: Path) -> int:
    """Write all rounds of a results file as CSV, and return the number of rows.

    Words that a spreadsheet would evaluate as a formula get a leading apostrophe.

    Raises:
        MissingExtra: pandas is not installed.
        InvalidInput: the path is that of the results, or of a file that is not an exported table.
        StoreError: the file cannot be written.
    """
    frames, count = _typed_frames(store), 0
    with (
        writing(path, "csv", [store.path]) as part,
        part.open("w", newline="", encoding="utf-8") as file,
    ):
        for i, frame in enumerate(frames):
            frame.columns = frame.columns.str.replace(FORMULA, r"'\g<0>", regex=True)
            harmless = frame.replace(FORMULA, r"'\g<0>", regex=True)
            harmless.to_csv(file, index=False, header=i == 0, lineterminator="\r\n")
            count += len(frame)
    return count


def export_parquet(store: Store, path: Path) -> int:
    """Write all rounds of a results file as Parquet, and return the number of rows.

    Raises:
        MissingExtra: pyarrow or pandas is not installed.
        InvalidInput: the path is that of the results, or of a file that is not a Parquet table.
        StoreError: the file cannot be written.
    """
    pyarrow, parquet = (optional(name, "parquet") for name in ("pyarrow", "pyarrow.parquet"))
    frames, count = _typed_frames(store), 0
    schema = pyarrow.Schema.from_pandas(next(frames), preserve_index=False)
    with writing(path, "parquet", [store.path]) as part:
        try:
            with parquet.ParquetWriter(part, schema) as writer:
                for frame in frames:
                    writer.write_table(pyarrow.Table.from_pandas(frame, schema))
                    count += len(frame)
        except pyarrow.ArrowInvalid as error:
            raise StoreError(f"{path} cannot be written: {error}") from None
    return count


def columns_of(store: Store) -> dict[str, type]:
    """The columns of the exported table -> their type: str, int, float or bool.

    Parameters of the grid come first. A parameter that is neither a word nor a number (a list, or
    values of several types) is written as JSON.
    """
    found: dict[str, type] = {}
    for params in store.scenario["points"]:
        for name, value in params.items():
            column = _column(name)
            kind = type(value) if isinstance(value, (bool, int, float)) else str
            found[column] = _joint(found.get(column, kind), kind)
    actions: dict[str, type] = {}
    for dtype, shape in sorted(store.forms("actions"), key=lambda form: len(form[1])):
        kind = int if np.dtype(dtype).kind in "iu" else float
        for name in _action_columns(int(np.prod(shape[2:]))):
            actions[name] = _joint(actions.get(name, kind), kind)
    curves = dict.fromkeys(CURVES, float)
    return found | KEY | actions | dict.fromkeys(ROUNDS, float) | PER_ROUND | curves


def to_dataframe(store: Store) -> Any:
    """All rounds of a results file as a pandas `DataFrame`, with the columns of `export_csv`.

    Raises:
        MissingExtra: pandas is not installed.
    """
    pandas, columns = optional("pandas", "tables"), columns_of(store)
    frames = list(_frames(store, columns)) or [pandas.DataFrame()]
    return pandas.concat(frames, ignore_index=True).reindex(columns=list(columns))


def _typed_frames(store: Store) -> Iterator[Any]:
    """An empty table, then one per trial, all with the same columns and types."""
    pandas, columns = optional("pandas", "tables"), columns_of(store)
    types = {name: NULLABLE[kind] for name, kind in columns.items()}
    for frame in chain([pandas.DataFrame()], _frames(store, columns)):
        yield frame.reindex(columns=list(columns)).astype(types)


def _frames(store: Store, columns: dict[str, type]) -> Iterator[Any]:
    """One table per trial, with the columns that it has."""
    pandas = optional("pandas", "tables")
    for cell, params in enumerate(store.scenario["points"]):
        shared = {_column(name): value for name, value in params.items()}
        for name, value in shared.items():
            if columns[name] is str and not isinstance(value, str):
                shared[name] = json.dumps(value)
        for label in store.labels(cell):
            curves = {name: curves_of(store, cell, label, name) for name in METRICS}
            for name in SECONDS_FIELDS:
                curves[f"{name}_seconds"] = store.seconds(cell, label, name)
            for i, trial in enumerate(store.trials(cell, label)):
                mine = {name: curve[i] for name, curve in curves.items()}
                table = _table(store, TrialKey(cell, label, trial), mine)
                yield pandas.DataFrame(shared | table)


def _table(store: Store, key: TrialKey, curves: dict[str, Array]) -> Plain:
    rounds, batch = store.array(key, "regret").shape
    table: Plain = {
        "agent": key.agent,
        "trial": key.trial,
        "round": np.repeat(np.arange(1, rounds + 1), batch),
        "slot": np.tile(np.arange(batch), rounds),
    }
    if store.has(key, "actions"):
        actions = store.array(key, "actions").reshape(rounds * batch, -1)
        table |= dict(zip(_action_columns(actions.shape[1]), actions.T, strict=True))
    table |= {name: store.array(key, source).ravel() for name, source in ROUNDS.items()}
    per_round = {name: store.array(key, name) for name in PER_ROUND} | curves
    return table | {name: np.repeat(values, batch) for name, values in per_round.items()}


def _action_columns(count: int) -> list[str]:
    return ["action"] if count == 1 else [f"x{i}" for i in range(count)]


def _column(name: str) -> str:
    """The column of a parameter, whose name may be that of another column."""
    taken = name in (*KEY, *ROUNDS, *PER_ROUND, *CURVES, "action")
    return f"grid.{name}" if taken or (name[:1] == "x" and name[1:].isdigit()) else name


def _joint(a: type, b: type) -> type:
    """A type for values of both types: a number if both are numbers, otherwise str."""
    return a if a is b else float if {a, b} == {int, float} else str

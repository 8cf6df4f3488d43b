"""Results as tables for other tools: one row per action of a round.

A table has the columns of all cells of the grid. An entry is empty (CSV) or null (Parquet) if an
agent has no such value: a parameter that is not swept there, a coordinate beyond its dimension, or
an action that was not kept. Each row of a round has the seconds of the whole round.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.arrays import Plain
from gpbandits_env.errors import InvalidInput, StoreError, optional
from gpbandits_env.files import writing
from gpbandits_env.scenarios.metrics import METRICS
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.records import SECONDS_FIELDS
from gpbandits_env.scenarios.results.store import Store

KINDS = ("csv", "parquet")
KEY = ("agent", "trial", "round", "slot")
ROUNDS = {"reward": "rewards", "value": "values", "regret": "regret"}
PER_ROUND = ("optimum", "model_order", "evaluations")
CURVES = (*METRICS, *(f"{name}_seconds" for name in SECONDS_FIELDS))
# The types of pandas whose columns may have missing entries, by the kind of NumPy's type.
NULLABLE = {"i": "Int64", "f": "Float64", "b": "boolean"}
# A spreadsheet evaluates a cell that begins with one of these as a formula.
FORMULA = r"^[=+\-@\t\r]"


def export(store: Store, path: Path) -> int:
    """Write all rounds of a results file as .csv or .parquet, and return the number of rows.

    In CSV, words that a spreadsheet would evaluate as a formula get a leading apostrophe.

    Raises:
        MissingExtra: pyarrow (for Parquet) or pandas is not installed.
        InvalidInput: the path ends in neither, or is that of the results, or of another kind of
            file.
        StoreError: the file cannot be written.
    """
    if (kind := path.suffix[1:]) not in KINDS:
        raise InvalidInput(f"{path} must end in .csv or .parquet; 'compare --latex' prints LaTeX")
    pyarrow: Any = optional("pyarrow", "parquet") if kind == "parquet" else None
    frame = _joined([_nullable(part) for part in _frames(store)], store)
    with writing(path, kind, [store.path]) as part:
        if pyarrow is None:
            frame.columns = frame.columns.str.replace(FORMULA, r"'\g<0>", regex=True)
            harmless = frame.replace(FORMULA, r"'\g<0>", regex=True)
            harmless.to_csv(part, index=False, lineterminator="\r\n")
        else:
            try:
                frame.to_parquet(part, engine="pyarrow", index=False)
            except pyarrow.ArrowInvalid as error:
                raise StoreError(f"{path} cannot be written: {error}") from None
    return len(frame)


def to_dataframe(store: Store) -> Any:
    """All rounds of a results file as a pandas `DataFrame`, with the columns of `export`.

    Raises:
        MissingExtra: pandas is not installed.
    """
    return _joined(list(_frames(store)), store)


def _joined(frames: list[Any], store: Store) -> Any:
    """One table of all trials; a parameter of values of several types is written as JSON."""
    pandas = optional("pandas", "tables")
    frame = pandas.concat(frames or [pandas.DataFrame()], ignore_index=True)
    grid = list(dict.fromkeys(_column(k) for of in store.scenario["points"] for k in of))
    after = (*ROUNDS, *PER_ROUND, *CURVES)
    actions = [name for name in frame if name not in (*grid, *KEY, *after)]
    frame = frame.reindex(columns=[*grid, *KEY, *actions, *after])
    for name in grid:
        kinds = set(map(type, frame[name].dropna()))
        if frame[name].dtype.kind == "O" and kinds - {bool}:  # missing beside these is no word
            frame[name] = frame[name].map(_word, na_action="ignore")
    return frame


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _nullable(frame: Any) -> Any:
    """The same numbers, in types that stay what they are beside missing entries."""
    kinds = {name: NULLABLE.get(kind.kind) for name, kind in frame.dtypes.items()}
    return frame.astype({name: kind for name, kind in kinds.items() if kind})


def _frames(store: Store) -> Iterator[Any]:
    """One table per agent of a cell, with the columns that it has."""
    pandas = optional("pandas", "tables")
    for cell, params in enumerate(store.scenario["points"]):
        shared = {
            _column(name): value if isinstance(value, (bool, int, float)) else _word(value)
            for name, value in params.items()
        }
        for label in store.labels(cell):
            yield pandas.DataFrame(shared | _table(store, cell, label))


def _table(store: Store, cell: int, label: str) -> Plain:
    trials, rounds, batch = store.arrays(cell, label, "regret").shape
    table: Plain = {
        "agent": label,
        "trial": np.repeat(store.trials(cell, label), rounds * batch),
        "round": np.tile(np.repeat(np.arange(1, rounds + 1), batch), trials),
        "slot": np.tile(np.arange(batch), trials * rounds),
    }
    if store.has(cell, label, "actions"):
        actions = store.arrays(cell, label, "actions").reshape(trials * rounds * batch, -1)
        one = actions.shape[1] == 1
        table |= {"action" if one else f"x{i}": column for i, column in enumerate(actions.T)}
    table |= {name: store.arrays(cell, label, kept).ravel() for name, kept in ROUNDS.items()}
    per_round = {name: store.arrays(cell, label, name) for name in PER_ROUND}
    per_round |= {name: curves_of(store, cell, label, name) for name in METRICS}
    per_round |= {f"{name}_seconds": store.seconds(cell, label, name) for name in SECONDS_FIELDS}
    return table | {name: np.repeat(values, batch) for name, values in per_round.items()}


def _column(name: str) -> str:
    """The column of a parameter, whose name may be that of another column."""
    taken = name in (*KEY, *ROUNDS, *PER_ROUND, *CURVES, "action")
    return f"grid.{name}" if taken or (name[:1] == "x" and name[1:].isdigit()) else name

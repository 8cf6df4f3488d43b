"""Tables of numbers: readings of many sensors at many times, from arrays and files."""

import gzip
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import LARGEST, Array, IntArray, frozen, numbers
from gpbandits_env.errors import InvalidInput, MissingData

SUFFIXES = (".csv", ".csv.gz", ".npy", ".npz")


@dataclass(frozen=True, eq=False)
class Readings:
    """A table of readings, one row a time and one column a sensor.

    Args:
        name: the data set's name.
        values: (rows, n) finite readings, in time order; kept read-only.
        days: (rows,) the number of the day each row belongs to, never falling, from 0.
        labels: (n,) the sensors' names.
        unit: of a reading.
        source: who measured it, to be named in what is published.
        licence: the terms of use.
        locations: (n, 2) east and north, in metres or degrees, if known.
    Raises:
        InvalidInput: a reading that is not finite (the error says where), or shapes that differ.
    """

    name: str
    values: Array
    days: IntArray
    labels: tuple[str, ...]
    unit: str
    source: str
    licence: str
    locations: Array | None = None

    def __post_init__(self) -> None:
        values = check_table(self.values, self.name)
        rows, n = values.shape
        if self.days.shape != (rows,) or len(self.labels) != n:
            raise InvalidInput(
                f"{self.name}: {rows} x {n} readings need {rows} days and {n} labels, "
                f"got {self.days.shape} and {len(self.labels)}"
            )
        if self.locations is not None and self.locations.shape != (n, 2):
            raise InvalidInput(f"{self.name}: locations must have shape ({n}, 2)")
        object.__setattr__(self, "values", frozen(np.array(values)))
        object.__setattr__(self, "days", frozen(np.array(self.days, dtype=np.int64)))
        if self.locations is not None:
            object.__setattr__(self, "locations", frozen(np.array(self.locations, np.float64)))

    def rows(self, keep: "IntArray | slice") -> "Readings":
        """The readings of some rows only (indices, a mask or a slice)."""
        return replace(self, values=self.values[keep], days=self.days[keep])


def check_table(table: ArrayLike, name: str) -> Array:
    """The table (rows, n) as finite float64 numbers, or an error that names row and column.

    Raises:
        InvalidInput: not a table of numbers, empty, or a number that is not finite.
    """
    values = numbers(table, name)
    if values.ndim != 2 or not values.size:
        raise InvalidInput(f"{name} must have shape (rows, arms), got {values.shape}")
    bad = np.argwhere(~(np.abs(values) <= LARGEST))
    if len(bad):
        row, column = bad[0].tolist()
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        raise InvalidInput(
            f"{name} has {values[row, column]} at row {row}, column {column} (counted from 0)"
            f"{more}: fill the gaps or leave those rows or columns out"
        )
    return values


def read_table(path: str | Path, header: bool | None = None) -> tuple[Array, list[str] | None]:
    """A table of numbers from a file, and its columns' names if it has any.

    Args:
        path: .csv or .csv.gz (comma separated), .npy, or .npz with one array in it.
        header: whether a .csv begins with a line of names; None: it does if something in its
            first line is no number (so columns that are named by numbers need True).
    Raises:
        MissingData: no such file.
        InvalidInput: another kind of file, or content that is not a table of finite numbers.
    """
    file = Path(path).expanduser()
    kind = next((s for s in SUFFIXES if file.name.lower().endswith(s)), None)
    if kind is None:
        raise InvalidInput(f"readings come from {', '.join(SUFFIXES)} files, got {str(path)!r}")
    if not file.is_file():
        raise MissingData(f"there is no file {str(path)!r}: give the path of a table of readings")
    try:
        if kind.startswith(".csv"):
            values, names = _read_csv(file, header)
        else:
            values, names = _read_numpy(file), None
    except (OSError, EOFError, ValueError, KeyError, IndexError) as error:
        raise InvalidInput(f"cannot read {str(path)!r} as a table of numbers: {error}") from None
    return check_table(values, str(path)), names


def first_line(file: Path) -> list[str]:
    """The cells of a (compressed) .csv file's first line."""
    zipped = file.name.lower().endswith(".gz")
    with gzip.open(file, "rt") if zipped else file.open() as lines:
        return [cell.strip().strip('"') for cell in str(lines.readline()).split(",")]


def _read_csv(file: Path, header: bool | None) -> tuple[Array, list[str] | None]:
    cells = first_line(file)
    named = not all(map(_is_number, cells)) if header is None else header
    values = np.loadtxt(file, delimiter=",", skiprows=int(named), ndmin=2)
    return values, cells if named else None


def _read_numpy(file: Path) -> Any:
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        if len(loaded.files) != 1:
            raise ValueError(f"it holds the arrays {loaded.files}; it must hold one")
        return loaded[loaded.files[0]]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell == ""
    return True

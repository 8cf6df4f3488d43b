"""Tables of numbers: readings of many sensors at many times, and the reader of their files."""

import csv
import gzip
import re
import warnings
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TextIO, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import LARGEST, Array, IntArray, flag, frozen, listed, numbers, whole
from gpbandits_env.errors import InvalidInput, MissingData, one_of, shown, unknown
from gpbandits_env.files import check_regular, check_unpacked

# Larger tables do not fit the memory of most machines.
MOST_BYTES = 2**32
TEXT = (".csv", ".csv.gz", ".tsv", ".txt")
SUFFIXES = (*TEXT, ".npy", ".npz")
GAPS = ("error", "keep", "drop", "interpolate")
# The contents of a cell without a reading.
EMPTY = frozenset({"", "na", "n/a", "nan", "null", "none"})
# From so many rows on, a column that always rises is not one by chance.
MANY = 10
# The possible separators of cells; the first of these in the first line is used.
SEPARATORS = (";", "\t", ",")
QUOTED = re.compile('"[^"]*"')
# A date without separators, as in 20260301.
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
Line: TypeAlias = tuple[int, list[str]]
Times: TypeAlias = Array | NDArray[np.datetime64]
Stamp: TypeAlias = float | datetime


@dataclass(frozen=True, eq=False)
class Readings:
    """A table of readings, with one row per time and one column per sensor.

    Args:
        values: (rows, n) finite readings, in time order; kept read-only.
        names: (n,) of the columns; () if they have none.
        unit: of a reading.
        locations: (n, 2) east and north in one unit of length, if known.
        days: (rows,) the day number of each row, from 0, in increasing order; by default all 0.
    Raises:
        InvalidInput: a reading that is not finite (the error says where), or shapes that differ.
    """

    values: Array
    names: tuple[str, ...] = ()
    unit: str = ""
    locations: Array | None = None
    days: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        values = np.array(check_table(self.values, "readings"))
        rows, n = values.shape
        object.__setattr__(self, "values", frozen(values))
        if self.names and len(self.names) != n:
            raise InvalidInput(f"{n} columns of readings need {n} names, got {len(self.names)}")
        if not len(self.days):
            object.__setattr__(self, "days", np.zeros(rows, np.int64))
        for name, kind, shape in (("locations", float, (n, 2)), ("days", np.int64, (rows,))):
            if (given := getattr(self, name)) is not None:
                array = np.array(given, dtype=kind)
                if array.shape != shape:
                    raise InvalidInput(f"{name} must have shape {shape}, got {array.shape}")
                object.__setattr__(self, name, frozen(array))

    def places(self, columns: Sequence[int | str]) -> list[int]:
        """The indices of columns that are given by index or name.

        Raises:
            InvalidInput: a column does not exist or is given twice, or it is not a list.
            UnknownName: there is no column of that name.
        """
        given = listed(columns, "columns")
        named = [column for column in given if isinstance(column, str)]
        if named and not self.names:
            raise unknown("column", named[0], (), "these readings have no names: use indices")
        last = self.values.shape[1] - 1
        found = [
            place_of(column, self.names)
            if isinstance(column, str)
            else whole(column, "a column", 0, last)
            for column in given
        ]
        if len(set(found)) < len(found):
            raise InvalidInput(f"columns must not contain a column twice, got {shown(columns)}")
        return found


def check_table(table: ArrayLike, name: str) -> Array:
    """The table (rows, n) as finite float64 numbers, or an error that names row and column.

    Raises:
        InvalidInput: it is not a table of numbers, it is empty, or a number is not finite.
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


def interpolated(values: Array, name: str, at: Array | None = None) -> Array:
    """The table (rows, n) with each NaN replaced by linear interpolation down its column.

    Before the first reading of a column and after its last one, that reading is held.

    Args:
        values: (rows, n).
        name: the name of the table, for messages.
        at: (rows,) the times of the rows; by default the row numbers.
    Raises:
        InvalidInput: a column has no reading.
    """
    filled = np.array(values)
    when = np.arange(float(len(filled))) if at is None else at
    for j, column in enumerate(filled.T):
        known = np.isfinite(column)
        if not known.any():
            raise InvalidInput(f"{name}: column {j} (counted from 0) has no reading")
        if not known.all():
            column[~known] = np.interp(when[~known], when[known], column[known])
    return filled


@dataclass(frozen=True, eq=False)
class TableFile:
    """The contents of a file of readings.

    Attributes:
        values: (rows, n) readings; NaN only if gaps are kept.
        names: (n,) of the columns; () if the file has no line of names.
        times: (rows,) time stamps, numbers or datetime64[us]; None if the file has none.
    """

    values: Array
    names: tuple[str, ...] = ()
    times: Times | None = None


def place_of(name: str, names: Sequence[str]) -> int:
    """The index of the column of that name.

    Raises:
        UnknownName: there is no such column.
        InvalidInput: several columns have this name.
    """
    one_of(name, names, "column")
    if names.count(name) > 1:
        raise InvalidInput(f"{names.count(name)} columns are named {name!r}: rename them")
    return names.index(name)


def read_table(
    path: str | Path,
    header: bool | None = None,
    time_column: str | None = None,
    gaps: str = "error",
) -> TableFile:
    """The table of numbers in a file: a row for each time and a column for each arm.

    Cells of a text file are separated by semicolons, tabs or commas, whichever the first line has.
    Between semicolons or tabs a comma is the decimal sign. A first column of dates (ISO 8601,
    "2026-03-01 12:00") is the time column without being named; 20260301 is a number. One of numbers
    that rises in every row, as no other column does, is warned about: it may be the time.

    Args:
        path: .csv, .csv.gz, .tsv or .txt; .npy, or .npz with one array in it.
        header: whether the first line has the columns' names; None: it has if a cell of it is
            neither a number nor a date (columns that are named by numbers need True).
        time_column: the name of the column of time stamps, numbers or dates, that never decrease.
        gaps: the treatment of cells without a number (empty, "NA", "NaN"): "error"; "keep" them as
            NaN; "drop" rows with gaps; or "interpolate" linearly in time down the column.
    Raises:
        MissingData: there is no such file.
        InvalidInput: not a table of numbers; the message names the line and the column. Or several
            columns have the name of the time column.
        UnknownName: no such time column, or no such treatment of gaps.
    """
    one_of(gaps, GAPS, "treatment of gaps")
    file = Path(path).expanduser()
    kind = next((s for s in SUFFIXES if file.name.lower().endswith(s)), None)
    if kind is None:
        raise InvalidInput(f"readings come from {', '.join(SUFFIXES)} files, got {str(path)!r}")
    if not file.is_file():
        missing = "is not a file" if file.exists() else "no such file"
        raise MissingData(f"{path}: {missing}; give the path of a table of readings")
    try:
        check_regular(file, MOST_BYTES)
        if kind in TEXT:
            return _Text(str(path), _lines(file), header, time_column).table(gaps)
        if time_column is not None:
            raise unknown("column", time_column, ())
        return TableFile(_without_gaps(_numpy(file), gaps, str(path)))
    except UnicodeError as error:
        raise InvalidInput(f"cannot read {str(path)!r}; save it as UTF-8: {error}") from None
    except (OSError, EOFError, KeyError, csv.Error, zlib.error) as error:
        raise InvalidInput(f"cannot read {str(path)!r} as a table of numbers: {error}") from None


def is_file_name(text: str) -> bool:
    """Whether a text names a file; names of data sets contain neither a dot nor a slash."""
    return "." in text or "/" in text


def _lines(file: Path) -> Iterator[Line]:
    """The lines that are not blank, as (number from 1, cells).

    A line of separators is a row of gaps, but none before the first line with content or after the
    last one.
    """
    opened: Callable[..., TextIO] = open
    if file.name.lower().endswith(".gz"):
        check_unpacked(file)
        opened = gzip.open
    with opened(file, "rt", newline="", encoding="utf-8-sig") as handle:
        first = handle.readline()
        bare = QUOTED.sub("", first)
        separator = next((mark for mark in SEPARATORS if mark in bare), ",")
        rows = csv.reader(chain([first], handle), delimiter=separator, skipinitialspace=True)
        begun, empty = False, list[Line]()
        for cells in rows:
            line = rows.line_num, cells if separator == "," else list(map(_decimal, cells))
            if any(map(str.strip, cells)):
                yield from empty
                yield line
                begun, empty = True, []
            elif begun and len(cells) > 1:
                empty.append(line)


class _Text:
    """The lines of a text file, and what its first ones say of its columns."""

    def __init__(
        self, path: str, lines: Iterator[Line], header: bool | None, time_column: str | None
    ) -> None:
        self.path, self.guessed = path, header is None
        line, cells = next(lines, (0, []))
        first = [cell.strip() for cell in cells]
        if header is not None:
            flag(header, "header")
        else:
            # pandas numbers columns without names, and leaves the cell above its index empty.
            numbered = first == ["", *map(str, range(len(first) - 1))]
            header = numbered or any(_number(c) is None and _date(c) is None for c in first)
        self.names = first if header else []
        self.width = len(first)
        start = next(lines, None) if header else (line, cells)
        if start is None or not first:
            raise InvalidInput(f"{path}: there are no rows of numbers")
        self.body = chain([start], lines)
        self.time: int | None = None
        if time_column is not None:
            self.time = place_of(time_column, self.names)
        elif _number(start[1][0]) is None and _date(start[1][0]) is not None:
            self.time = 0

    def table(self, gaps: str) -> TableFile:
        readings, stamps, last = array("d"), [], None
        for line, cells in self.body:
            if len(cells) != self.width:
                raise InvalidInput(
                    f"{self.path}: line {line} has {len(cells)} cells, "
                    f"but the first has {self.width}"
                )
            if self.time is not None:
                last = self._stamp(line, cells.pop(self.time), last)
            row = self._row(line, cells, gaps)
            if row is not None:
                readings.frombytes(row.tobytes())
                stamps.append(last)
        if not readings:
            raise InvalidInput(f"{self.path}: there is no row of numbers without a gap")
        values = np.array(readings).reshape(len(stamps), -1)
        times = None
        if self.time is not None:
            dates = [t.replace(tzinfo=None) for t in stamps if isinstance(t, datetime)]
            times = np.array(dates, "datetime64[us]") if dates else np.array(stamps, np.float64)
        if gaps == "interpolate":
            values = interpolated(values, self.path, None if times is None else hours(times))
        rises = np.all(np.diff(values, axis=0) > 0.0, axis=0)
        alone = len(rises) > 1 and rises[0] and not rises[1:].any()
        if self.guessed and times is None and alone and len(values) >= MANY:
            warnings.warn(
                f"{self.path}: the first column is taken for readings, but it rises in every row, "
                "as no other one does; leave it out if it numbers the rows, and if it is the time, "
                "name it and state its name as time_column",
                stacklevel=3,
            )
        names = tuple(n for i, n in enumerate(self.names) if i != self.time)
        return TableFile(values, names, times)

    def _row(self, line: int, cells: list[str], gaps: str) -> Array | None:
        """The numbers of a line; None if it is dropped."""
        try:
            row = np.array(list(map(float, cells)))
        except ValueError:
            row = np.array([self._cell(line, i, cell) for i, cell in enumerate(cells)])
        fine = np.abs(row) <= LARGEST
        if fine.all():
            return row
        empty = np.isnan(row)
        wrong = np.flatnonzero(~fine if gaps == "error" else ~fine & ~empty)
        if len(wrong):
            i = int(wrong[0])
            hint = (
                "is empty: fill it, or set the option gaps to 'drop' or 'interpolate'"
                if empty[i]
                else f"is {cells[i].strip()}: no reading is above {LARGEST:g} in size"
            )
            raise InvalidInput(f"{self._place(line, i)} {hint}")
        return None if gaps == "drop" else row

    def _cell(self, line: int, i: int, cell: str) -> float:
        number = _number(cell)
        if number is None:
            cure = "leave gaps empty, and write dates like 2026-03-01 12:00"
            if _date(cell) is not None:
                cure = "set the option time_column to the name of the column of dates"
            raise InvalidInput(
                f"{self._place(line, i)}: {cell.strip()[:50]!r} is not a number; {cure}"
            )
        return number

    def _place(self, line: int, i: int) -> str:
        """The position of the i-th reading of a line, for messages."""
        return self._where(line, i if self.time is None or i < self.time else i + 1)

    def _where(self, line: int, column: int) -> str:
        name = repr(self.names[column]) if self.names else column + 1
        return f"{self.path}: line {line}, column {name}"

    def _stamp(self, line: int, cell: str, before: Stamp | None) -> Stamp:
        """The time of a line, not before that of the line above."""
        number = _number(cell)
        stamp = _date(cell) if number is None else number
        wrong = ""
        if stamp is None or (number is not None and not abs(number) <= LARGEST):
            wrong = "is not a time: a number, or a date like 2026-03-01 12:00"
        elif COMPACT.fullmatch(cell.strip()):
            wrong = "may be a date or a number: write 2026-03-01 or 20260301.0"
        elif before is not None and _kind(stamp) != _kind(before):
            wrong = (
                "does not fit the rows above: times are all numbers, all dates without an offset, "
                "or all dates with one"
            )
        elif before is not None and stamp < before:  # type: ignore[operator]
            wrong = "is before the time of the row above: sort the rows"
            if isinstance(stamp, datetime):
                wrong += ", and write local times with their offset, like 2026-10-25 02:00+01:00"
        if stamp is None or wrong:
            assert self.time is not None
            raise InvalidInput(f"{self._where(line, self.time)}: {cell.strip()[:50]!r} {wrong}")
        return stamp


def hours(times: Times) -> Array:
    """Time stamps as numbers: dates in hours since the first one, numbers as they are."""
    if times.dtype.kind != "M":
        return np.asarray(times, np.float64)
    return np.asarray((times - times[0]) / np.timedelta64(1, "h"), dtype=np.float64)


def _without_gaps(table: ArrayLike, gaps: str, name: str) -> Array:
    """An array of readings with its gaps treated."""
    if gaps == "error":
        return check_table(table, name)
    values = numbers(table, name)
    check_table(np.where(np.isnan(values), 0.0, values), name)
    if gaps == "drop":
        return check_table(values[~np.isnan(values).any(axis=1)], name)
    return interpolated(values, name) if gaps == "interpolate" else values


def _numpy(file: Path) -> ArrayLike:
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            check_unpacked(file, [info.file_size for info in loaded.zip.infolist()])
            if len(loaded.files) != 1:
                raise InvalidInput(f"it holds the arrays {loaded.files}; it must hold one")
            return loaded[loaded.files[0]]
    except ValueError as error:
        raise OSError(str(error)) from None


def _number(cell: str) -> float | None:
    """The number in a cell, NaN if it is empty; None if it is something else."""
    if cell.strip().lower() in EMPTY:
        return np.nan
    try:
        return float(cell)
    except ValueError:
        return None


def _decimal(cell: str) -> str:
    """A cell with a point where a number has a decimal comma."""
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def _kind(stamp: Stamp) -> object:
    """Equal for two numbers, two dates without an offset, and two dates with one."""
    return stamp.tzinfo if isinstance(stamp, datetime) else float


def _date(cell: str) -> datetime | None:
    """The date in a cell, in UTC if it has an offset; None if it is something else."""
    try:
        found = datetime.fromisoformat(cell.strip())
        return found if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # the latter in the years 1 and 9999
        return None

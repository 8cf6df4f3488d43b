"""Tables of numbers: readings of many sensors at many times, and the reader of their files."""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import (
    LARGEST,
    Array,
    IntArray,
    Settings,
    all_of,
    finite_array,
    flag,
    frozen,
    is_number,
    listed,
    numbers,
    whole,
)
from gpbandits_env.errors import GPBanditsError, InvalidInput, MissingData, one_of, shown
from gpbandits_env.files import check_regular, check_unpacked

# Larger tables do not fit the memory of most machines.
MOST_BYTES = 2**32
TEXT = (".csv", ".csv.gz", ".tsv", ".txt")
SUFFIXES = (*TEXT, ".npy", ".npz")
# Options of text files, named as in `pandas.read_csv`.
WORDS = ("sep", "decimal", "thousands", "comment", "encoding", "date_format")
COUNTS = ("skiprows", "skipfooter", "nrows")
FILE_OPTIONS = ("header", "time_column", "gaps", *WORDS, *COUNTS, "usecols", "na_values")
# The contents of a cell without a reading.
EMPTY = frozenset({"", "na", "n/a", "nan", "null", "none"})
# The possible separators of cells; the first of these in the first line is used.
SEPARATORS = (";", "\t", ",")
QUOTED = re.compile('"[^"]*"')
# A date without separators, as in 20260301.
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
Times: TypeAlias = Array | NDArray[np.datetime64]
# Columns of a file, by name or number.
Columns: TypeAlias = str | int | Sequence[str | int]


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
        if len(listed(self.names, "names")) not in (0, n):
            raise InvalidInput(f"{n} columns of readings need {n} names, got {len(self.names)}")
        if not np.size(self.days):
            object.__setattr__(self, "days", np.zeros(rows, np.int64))
        for name, kind, shape in (("locations", float, (n, 2)), ("days", np.int64, (rows,))):
            if (given := getattr(self, name)) is not None:
                array = finite_array(given, name).astype(kind)
                if array.shape != shape:
                    raise InvalidInput(f"{name} must have shape {shape}, got {array.shape}")
                object.__setattr__(self, name, frozen(array))

    def places(self, columns: Sequence[int | str]) -> list[int]:
        """The indices of columns that are given by index or name.

        Raises:
            InvalidInput: a column does not exist or is given twice, or it is no list of columns.
            UnknownName: there is no column of that name.
        """
        found = _places(listed(columns, "columns"), self.names, self.values.shape[1])
        if not found:
            raise InvalidInput("columns must have at least one index or name, got []")
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
    one_of(name, names, "column", "" if names else "these readings have no names: use indices")
    if names.count(name) > 1:
        raise InvalidInput(f"{names.count(name)} columns are named {name!r}: rename them")
    return names.index(name)


def _places(columns: Iterable[Any], names: Sequence[str], count: int) -> list[int]:
    return [
        place_of(c, names) if isinstance(c, str) else whole(c, "a column", 0, count - 1)
        for c in columns
    ]


def read_table(
    path: str | Path,
    header: bool | None = None,
    time_column: Columns | None = None,
    gaps: str = "error",
    **options: Any,
) -> TableFile:
    """The table of numbers in a file: a row for each time and a column for each arm.

    The cells of a text file are separated by semicolons, tabs or commas, whichever the first line
    has. Between semicolons or tabs a comma is the decimal sign. A first column of dates (ISO 8601,
    "2026-03-01 12:00") is the time column without being named, unless ``usecols`` leaves it out;
    20260301 is a number.

    Args:
        path: .csv, .csv.gz, .tsv or .txt; .npy, or .npz with one array in it.
        header: whether the first line has the columns' names; None: it has if a cell of it is
            neither a number nor a date (columns that are named by numbers need True), and is not
            like the cell below, as 12:00 above 13:00 is.
        time_column: the column of time stamps, numbers or dates, that never decrease, by name or
            number; or several that make the time together, such as a date and an hour.
        gaps: the treatment of cells without a number (empty, "NA", "NaN"): "error"; "keep" them as
            NaN; "drop" rows with gaps; or "interpolate" linearly in time down the column.
        options: for text files, named as in `pandas.read_csv`: ``sep``, ``decimal``, ``thousands``,
            ``comment``, ``encoding``, ``na_values`` (more words for a gap); ``date_format`` (of the
            time column, e.g. "%d.%m.%Y %H:%M"); ``skiprows``, ``skipfooter`` and ``nrows``, numbers
            of lines and rows; ``usecols``, the columns to read.
    Raises:
        MissingData: there is no such file.
        InvalidInput: not a table of numbers; the message names the line and the column. Or several
            columns have the name of the time column.
        UnknownName: no such time column, treatment of gaps, or option.
    """
    one_of(gaps, ("error", "keep", "drop", "interpolate"), "treatment of gaps")
    for option, value in options.items():
        _check_option(option, value)
    file = Path(path).expanduser()
    name = file.name.lower()
    if not name.endswith(SUFFIXES):
        raise InvalidInput(f"readings come from {', '.join(SUFFIXES)} files, got {str(path)!r}")
    if not file.is_file():
        missing = "is not a file" if file.exists() else "no such file"
        raise MissingData(f"{path}: {missing}; give the path of a table of readings")
    try:
        check_regular(file, MOST_BYTES)
        if name.endswith(TEXT):
            table = _Text(file, options).table(header, time_column, gaps)
        else:
            table = _array(file, time_column, gaps)
        return _without_gaps(table, gaps, str(path))
    except GPBanditsError:
        raise
    except UnicodeError as error:
        raise InvalidInput(
            f"cannot read {str(path)!r}; save it as UTF-8, or state its encoding, such as "
            f"encoding='latin-1': {error}"
        ) from None
    except (OSError, EOFError, LookupError, TypeError, ValueError, csv.Error, zlib.error) as error:
        raise InvalidInput(f"cannot read {str(path)!r} as a table of numbers: {error}") from None


def _check_option(option: str, value: Any) -> None:
    one_of(option, FILE_OPTIONS, "option of a file of readings")
    if option in WORDS and not (isinstance(value, str) and value):
        raise InvalidInput(f"{option} must be a text that is not empty, got {shown(value)}")
    if option == "sep" and len(value) != 1:
        raise InvalidInput(f"sep must be one character (' ': any number of spaces), got {value!r}")
    if option in COUNTS:
        whole(value, option, 0)


def is_file_name(text: str) -> bool:
    """Whether a text names a file; names of data sets contain neither a dot nor a slash."""
    return "." in text or "/" in text


def hours(times: ArrayLike) -> Array:
    """Time stamps as numbers: dates in hours since the first one, numbers as they are.

    Dates are an array of NumPy, a list, or an index or a column of a data frame.
    """
    given = np.asarray(times)
    try:
        if given.dtype.kind in "US":
            with suppress(ValueError):  # a year alone is a number
                return given.astype(np.float64)
            given = given.astype("M8[us]")
        if given.dtype.kind not in "mMO":
            return given.astype(np.float64, copy=False)
        if given.ndim != 1:
            raise ValueError(f"they have the shape {given.shape}")
        hour = timedelta(hours=1) if given.dtype.kind == "O" else np.timedelta64(1, "h")
        return np.asarray((given - given[:1]) / hour, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"times must be dates of one kind (T,), or numbers, got {shown(times)}: {error}"
        ) from None


def _array(file: Path, time_column: Columns | None, gaps: str) -> TableFile:
    if time_column is not None:
        raise InvalidInput("time_column belongs to a text file: an array has no names of columns")
    loaded = np.load(file, allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        with loaded:
            check_unpacked(file, [info.file_size for info in loaded.zip.infolist()])
            if len(loaded.files) != 1:
                raise InvalidInput(f"{file} holds the arrays {loaded.files}; it must hold one")
            loaded = loaded[loaded.files[0]]
    values = numbers(loaded, str(file))
    check_table(values if gaps == "error" else np.where(np.isnan(values), 0.0, values), str(file))
    return TableFile(values)


def _without_gaps(table: TableFile, gaps: str, name: str) -> TableFile:
    values, times = table.values, table.times
    if gaps == "interpolate":
        values = interpolated(values, name, None if times is None else hours(times))
    if gaps == "drop":
        whole = ~np.isnan(values).any(axis=1)
        if not whole.any():
            raise InvalidInput(f"{name}: there is no row of numbers without a gap")
        values, times = values[whole], None if times is None else times[whole]
    return replace(table, values=values, times=times)


class _Text:
    """A text file, with the options of `read_table`."""

    def __init__(self, file: Path, options: Settings) -> None:
        self.file, self.encoding = file, options.get("encoding", "utf-8")
        self.comment, self.date_format = options.get("comment"), options.get("date_format")
        self.skipped, self.footer = options.get("skiprows", 0), options.get("skipfooter", 0)
        self.most, self.columns = options.get("nrows"), options.get("usecols")
        if file.suffix.lower() == ".gz":
            check_unpacked(file)
        first = QUOTED.sub("", next((line for line in self._lines() if line.strip()), ""))
        found = next((mark for mark in SEPARATORS if mark in first), ",")
        self.sep = options.get("sep", found)
        self.decimal = options.get("decimal", "." if self.sep == "," else ",")
        self.thousands, words = options.get("thousands", ""), options.get("na_values", ())
        if self.thousands == self.decimal:
            raise InvalidInput(
                f"thousands and decimal are both {self.decimal!r}: state decimal too"
            )
        single = isinstance(words, str) or is_number(words)
        words = [words] if single else listed(words, "na_values")
        self.plain, self.empty, self.missing = not words and not self.thousands, EMPTY, set[Any]()
        # -999 is also -999.0.
        self.missing = {self._number(w) if isinstance(w, str) else w for w in words}
        self.empty = EMPTY.union(str(word).strip().lower() for word in words)

    def table(self, header: bool | None, time_column: Columns | None, gaps: str) -> TableFile:
        lines, rows = self._rows()
        first = [cell.strip() for cell in rows[0]] if rows else []
        if header is None:
            # pandas numbers columns without names, and leaves the cell above its index empty.
            header = first == ["", *map(str, range(len(first) - 1))]
            below = rows[1] if len(rows) > 1 else [""] * len(first)
            header |= any(map(self._is_name, first, below))
        self.names = first if flag(header, "header") else []
        self.lines, rows = lines[int(header) :], rows[int(header) :][: self.most]
        if not rows:
            raise InvalidInput(f"{self.file}: there are no rows of numbers")
        columns, times = dict(enumerate(zip(*rows, strict=True))), None
        chosen: Sequence[int] = range(len(first))
        if self.columns is not None:
            chosen = self._places(self.columns, len(first), "usecols")
        if time_column is None and 0 in chosen and isinstance(self._time(rows[0][0]), datetime):
            time_column = 0
        if time_column is not None:
            places = self._places(time_column, len(first), "time_column")
            parts = zip(*(columns.pop(j) for j in places), strict=True)
            times = self._times(places[0], [" ".join(map(str.strip, part)) for part in parts])
        columns = {j: cells for j, cells in columns.items() if j in chosen}
        if self.columns is None and header and any(not self.names[j] for j in columns):
            raise InvalidInput(
                f"{self.file}: a column has no name: write the file without the index of the data "
                "frame (index=False), name the column, or set time_column or usecols"
            )
        if not columns:
            raise InvalidInput(f"{self.file}: there is no column beside that of the times")
        names = tuple(self.names[j] for j in columns) if header else ()
        values = np.column_stack([self._readings(*column, gaps) for column in columns.items()])
        return TableFile(values, names, times)

    def _rows(self) -> tuple[list[int], list[list[str]]]:
        """The number of the last line of each row, and the cells of each row."""
        reader = csv.reader(self._lines(), delimiter=self.sep, skipinitialspace=True)
        found = [(reader.line_num, row) for row in reader if len(row) > 1 or any(row)]
        # A line of separators is a row of gaps, but no row before or after all other lines.
        full = [i for i, (_, row) in enumerate(found) if any(map(str.strip, row))]
        found = found[min(full, default=0) : max(full, default=-1) + 1]
        found = found[: max(len(found) - self.footer, 0)]
        for line, row in found:
            n, most = len(row), len(found[0][1])
            if n > most:
                raise InvalidInput(
                    f"{self.file}: line {line} has {n} cells, the first row {most}: set sep, or "
                    "comment or skiprows if a line is not part of the table"
                )
            row += [""] * (most - n)
        return [line for line, _ in found], [row for _, row in found]

    def _places(self, columns: Columns, count: int, name: str) -> list[int]:
        """The indices of columns of the file that are given by name or number, one or several."""
        given = [columns] if isinstance(columns, (str, int)) else columns
        return _places(all_of(object, given, name, "columns"), self.names, count)

    def _readings(self, place: int, cells: Sequence[str], gaps: str) -> Array:
        try:
            values = np.array([float(cell) for cell in cells]) if self.plain else None
        except ValueError:  # a gap, a decimal comma, or no number
            values = None
        if values is None:
            found = [self._number(cell) for cell in cells]
            says = (
                ": {cell!r} is not a number; set the option time_column if it is a time, and "
                "date_format if it is a date; na_values if it is a gap; comment, skiprows or "
                "usecols if it is not part of the table; sep if it is several cells"
            )
            self._refuse(place, cells, [number is None for number in found], says)
            values = np.array(found, np.float64)
        gap = np.isnan(values)
        says = f" is {{cell}}: no reading is above {LARGEST:g} in size"
        self._refuse(place, cells, ~gap & ~(np.abs(values) <= LARGEST), says)
        if gaps == "error":
            says = " is empty: fill it, or set the option gaps to 'drop' or 'interpolate'"
            self._refuse(place, cells, gap, says)
        return values

    def _times(self, place: int, cells: Sequence[str]) -> Times:
        found = [self._time(cell) for cell in cells]
        zones = [getattr(time, "tzinfo", float) for time in found]
        wrong = [time is None or zone != zones[0] for time, zone in zip(found, zones, strict=True)]
        if not self.date_format:
            wrong = [bad or bool(COMPACT.fullmatch(c)) for bad, c in zip(wrong, cells, strict=True)]
        says = (
            ": {cell!r} is not a time, or does not fit the rows above: times are all numbers (but "
            "20260301 may be a date: write 2026-03-01 or 20260301.0), all dates without an offset, "
            "like 2026-03-01 12:00, or all dates with one. The option date_format says how dates "
            "are written, and skipfooter leaves out last lines"
        )
        self._refuse(place, cells, wrong, says)
        if zones[0] is not float:
            found = [time.replace(tzinfo=None) for time in found]
        times = np.array(found, np.float64 if zones[0] is float else "datetime64[us]")
        says = (
            ": {cell!r} is before the time of the row above: sort the rows, and write local times "
            "with their offset, like 2026-10-25 02:00+01:00"
        )
        self._refuse(place, cells, np.append(False, times[1:] < times[:-1]), says)
        return times

    def _time(self, cell: str) -> Any:
        """The number or the date in a cell; None if it is something else."""
        number = None if self.date_format else self._number(cell)
        if number is None:
            return self._date(cell)
        return number if abs(number) <= LARGEST else None

    def _number(self, cell: str) -> float | None:
        """The number in a cell, NaN if it is empty; None if it is something else."""
        word = cell.strip()
        if word.lower() in self.empty:
            return np.nan
        try:
            number = float(word.replace(self.thousands, "").replace(self.decimal, "."))
        except ValueError:
            return None
        return np.nan if number in self.missing else number

    def _date(self, cell: str) -> datetime | None:
        """The date in a cell, in UTC if it has an offset; None if it is something else."""
        word = cell.strip()
        try:
            form = self.date_format
            found = datetime.strptime(word, form) if form else datetime.fromisoformat(word)
            return found if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):  # the latter in the years 1 and 9999
            return None

    def _is_name(self, cell: str, below: str) -> bool:
        """Whether a cell is no number or date, nor like the one below, as 12:00 above 9:00 is."""
        alike = re.sub(r"\d+", "0", cell) == re.sub(r"\d+", "0", below.strip())
        return not alike and self._number(cell) is None and self._date(cell) is None

    def _refuse(self, place: int, cells: Sequence[str], wrong: ArrayLike, says: str) -> None:
        """Raise an error about the first cell of a column that is wrong, if there is one."""
        for row in np.flatnonzero(wrong)[:1]:
            name = repr(self.names[place]) if self.names else place + 1
            where = f"{self.file}: line {self.lines[row]}, column {name}"
            raise InvalidInput(where + says.format(cell=cells[row].strip()[:50]))

    def _lines(self) -> Iterator[str]:
        """The lines of the file, without comments."""
        opened: Callable[..., TextIO] = gzip.open if self.file.suffix.lower() == ".gz" else open
        with opened(self.file, "rt", newline="", encoding=self.encoding) as lines:
            for number, line in enumerate(lines):
                line = line.removeprefix("\ufeff")  # the byte order mark
                # A comment that follows quotes may be part of a name.
                if self.comment and (line.startswith(self.comment) or '"' not in line):
                    line = line.partition(self.comment)[0]
                yield line if number >= self.skipped else ""

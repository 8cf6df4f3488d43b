"""Tables of numbers: readings of many sensors at many times, and the reader of their files."""

import csv
import gzip
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import (
    LARGEST,
    Array,
    IntArray,
    Settings,
    flag,
    frozen,
    listed,
    numbers,
    whole,
)
from gpbandits_env.errors import GPBanditsError, InvalidInput, MissingData, one_of, optional, shown
from gpbandits_env.files import check_regular, check_unpacked

# Larger tables do not fit the memory of most machines.
MOST_BYTES = 2**32
TEXT = (".csv", ".csv.gz", ".tsv", ".txt")
SUFFIXES = (*TEXT, ".npy", ".npz")
GAPS = ("error", "keep", "drop", "interpolate")
# The options of `pandas.read_csv` that a text file has.
WORDS = ("sep", "delimiter", "decimal", "thousands", "comment", "encoding", "date_format")
COUNTS = ("skiprows", "skipfooter", "nrows")
PLACES = ("usecols", "index_col", "parse_dates")
PANDAS = (*WORDS, *COUNTS, *PLACES, "na_values", "dayfirst")
FILE_OPTIONS = ("header", "time_column", "gaps", *PANDAS)
# The contents of a cell without a reading.
EMPTY = frozenset({"", "na", "n/a", "nan", "null", "none"})
# From so many rows on, a column that always rises is not one by chance.
MANY = 10
# The possible separators of cells; the first of these in the first line is used.
SEPARATORS = (";", "\t", ",")
QUOTED = re.compile('"[^"]*"')
# A date with the day first, as in 1.3.2026, and what follows it.
DAY_FIRST = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})(.*)")
ONE_DIGIT = re.compile(r"^[ T]+(\d):")  # of the hour
# A date without separators, as in 20260301.
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
Times: TypeAlias = Array | NDArray[np.datetime64]
# The column of time stamps, by name or number, or several that make them together.
TimeColumns: TypeAlias = str | int | Sequence[str | int] | None


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
        found = _places(listed(columns, "columns"), self.names, self.values.shape[1])
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
    time_column: str | None = None,
    gaps: str = "error",
    **options: Any,
) -> TableFile:
    """The table of numbers in a file: a row for each time and a column for each arm.

    Pandas reads text files. Their cells are separated by semicolons, tabs or commas, whichever the
    first line has. Between semicolons or tabs a comma is the decimal sign. A first column of dates
    (ISO 8601, "2026-03-01 12:00") is the time column without being named; 20260301 is a number. One
    of numbers that rises in every row, as no other does, is warned about: it may be the time.

    Args:
        path: .csv, .csv.gz, .tsv or .txt; .npy, or .npz with one array in it.
        header: whether the first line has the columns' names; None: it has if a cell of it is
            neither a number nor a date (columns that are named by numbers need True).
        time_column: the name of the column of time stamps, numbers or dates, that never decrease.
        gaps: the treatment of cells without a number (empty, "NA", "NaN"): "error"; "keep" them as
            NaN; "drop" rows with gaps; or "interpolate" linearly in time down the column.
        options: those of `pandas.read_csv` for text files: ``sep`` or ``delimiter``, ``decimal``,
            ``thousands``, ``comment``, ``encoding``, ``na_values`` (more words for a gap);
            ``date_format`` (of the time column, e.g. "%d.%m.%Y") or ``dayfirst``; ``skiprows``,
            ``skipfooter`` and ``nrows``, numbers of lines and rows; ``usecols``, the columns to
            read; ``index_col``, the time column, by name or number; ``parse_dates``, columns that
            make the time together, such as a date and an hour.
    Raises:
        MissingData: there is no such file.
        MissingExtra: it is a text file, and pandas is not installed.
        InvalidInput: not a table of numbers; the message names the line and the column. Or several
            columns have the name of the time column.
        UnknownName: no such time column, treatment of gaps, or option.
    """
    one_of(gaps, GAPS, "treatment of gaps")
    _check_options(options)
    time = _time_columns(time_column, options)
    file = Path(path).expanduser()
    name = file.name.lower()
    if not name.endswith(SUFFIXES):
        raise InvalidInput(f"readings come from {', '.join(SUFFIXES)} files, got {str(path)!r}")
    if not file.is_file():
        missing = "is not a file" if file.exists() else "no such file"
        raise MissingData(f"{path}: {missing}; give the path of a table of readings")
    try:
        check_regular(file, MOST_BYTES)
        if not name.endswith(TEXT):
            return _without_gaps(_array(file, time_column, gaps), gaps, str(path))
        table = _without_gaps(_Text(file, options).table(header, time, gaps), gaps, str(path))
    except GPBanditsError:
        raise
    except UnicodeError as error:
        raise InvalidInput(
            f"cannot read {str(path)!r}; save it as UTF-8, or state its encoding, such as "
            f"encoding='latin-1': {error}"
        ) from None
    except (OSError, EOFError, LookupError, TypeError, ValueError, zlib.error) as error:
        raise InvalidInput(f"cannot read {str(path)!r} as a table of numbers: {error}") from None
    if header is None and _may_begin_with_times(table):
        warnings.warn(
            f"{path}: the first column is taken for readings, but it rises in every row, as no "
            "other one does; leave it out if it numbers the rows, and if it is the time, name it "
            "and state its name as time_column",
            stacklevel=2,
        )
    return table


def _check_options(options: Settings) -> None:
    for option, value in options.items():
        one_of(option, PANDAS, "option of a file of readings")
        if option in WORDS and not isinstance(value, str):
            raise InvalidInput(f"{option} must be a text, got {shown(value)}")
        if option in COUNTS:
            whole(value, option, 0)
    flag(options.get("dayfirst", False), "dayfirst")


def _time_columns(time_column: str | None, options: Settings) -> TimeColumns:
    """The columns of the time: the argument, or what the options of pandas say."""
    given = {key: options[key] for key in ("index_col", "parse_dates") if options.get(key)}
    given |= {"index_col": 0} if options.get("index_col") == 0 else {}
    if time_column is not None and given:
        raise InvalidInput(f"{' and '.join(given)} and time_column exclude each other")
    found: TimeColumns = given.get("parse_dates", given.get("index_col", time_column))
    return 0 if found is True else found


def is_file_name(text: str) -> bool:
    """Whether a text names a file; names of data sets contain neither a dot nor a slash."""
    return "." in text or "/" in text


def hours(times: Times) -> Array:
    """Time stamps as numbers: dates in hours since the first one, numbers as they are."""
    if times.dtype.kind != "M":
        return np.asarray(times, np.float64)
    return np.asarray((times - times[0]) / np.timedelta64(1, "h"), dtype=np.float64)


def _array(file: Path, time_column: str | None, gaps: str) -> TableFile:
    if time_column is not None:
        place_of(time_column, ())
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


def _may_begin_with_times(table: TableFile) -> bool:
    first, *others = np.all(np.diff(table.values, axis=0) > 0.0, axis=0)
    long = len(table.values) >= MANY
    return table.times is None and long and bool(others) and first and not any(others)


class _Text:
    """A text file, whose cells pandas reads as text, so that no digit of a number is lost."""

    def __init__(self, file: Path, options: Settings) -> None:
        self.file, self.encoding = file, options.get("encoding", "utf-8-sig")
        self.comment, self.date_format = options.get("comment"), options.get("date_format")
        self.skipped, self.footer = options.get("skiprows", 0), options.get("skipfooter", 0)
        self.rows, self.columns = options.get("nrows"), options.get("usecols")
        self.day_first = bool(options.get("dayfirst", False))
        if file.suffix.lower() == ".gz":
            check_unpacked(file)
        first = QUOTED.sub("", next((line for line in self._lines() if line.strip()), ""))
        found = next((mark for mark in SEPARATORS if mark in first), ",")
        self.sep = options.get("sep", options.get("delimiter", found))
        self.decimal = options.get("decimal", "." if self.sep == "," else ",")
        self.thousands, words = options.get("thousands", ""), options.get("na_values", ())
        words = [words] if isinstance(words, str) else listed(words, "na_values")
        self.plain, self.empty, self.missing = not words and not self.thousands, EMPTY, set[Any]()
        # As in pandas, -999 is also -999.0.
        self.missing = {self._value(w) if isinstance(w, str) else w for w in words}
        self.empty = EMPTY.union(str(word).strip().lower() for word in words)

    def table(self, header: bool | None, time_column: TimeColumns, gaps: str) -> TableFile:
        cells = optional("pandas", "tables").read_csv(
            self.file,
            sep=self.sep,
            encoding=self.encoding,
            comment=self.comment,
            skiprows=self.skipped,
            header=None,
            dtype=object,
            na_filter=False,
            skipinitialspace=True,
            engine="c",
        )
        # A line of separators is a row of gaps, but no row before or after all other lines.
        full = np.flatnonzero((cells != "").any(axis=1))
        cells = cells[full.min(initial=len(cells)) : full.max(initial=0) + 1 - self.footer]
        first = [cell.strip() for cell in cells.iloc[:1].to_numpy().ravel()]
        if header is None:
            # pandas numbers columns without names, and leaves the cell above its index empty.
            numbered = first == ["", *map(str, range(len(first) - 1))]
            header = numbered or any(self._value(cell) is None for cell in first)
        self.names = first if flag(header, "header") else []
        cells = cells[int(header) :][: self.rows]
        if cells.empty:
            raise InvalidInput(f"{self.file}: there are no rows of numbers")
        times = self._times_in(cells, time_column)
        if self.columns is not None:
            chosen = set(self._places(self.columns, cells.columns.max() + 1))
            cells = cells[[j for j in cells if j in chosen]]
        if not cells.size:
            raise InvalidInput(f"{self.file}: there is no column beside that of the times")
        names = tuple(self.names[j] for j in cells) if header else ()
        values = np.column_stack([self._readings(cells[j], gaps) for j in cells])
        return TableFile(values, names, times)

    def _places(self, columns: object, count: int) -> list[int]:
        """The indices of columns of the file that are given by name or number, one or several."""
        given = [columns] if isinstance(columns, (str, int)) else listed(columns, "columns")
        return _places(given, self.names, count)

    def _times_in(self, cells: Any, columns: TimeColumns) -> Times | None:
        """The times of the rows, whose columns are taken out of the table; None without any."""
        places = [] if columns is None else self._places(columns, len(cells.columns))
        if columns is None and isinstance(self._time(cells.iat[0, 0]), datetime):
            places = [0]
        if not places:
            return None
        first, *others = (cells.pop(j) for j in places)
        for other in others:
            first = first.str.strip() + " " + other.str.strip()
        return self._times(first.rename(places[0]))

    def _readings(self, cells: Any, gaps: str) -> Array:
        try:
            values = cells.to_numpy(np.float64) if self.plain else None
        except ValueError:  # a gap, a decimal comma, or no number
            values = None
        if values is None:
            found = [self._value(cell) for cell in cells]
            cure = "set the option time_column if it is a time, and dayfirst if its day is first"
            says = f": {{cell!r}} is not a number; {cure}; na_values if it is a gap, or usecols"
            self._refuse(cells, [not isinstance(number, float) for number in found], says)
            values = np.array(found, np.float64)
        gap = np.isnan(values)
        says = f" is {{cell}}: no reading is above {LARGEST:g} in size"
        self._refuse(cells, ~gap & ~(np.abs(values) <= LARGEST), says)
        if gaps == "error":
            says = " is empty: fill it, or set the option gaps to 'drop' or 'interpolate'"
            self._refuse(cells, gap, says)
        return values

    def _times(self, cells: Any) -> Times:
        found = [self._time(cell) for cell in cells]
        says = (
            ": {cell!r} is not a time: a number, or a date like 2026-03-01 12:00, or like 1.3.2026 "
            "12:00 with the option dayfirst; skipfooter leaves out last lines"
        )
        self._refuse(cells, [time is None for time in found], says)
        if self.date_format is None:
            says = ": {cell!r} may be a date or a number: write 2026-03-01 or 20260301.0"
            self._refuse(cells, [bool(COMPACT.fullmatch(cell.strip())) for cell in cells], says)
        zones = [getattr(time, "tzinfo", float) for time in found]
        says = (
            ": {cell!r} does not fit the rows above: times are all numbers, all dates without an "
            "offset, or all dates with one"
        )
        self._refuse(cells, [zone != zones[0] for zone in zones], says)
        if zones[0] is not float:
            found = [time.replace(tzinfo=None) for time in found]
        times = np.array(found, np.float64 if zones[0] is float else "datetime64[us]")
        says = (
            ": {cell!r} is before the time of the row above: sort the rows, and write local times "
            "with their offset, like 2026-10-25 02:00+01:00"
        )
        self._refuse(cells, np.append(False, times[1:] < times[:-1]), says)
        return times

    def _time(self, cell: str) -> Any:
        found = self._date(cell) if self.date_format or self.day_first else None
        found = self._value(cell) if found is None and not self.date_format else found
        return None if isinstance(found, float) and not abs(found) <= LARGEST else found

    def _value(self, cell: str) -> Any:
        """The number or the date in a cell, NaN if it is empty; None if it is something else."""
        word = cell.strip()
        if word.lower() in self.empty:
            return np.nan
        try:
            number = float(word.replace(self.thousands, "").replace(self.decimal, "."))
        except ValueError:
            return self._date(word)
        return np.nan if number in self.missing else number

    def _date(self, cell: str) -> datetime | None:
        """The date in a cell, in UTC if it has an offset; None if it is something else."""
        try:
            if self.date_format is None:
                if self.day_first and (parts := DAY_FIRST.fullmatch(cell.strip())):
                    day, month, year, rest = parts.groups()
                    hour = ONE_DIGIT.sub(r" 0\1:", rest)
                    cell = f"{year}-{month:0>2}-{day:0>2}{hour}"
                found = datetime.fromisoformat(cell.strip())
            else:
                found = datetime.strptime(cell.strip(), self.date_format)
            return found if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):  # the latter in the years 1 and 9999
            return None

    def _refuse(self, cells: Any, wrong: ArrayLike, says: str) -> None:
        """Raise an error about the first cell of a column that is wrong, if there is one."""
        for row, cell in cells[np.asarray(wrong, np.bool_)].head(1).items():
            reader = csv.reader(self._lines(), delimiter=self.sep, skipinitialspace=True)
            lines = (reader.line_num for found in reader if len(found) > 1 or any(found))
            name = repr(self.names[cells.name]) if self.names else cells.name + 1
            where = f"{self.file}: line {next(islice(lines, row, None))}, column {name}"
            raise InvalidInput(where + says.format(cell=cell.strip()[:50]))

    def _lines(self) -> Iterator[str]:
        """The lines of the file, blank ones instead of comments."""
        opened: Callable[..., TextIO] = gzip.open if self.file.suffix.lower() == ".gz" else open
        with opened(self.file, "rt", newline="", encoding=self.encoding) as lines:
            for number, line in enumerate(lines):
                comment = self.comment and line.startswith(self.comment)
                yield "\n" if comment or number < self.skipped else line

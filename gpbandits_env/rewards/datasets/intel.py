"""Temperatures at the Intel Research Berkeley lab: 46 sensors, 5 days; and the raw readings.

The first is very probably the file of the temperature experiments of srinivas2010 and
bogunovic2016. The raw readings have one line per message, "date time epoch moteid temperature
humidity light voltage", with the defects of real deployments: fields are missing, motes stop
sending, and a mote with a weak battery reports wrong temperatures (122 degrees).
"""

import gzip
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from scipy.io import loadmat

from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.files import check_unpacked
from gpbandits_env.rewards.datasets.dataset import Dataset
from gpbandits_env.rewards.datasets.tables import Readings, interpolated

SENSORS, DAYS, MINUTES = 46, 5, 24 * 60
# The lab's motes 1..54, but those without data.
LABELS = tuple(str(i) for i in range(1, 55) if i not in {5, 6, 13, 15, 17, 20, 30, 32})
OUTLIER = (4278, 6)
URL = "https://db.csail.mit.edu/labdata/data.txt.gz"
# Below this voltage the readings of a mote drift; the lab rooms were never beyond these degrees.
LEAST_VOLTAGE = 2.3
COLDEST, WARMEST = 5.0, 50.0
COLUMN = {int(label): i for i, label in enumerate(LABELS)}


def load_intel(dataset: Dataset, every: int = 1) -> Readings:
    """The readings, one per minute, or every ``every`` minutes from midnight on.

    The file has 1441 rows per day with both midnights; the second is left out. Its one outlier,
    4.20 degrees between 20.97 and 20.93, is replaced by the mean of its neighbors.

    Args:
        dataset: its declaration.
        every: minutes between readings: 1 (7200 rows, srinivas2010) or 10 (720 rows,
            bogunovic2016), or any other divisor of a day.
    Raises:
        MissingData: the file is missing.
        InvalidInput: it is another file, or ``every`` does not divide a day.
    """
    rows = _rows_per_day(every)
    struct = _read(dataset.locate())
    data, (row, column) = np.array(struct.data, dtype=np.float64), OUTLIER
    around = data[[row - 1, row + 1], column]
    # A copy of the file without the outlier is left unchanged.
    if abs(data[row, column] - around.mean()) > 5.0:
        data[row, column] = around.mean()
    days = [data[d * (MINUTES + 1) :][:MINUTES:every] for d in range(DAYS)]
    return Readings(
        np.concatenate(days), LABELS, "°C", struct.coords, np.repeat(np.arange(DAYS), rows)
    )


def _rows_per_day(every: int) -> int:
    if MINUTES % whole(every, "every"):
        raise InvalidInput(f"every must divide a day of {MINUTES} minutes, got {every}")
    return MINUTES // every


def _read(path: Path) -> Any:
    try:
        struct = loadmat(path, squeeze_me=True, struct_as_record=False)["berkeley_data"]
        shape = struct.data.shape
    except Exception as error:  # the reader may raise anything for a file of another kind
        raise InvalidInput(f"{path} is not the expected MATLAB file: {error!r}") from None
    if shape != (DAYS * (MINUTES + 1), SENSORS):
        raise InvalidInput(f"{path}: data must have shape (7205, 46), got {shape}")
    return struct


INTEL = Dataset(
    "intel-berkeley",
    "temperature, 46 sensors, 5 days, 1 or 10 minutes (srinivas2010, bogunovic2016)",
    ("berkeley_data.mat",),
    "intel_berkeley_46",
    "It is a MATLAB file with a struct 'berkeley_data' of data (7205, 46), coords (46, 2) and "
    "usedDays, made from the public readings at https://db.csail.mit.edu/labdata/labdata.html, "
    "and passed on by those who published with it: ask the authors, or a colleague.",
    load_intel,
)


def load_intel_raw(
    dataset: Dataset, every: int = 10, days: int | None = None, longest_gap: int = 120
) -> Readings:
    """The temperatures of 46 motes as a table, with one row every ``every`` minutes.

    A cell is the mean of the valid readings of a mote in these minutes. Gaps are interpolated in
    time. Days with a gap of more than ``longest_gap`` minutes at some mote are left out.

    Cost: one pass over the file, with three numbers in memory for each valid line.

    Args:
        dataset: its declaration.
        every: the minutes per row, a divisor of a day.
        days: the number of complete days to keep, from the first; None for all.
        longest_gap: the longest allowed gap, in minutes.
    Raises:
        MissingData: the file is missing.
        InvalidInput: an option is out of range, or the file has no complete day.
    """
    path, slots = dataset.locate(), _rows_per_day(every)
    whole(longest_gap, "longest_gap")
    if days is not None:
        whole(days, "days")
    opened: Callable[..., TextIO] = gzip.open if path.suffix == ".gz" else open
    try:
        if opened is not open:
            check_unpacked(path)
        with opened(path, "rt", encoding="ascii", errors="replace") as lines:
            found = _days(lines, every, slots)
    except (OSError, EOFError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from None
    kept = [day for day in found if _fits(day, longest_gap // every)]
    kept = kept[:days]
    if not kept:
        raise InvalidInput(
            f"no day has all 46 motes without a gap above {longest_gap} minutes; allow a larger "
            "longest_gap, or check that the file is complete"
        )
    values = np.concatenate([interpolated(day, "a day") for day in kept])
    return Readings(values, LABELS, "°C", days=np.repeat(np.arange(len(kept)), slots))


def _days(lines: Iterable[str], every: int, slots: int) -> Array:
    """Means by (day since the first one, slot, mote), NaN where a mote has no reading."""
    found = np.fromiter(_valid(lines), "i8,i8,f8")
    if not len(found):
        raise InvalidInput("the file has no valid reading")
    minutes, motes, degrees = (found[name] for name in ("f0", "f1", "f2"))
    minutes -= minutes.min() // MINUTES * MINUTES
    size = (minutes.max() // MINUTES + 1) * slots * len(LABELS)
    where = minutes // every * len(LABELS) + motes
    with np.errstate(invalid="ignore"):
        means = np.bincount(where, degrees, size) / np.bincount(where, None, size)
    return means.reshape(-1, slots, len(LABELS))


def _valid(lines: Iterable[str]) -> Iterator[tuple[int, int, float]]:
    """The (minute since the year 1, column, temperature) of each valid line."""
    for line in lines:
        fields = line.split()
        try:
            when = datetime.fromisoformat(f"{fields[0]} {fields[1][:8]}")
            mote, temperature, voltage = int(fields[3]), float(fields[4]), float(fields[7])
        except (IndexError, ValueError):
            continue
        if mote in COLUMN and voltage >= LEAST_VOLTAGE and COLDEST <= temperature <= WARMEST:
            minute = when.toordinal() * MINUTES + when.hour * 60 + when.minute
            yield minute, COLUMN[mote], temperature


def _fits(day: Array, most: int) -> bool:
    """Whether no mote has a gap of more than ``most`` slots."""
    silent = np.isnan(day)
    longer = range(len(day) - most)
    return not any(silent[start : start + most + 1].all(axis=0).any() for start in longer)


INTEL_RAW = Dataset(
    "intel-berkeley-raw",
    "temperature, the same 46 sensors, five weeks of raw messages (34 MB packed)",
    ("data.txt", "data.txt.gz"),
    "intel_berkeley_raw",
    "Get it with 'gpbandits data --download intel-berkeley-raw' (34 MB, 150 MB unpacked; no "
    f"checksum is published). The address is {URL}.",
    load_intel_raw,
    URL,
)

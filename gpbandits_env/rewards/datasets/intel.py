"""Temperatures at the Intel Research Berkeley lab: 46 sensors, 5 days.

This is very probably the file of the temperature experiments of srinivas2010 and bogunovic2016.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.datasets.dataset import Dataset
from gpbandits_env.rewards.datasets.tables import Readings

SENSORS, DAYS, MINUTES = 46, 5, 24 * 60
# The lab's motes 1..54, but those without data.
LABELS = tuple(str(i) for i in range(1, 55) if i not in {5, 6, 13, 15, 17, 20, 30, 32})
OUTLIER = (4278, 6)


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
    if MINUTES % whole(every, "every"):
        raise InvalidInput(f"every must divide a day of {MINUTES} minutes, got {every}")
    struct = _read(dataset.locate())
    data, (row, column) = np.array(struct.data, dtype=np.float64), OUTLIER
    around = data[[row - 1, row + 1], column]
    # A copy of the file without the outlier is left unchanged.
    if abs(data[row, column] - around.mean()) > 5.0:
        data[row, column] = around.mean()
    days = [data[d * (MINUTES + 1) :][:MINUTES:every] for d in range(DAYS)]
    numbers = np.repeat(np.arange(DAYS), MINUTES // every)
    return Readings(np.concatenate(days), LABELS, "°C", struct.coords, numbers)


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

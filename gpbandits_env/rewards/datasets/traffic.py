"""Highway speeds by loop detectors: METR-LA (a week, or four months), PEMS-BAY, and the I-880.

srinivas2010 and bogunovic2016 used 357 sensors on the I-880 South on working days of one month, 6
to 11 AM. These data came from the PeMS of the California Department of Transportation and are not
public: METR-LA and PEMS-BAY replace them, and users who have them must provide them in the layout
of `I880`.

Source of METR-LA and PEMS-BAY: Jagadish et al. (2014); Li et al. (2018), DCRNN;
https://zenodo.org/records/5724362, CC BY 4.0.
"""

from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.datasets.dataset import Dataset
from gpbandits_env.rewards.datasets.tables import Readings, interpolated, read_table

ZENODO = "https://zenodo.org/records/5724362/files/"
MAP = "graph_sensor_locations.csv"
START = np.datetime64("2012-03-01T00:00", "m")
KILOMETERS_PER_DEGREE = 111.195  # of latitude, on a sphere of radius 6371 km
FIVE_MINUTES = np.timedelta64(5, "m")

SENSORS = 357


def load_speeds(dataset: Dataset, mornings: bool = False, working_days: bool = False) -> Readings:
    """METR-LA or PEMS-BAY; readings of 0, which mean "none", are interpolated in time.

    The week of METR-LA (2016 rows, no gaps) has no dates: its rows are five minutes apart and begin
    at midnight of 1 March 2012.

    Args:
        dataset: its declaration.
        mornings: 6 to 11 AM only: rows 72..131 of each day's 288.
        working_days: Monday to Friday only.
    Raises:
        MissingData: the file is not there.
        InvalidInput: it is not a table of finite numbers.
    """
    path = dataset.locate()
    table = read_table(path, header=True)
    times: Any = table.times
    if dataset.name == WEEK.name:
        times = START + FIVE_MINUTES * np.arange(len(table.values))
    elif times is None or times.dtype.kind != "M":
        raise InvalidInput(f"{path}: each row must begin with a date, followed by speeds")
    values = interpolated(np.where(table.values == 0.0, np.nan, table.values), dataset.name)
    dates = times.astype("datetime64[D]")
    hours = (times - dates) // np.timedelta64(1, "h")
    rows = np.ones(len(times), dtype=np.bool_)
    if mornings:
        rows &= (hours >= 6) & (hours < 11)
    if working_days:
        rows &= np.is_busday(dates)
    days = (dates - dates[0]).astype(np.int64)[rows]
    locations = _locations(path.parent / MAP, table.names)
    return Readings(values[rows], table.names, "mph", locations, days)


def _locations(path: Path, names: tuple[str, ...]) -> Array | None:
    """Kilometers of the sensors to the east and north of their mean; None unless all are known."""
    if not path.is_file():
        return None
    table = read_table(path, header=True)
    columns = dict(zip(table.names, table.values.T, strict=True))
    rows = {str(int(sensor)): i for i, sensor in enumerate(columns["sensor_id"])}
    if not all(name in rows for name in names):
        return None
    degrees = np.stack([columns["longitude"], columns["latitude"]], axis=1)
    degrees = degrees[[rows[name] for name in names]]
    middle = degrees.mean(axis=0)
    # A degree of longitude is shorter than one of latitude.
    shares = np.array([np.cos(np.radians(middle[1])), 1.0])
    return KILOMETERS_PER_DEGREE * shares * (degrees - middle)


WEEK = Dataset(
    "metr-la",
    "highway speed, Los Angeles, 207 sensors, one week (stand-in for i880)",
    ("los_speed.csv.gz", "los_speed.csv"),
    "metr_la_week",
    "It is a week of METR-LA (2016 five-minute rows, a first row of 207 sensor ids) that comes "
    "with public code for traffic forecasting (T-GCN's data folder). The whole of METR-LA can be "
    "downloaded: data set 'metr-la-full'.",
    load_speeds,
)
WHOLE = Dataset(
    "metr-la-full",
    "highway speed, Los Angeles, 207 sensors, four months (72 MB)",
    ("METR-LA.csv",),
    "metr_la_week",
    "Get it with 'gpbandits data --download metr-la-full'.",
    load_speeds,
    ZENODO + "METR-LA.csv",
    "sha256:8d67a35472db1719d7d4be851f2bf64cb21d9c52577c8a6b4b873d43205af381",
)
BAY = Dataset(
    "pems-bay",
    "highway speed, San Francisco Bay, 325 sensors, six months",
    ("PEMS-BAY.csv",),
    "metr_la_week",
    "Get it with 'gpbandits data --download pems-bay'.",
    load_speeds,
    ZENODO + "PEMS-BAY.csv",
    "md5:c8dea58987a5882e946217c22fdb8256",
)


def load_i880(dataset: Dataset) -> Readings:
    """The readings, (rows, 357), in the order of the file.

    Raises:
        MissingData: the file is missing.
        InvalidInput: the file has another layout (see ``how_to_get``).
    """
    path = dataset.locate()
    table = read_table(path)
    values, names = table.values, table.names or tuple(map(str, range(table.values.shape[1])))
    days = np.zeros(0, dtype=np.int64)
    if names[0].lower() == "day":
        days = np.unique(values[:, 0], return_inverse=True)[1]
        if (np.diff(days) < 0).any():
            raise InvalidInput(f"{path}: the days must not decrease from one row to the next")
        values, names = values[:, 1:], names[1:]
    if values.shape[1] != SENSORS:
        raise InvalidInput(f"{path}: there must be {SENSORS} sensors, got {values.shape[1]}")
    return Readings(values, names, "mph", days=days)


I880 = Dataset(
    "i880",
    "highway speed, I-880 South, 357 sensors, one month (srinivas2010, bogunovic2016)",
    ("i880.csv", "i880.csv.gz"),
    "i880",
    "These data are not public: with an account at https://pems.dot.ca.gov, export the speeds of "
    "357 sensors on the I-880 South, working days 6-11 AM, one row per reading in time order, one "
    "column per sensor, comma separated; a first line of names is optional, and so is a first "
    "column named 'day' with the number of the day.",
    load_i880,
)

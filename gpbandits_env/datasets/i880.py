"""Speeds on the I-880 South, in a layout that users who have the data must provide.

srinivas2010 and bogunovic2016 used 357 sensors on working days of one month, 6 to 11 AM. The data
came from the PeMS of the California Department of Transportation and are not public.
"""

import numpy as np

from gpbandits_env.datasets.dataset import Dataset
from gpbandits_env.datasets.files import read_table
from gpbandits_env.datasets.tables import Readings
from gpbandits_env.errors import InvalidInput

SENSORS = 357


def load_i880() -> Readings:
    """The readings, (rows, 357), in the order of the file.

    Raises:
        MissingData: the file is missing.
        InvalidInput: the file has another layout (see ``I880.how_to_get``).
    """
    path = I880.locate()
    table = read_table(path)
    values = table.values
    labels = list(table.names or map(str, range(values.shape[1])))
    days = np.zeros(len(values), dtype=np.int64)
    if labels[0].lower() == "day":
        days = np.unique(values[:, 0], return_inverse=True)[1]
        if (np.diff(days) < 0).any():
            raise InvalidInput(f"{path}: the days must not fall from one row to the next")
        values, labels = values[:, 1:], labels[1:]
    if values.shape[1] != SENSORS:
        raise InvalidInput(f"{path}: there must be {SENSORS} sensors, got {values.shape[1]}")
    return Readings(
        "i880", values, days, tuple(labels), "mph", "Caltrans PeMS, I-880 South", "the provider's"
    )


I880 = Dataset(
    "i880",
    "highway speed, I-880 South, 357 sensors, one month (srinivas2010, bogunovic2016)",
    ("i880.csv", "i880.csv.gz"),
    "i880",
    "These data are not public: with an account at https://pems.dot.ca.gov, export the speeds of "
    "357 sensors on the I-880 South, working days 6-11 AM, one row a reading in time order, one "
    "column a sensor, comma separated; a first line of names is optional, and so is a first "
    "column named 'day' with the number of the day.",
    load_i880,
)

"""The independent units of the scenarios of time: trials on recorded data replay the same days."""

import numpy as np

from gpbandits_env.arrays import IntArray
from gpbandits_env.scenarios.results.store import Store


def one_unit(store: Store, cell: int) -> IntArray:
    """All trials are one unit."""
    return np.zeros(len(store.trials(cell, store.labels(cell)[0])), np.int64)


UNITS = {"time/temperature": one_unit, "time/traffic": one_unit}

"""Tables of numbers: readings of many sensors at many times."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import LARGEST, Array, IntArray, frozen, numbers
from gpbandits_env.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Readings:
    """A table of readings, with one row per time and one column per sensor.

    Args:
        name: the name of the data set.
        values: (rows, n) finite readings, in time order; kept read-only.
        days: (rows,) the day number of each row, from 0, in increasing order.
        labels: (n,) the sensors' names.
        unit: of a reading.
        source: who measured it, to be named in what is published.
        licence: the terms of use.
        locations: (n, 2) east and north in one unit of length, if known.
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

"""Readings of many sensors at many times."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array, IntArray, frozen
from gpbandits_env.datasets.tables import check_table
from gpbandits_env.errors import InvalidInput


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
        return Readings(
            self.name,
            self.values[keep],
            self.days[keep],
            self.labels,
            self.unit,
            self.source,
            self.licence,
            self.locations,
        )

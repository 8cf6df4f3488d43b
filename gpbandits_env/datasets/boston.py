"""Housing values in the suburbs of Boston: 506 districts, 13 properties, the median value.

Source: Harrison and Rubinfeld (1978). ren2024 uses it to tune a regression network, and it is kept
here for that reason only. One of its columns, 1000 (B - 0.63)^2, is a reason not to use it for
anything else.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from gpbandits_env.arrays import Array, finite_array, frozen
from gpbandits_env.datasets.dataset import packaged_table
from gpbandits_env.errors import InvalidInput

ROWS, PROPERTIES = 506, 13


@dataclass(frozen=True, eq=False)
class Housing:
    """The districts of Boston.

    Args:
        properties: (506, 13), in the units of the source; read-only.
        values: (506,) the median value of a home, in 1000 dollars; read-only.
    Raises:
        InvalidInput: the shapes are wrong, or a number is not finite.
    """

    properties: Array
    values: Array

    def __post_init__(self) -> None:
        properties, values = finite_array(self.properties, "boston"), finite_array(self.values, "")
        if properties.shape != (ROWS, PROPERTIES) or values.shape != (ROWS,):
            raise InvalidInput(f"boston must be a table of 506 x 14 numbers, got {values.shape}")
        object.__setattr__(self, "properties", frozen(np.array(properties)))
        object.__setattr__(self, "values", frozen(np.array(values)))


@cache
def load_boston() -> Housing:
    """The table from the data folder or from the package mlxtend; read once per process.

    Raises:
        MissingExtra: the package mlxtend is not installed.
        InvalidInput: the file has other content.
    """
    table = packaged_table("boston_housing.csv", "boston")
    return Housing(table[:, :PROPERTIES], table[:, -1])

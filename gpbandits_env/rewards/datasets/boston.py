"""Housing values in the suburbs of Boston: 506 districts, 13 properties, the median value.

Source: Harrison and Rubinfeld (1978). ren2024 uses it to tune a regression network, and it is kept
here for that reason only. One of its columns, 1000 (B - 0.63)^2, is a reason not to use it for
anything else.
"""

from functools import cache
from typing import NamedTuple

from gpbandits_env.arrays import Array, frozen
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.datasets.dataset import packaged_table

ROWS, PROPERTIES = 506, 13


class Housing(NamedTuple):
    """The districts of Boston; both arrays are read-only.

    Args:
        properties: (506, 13), in the units of the source.
        values: (506,) the median value of a home, in 1000 dollars.
    """

    properties: Array
    values: Array


@cache
def load_boston() -> Housing:
    """The table from the data folder or from the package mlxtend; read once per process.

    Raises:
        MissingExtra: the package mlxtend is not installed.
        InvalidInput: the file has other content.
    """
    table = frozen(packaged_table("boston_housing.csv", "boston"))
    if table.shape != (ROWS, PROPERTIES + 1):
        raise InvalidInput(f"boston must be a table of 506 x 14 numbers, got {table.shape}")
    return Housing(table[:, :PROPERTIES], table[:, -1])

"""Housing values in the suburbs of Boston: 506 districts, 13 properties, the median value.

Source: Harrison and Rubinfeld (1978). ren2024 uses it to tune a regression network, and it is kept
here for that reason only. One of its columns, 1000 (B - 0.63)^2, is a reason not to use it for
anything else.
"""

from functools import cache

from gpbandits_env.arrays import Array, frozen
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.datasets.dataset import packaged_table

ROWS, PROPERTIES = 506, 13


@cache
def load_boston() -> tuple[Array, Array]:
    """The table from the data folder or from the package mlxtend; read once per process.

    Returns:
        The properties of the districts (506, 13), in the units of the source, and the median value
        of a home (506,), in 1000 dollars; both are read-only.
    Raises:
        MissingExtra: the package mlxtend is not installed.
        InvalidInput: the file has other content.
    """
    table = frozen(packaged_table("boston_housing.csv", "boston"))
    if table.shape != (ROWS, PROPERTIES + 1):
        raise InvalidInput(f"boston must be a table of 506 x 14 numbers, got {table.shape}")
    return table[:, :PROPERTIES], table[:, -1]

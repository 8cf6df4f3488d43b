"""Points that fill a box evenly."""

import numpy as np

from gpbandits_env.arrays import Array


def sobol(dim: int, count: int, rng: np.random.Generator | None = None) -> Array:
    """The first points of Sobol's sequence in the unit cube, (count, dim).

    ``rng`` scrambles the points; without it, they are always the same.
    """
    # The import takes longer than those of all other modules, and agents on arms do without it.
    from scipy.stats import qmc

    power = int(np.ceil(np.log2(count)))
    points = qmc.Sobol(dim, scramble=rng is not None, rng=rng).random_base2(power)
    return np.asarray(points[:count])

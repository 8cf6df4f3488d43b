"""Points that fill a box evenly."""

from functools import lru_cache

import numpy as np

from gpbandits_env.arrays import Array, frozen


def sobol(dim: int, power: int, rng: np.random.Generator | None = None) -> Array:
    """The first ``2**power`` points of Sobol's sequence in the unit cube, (2**power, dim).

    ``rng`` scrambles the points; without it, they are always the same, and a read-only array.
    """
    return _even(dim, power) if rng is None else _points(dim, power, rng)


@lru_cache(maxsize=8)
def _even(dim: int, power: int) -> Array:
    return frozen(_points(dim, power, None))


def _points(dim: int, power: int, rng: np.random.Generator | None) -> Array:
    # The import takes longer than those of all other modules, and agents on arms do without it.
    from scipy.stats import qmc

    return np.asarray(qmc.Sobol(dim, scramble=rng is not None, rng=rng).random_base2(power))

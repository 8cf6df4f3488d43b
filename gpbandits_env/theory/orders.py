"""How the largest information gain gamma_T grows with T: the orders of srinivas2010, Theorem 5.

They leave out constants: compare shapes with them, not values.
"""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput


def gain_order_linear(horizon: ArrayLike, dim: int) -> Array:
    """Of the linear kernel: d log T."""
    return np.asarray(whole(dim, "dim") * _log(horizon))


def gain_order_se(horizon: ArrayLike, dim: int) -> Array:
    """Of the squared exponential kernel: (log T)^(d+1)."""
    return np.asarray(_log(horizon) ** (whole(dim, "dim") + 1))


def gain_order_matern(horizon: ArrayLike, dim: int, nu: float) -> Array:
    """Of Matern kernels, nu > 1: T^(d(d+1) / (2 nu + d(d+1))) log T.

    Raises:
        InvalidInput: nu <= 1, for which the paper has no order.
    """
    if not 1.0 < nu < np.inf:
        raise InvalidInput(f"nu must be above 1, got {nu!r}")
    d = whole(dim, "dim")
    exponent = d * (d + 1) / (2.0 * nu + d * (d + 1))
    log = _log(horizon)
    return np.asarray(np.exp(exponent * log) * log)


def _log(horizon: ArrayLike) -> Array:
    rounds = np.asarray(horizon, dtype=np.float64)
    if not (rounds >= 1.0).all():
        raise InvalidInput(f"a horizon is at least 1, got {horizon!r}")
    return np.asarray(np.log(rounds))

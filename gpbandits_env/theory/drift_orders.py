r"""How regret grows with the horizon and the drift: the orders of bogunovic2016, Corollary 4.1.

With gamma_N = O(N^c), c = 0 for the squared exponential and c = d(d+1) / (2 nu + d(d+1)) for
Matern kernels (logarithms left out), the bounds of Theorems 4.2 and 4.3 are of order

.. math:: T (N^{(c-1)/2} + N^{3/2} \epsilon^{1/2}) \quad\text{and}\quad
    T (N^{c-1} + N^2 \epsilon)^{1/2}

for a block length N <= T, and the corollary takes the best N. Constants and logarithms are left
out: compare shapes with these, not values.
"""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput


def resetting_regret_order(
    horizon: ArrayLike, epsilon: ArrayLike, nu: float | None = None, dim: int = 1
) -> Array:
    """R-GP-UCB: max(T^((1+c)/2), T epsilon^((1-c) / (2 (4-c)))).

    Args:
        horizon: T >= 1.
        epsilon: the drift, in [0, 1].
        nu: of a Matern kernel; None for the squared exponential.
        dim: d, of the domain.
    Raises:
        InvalidInput: a number out of range.
    """
    return _order(horizon, epsilon, _exponent(nu, dim), 4.0)


def time_varying_regret_order(
    horizon: ArrayLike, epsilon: ArrayLike, nu: float | None = None, dim: int = 1
) -> Array:
    """TV-GP-UCB: max(T^((1+c)/2), T epsilon^((1-c) / (2 (3-c)))).

    Args:
        horizon: T >= 1.
        epsilon: the drift, in [0, 1].
        nu: of a Matern kernel; None for the squared exponential.
        dim: d, of the domain.
    Raises:
        InvalidInput: a number out of range.
    """
    return _order(horizon, epsilon, _exponent(nu, dim), 3.0)


def _order(horizon: ArrayLike, epsilon: ArrayLike, c: float, power: float) -> Array:
    t, eps = np.asarray(horizon, dtype=np.float64), np.asarray(epsilon, dtype=np.float64)
    if not (t >= 1.0).all():
        raise InvalidInput(f"a horizon is at least 1, got {horizon!r}")
    if not ((eps >= 0.0) & (eps <= 1.0)).all():
        raise InvalidInput(f"epsilon must lie in [0, 1], got {epsilon!r}")
    still, moving = t ** (0.5 * (1.0 + c)), t * eps ** (0.5 * (1.0 - c) / (power - c))
    return np.asarray(np.maximum(still, moving))


def _exponent(nu: float | None, dim: int) -> float:
    d = whole(dim, "dim")
    if nu is None:
        return 0.0
    if not 1.0 < nu < np.inf:
        raise InvalidInput(f"nu must be above 1, got {nu!r}")
    return d * (d + 1) / (2.0 * nu + d * (d + 1))

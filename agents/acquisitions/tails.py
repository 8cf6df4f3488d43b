"""The normal distribution in its tails, for log-EI and log-PI.

With R(z) = Phi(z) / phi(z) the Mills ratio, h(z) = phi(z) + z Phi(z) = phi(z) (1 + z R(z)).

Source: Ament et al. (2023), "Unexpected Improvements to Expected Improvement", eq. (9).
"""

import math

import numpy as np
from scipy.special import erfcx, ndtr

from gpbandits_env.arrays import Array

SQRT_2 = math.sqrt(2.0)
SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
# Below NEAR, phi + z Phi loses digits to cancellation. Below FAR, 1 + z R does too, but there its
# series has converged.
NEAR, FAR = -1.0, -40.0


def log_h(z: Array) -> Array:
    """log(phi(z) + z Phi(z)), a new array, accurate to 1e-12; -inf at -inf."""
    z = np.asarray(z, dtype=np.float64)
    out = np.empty_like(z)
    near = z > NEAR
    high, low = z[near], z[~near]
    with np.errstate(over="ignore", under="ignore"):
        out[near] = np.log(_density(high) + high * ndtr(high))
        out[~near] = _log_bracket(low, mills(low)) - (0.5 * low**2 + LOG_SQRT_2PI)
    return out


def log_h_and_slopes(z: Array) -> tuple[Array, Array, Array]:
    """`log_h` (bit-identical), its derivative Phi(z) / h(z), and phi(z) / h(z); z > -1e150."""
    z = np.asarray(z, dtype=np.float64)
    near = z > NEAR
    count = int(np.count_nonzero(near))
    with np.errstate(over="ignore", under="ignore"):
        if z.ndim and count in (0, z.size):
            return _near(z) if count else _far(z)
        value, cumulative, density = np.empty_like(z), np.empty_like(z), np.empty_like(z)
        value[near], cumulative[near], density[near] = _near(z[near])
        value[~near], cumulative[~near], density[~near] = _far(z[~near])
    return value, cumulative, density


def _near(z: Array) -> tuple[Array, Array, Array]:
    cumulative, density = ndtr(z), _density(z)
    h = density + z * cumulative
    return np.log(h), cumulative / h, density / h


def _far(z: Array) -> tuple[Array, Array, Array]:
    ratio = mills(z)
    bracket = _log_bracket(z, ratio)
    density = np.exp(-bracket)
    return bracket - (0.5 * z**2 + LOG_SQRT_2PI), density * ratio, density


def mills(z: Array) -> Array:
    """The Mills ratio R(z) = Phi(z) / phi(z); inf where it is above 1e308 (z > 37)."""
    with np.errstate(over="ignore"):
        return SQRT_HALF_PI * erfcx(-z / SQRT_2)


def hazard(z: Array) -> Array:
    """phi(z) / Phi(z), the derivative of log Phi."""
    return 1.0 / mills(z)


def _density(z: Array) -> Array:
    return np.exp(-0.5 * z**2 - LOG_SQRT_2PI)


def _log_bracket(z: Array, ratio: Array) -> Array:
    """log(1 + z R(z)) for z <= -1 and R(z), where h = phi (1 + z R)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log(1.0 + z * ratio)
    if not (z < FAR).any():
        return middle
    # 1 + z R = w (1 - 3 w + 3 5 w^2 - ...), w = 1 / z^2: exact to 1e-16 below FAR.
    w = 1.0 / z**2
    tail = 3 * w * (1 - 5 * w * (1 - 7 * w * (1 - 9 * w * (1 - 11 * w * (1 - 13 * w)))))
    return np.where(z < FAR, np.log1p(-np.where(z < FAR, tail, 0.0)) - 2.0 * np.log(-z), middle)

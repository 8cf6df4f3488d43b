r"""M_nu(a) = 2^{1-nu} / Gamma(nu) a^nu K_nu(a), the profile of the Matern kernels.

M_nu(0) = 1, and M decreases to 0. Below nu = 25 it is taken from SciPy's scaled Bessel function.
Above, K_nu overflows at ordinary distances, and its uniform expansion for large order is used, in
which the large terms cancel on paper:

    M_nu(a) = exp(nu (log((1 + s) / 2) - (s - 1))) s^{-1/2} U(1 / s) / U(1),
    s = sqrt(1 + (a / nu)^2),  U(p) = sum_k (-1)^k u_k(p) / nu^k

Source: NIST Digital Library of Mathematical Functions, 10.41.4 and 10.41.9 for u_k.
"""

from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import gamma, kve

from gpbandits_env.arrays import Array

LARGE_ORDER = 25.0
TERMS = 12
"""Enough for 1e-15 at nu = 25."""
FAR = 5e3
"""Beyond a = 5000 every profile of order below 25 is 0 in double precision."""
HUGE = 1e290


def matern_profile(nu: float, a: Array) -> Array:
    """M_nu(a), in [0, 1], for a >= 0 of any size."""
    if nu >= LARGE_ORDER:
        return _large_order(nu, a)
    a = np.minimum(a, FAR)
    safe = np.where(a > 0, a, 1.0)
    bessel = kve(nu, safe)
    with np.errstate(over="ignore", invalid="ignore"):
        values = 2.0 ** (1.0 - nu) / gamma(nu) * safe**nu * bessel * np.exp(-safe)
    # The Bessel function is so large only where M differs from 1 by less than 1e-16.
    ones = (a == 0) | (bessel > HUGE)
    return np.asarray(np.where(ones, 1.0, np.minimum(values, 1.0)))


def matern_slope(nu: float, a: Array) -> Array:
    r"""-p'(r) / r of the Matern profile p at r = a / sqrt(2 nu).

    It equals nu / (nu - 1) M_{nu-1}(a) for nu > 1. For nu <= 1 it grows without bound towards
    a = 0, where it is set to 0.
    """
    if nu > 2.0:
        return nu / (nu - 1.0) * matern_profile(nu - 1.0, a)
    a = np.minimum(a, FAR)
    safe = np.where(a > 0, a, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        factor = nu * 2.0 ** (2.0 - nu) / gamma(nu)
        values = factor * safe ** (nu - 1.0) * kve(abs(nu - 1.0), safe) * np.exp(-safe)
    at_zero = nu / (nu - 1.0) if nu > 1.0 else 0.0
    return np.asarray(np.where((a > 0) & np.isfinite(values), values, at_zero))


def _large_order(nu: float, a: Array) -> Array:
    z = np.minimum(a / nu, 1e8)
    s = np.sqrt(1.0 + z * z)
    grown = z * z / (1.0 + s)  # s - 1 without cancellation
    exponent = nu * (np.log1p(grown / 2.0) - grown)
    series = _debye(nu)
    return np.asarray(np.exp(exponent) / np.sqrt(s) * (series(1.0 / s) / series(1.0)))


@lru_cache(maxsize=64)
def _debye(nu: float) -> Polynomial:
    """U(p) for this order, from u_{k+1} = p^2 (1 - p^2) u_k' / 2 + int_0^p (1 - 5 q^2) u_k / 8."""
    half, eighth = Polynomial([0, 0, 0.5, 0, -0.5]), Polynomial([0.125, 0, -0.625])
    term, total = Polynomial([1.0]), Polynomial([1.0])
    for k in range(1, TERMS + 1):
        term = half * term.deriv() + (eighth * term).integ()
        total = total + term * (-1.0 / nu) ** k
    return total

r"""The Matern family: closed forms at nu = 1/2, 3/2, 5/2, Bessel functions otherwise.

M_nu(a) = 2^{1-nu} / Gamma(nu) a^nu K_nu(a) is the profile: M_nu(0) = 1, and M decreases to 0. Below
nu = 25 it uses SciPy's scaled Bessel function. Above, K_nu overflows at ordinary distances. The
uniform expansion for large order replaces it, after the large terms have been cancelled by hand:

    M_nu(a) = exp(nu (log((1 + s) / 2) - (s - 1))) s^{-1/2} U(1 / s) / U(1),
    s = sqrt(1 + (a / nu)^2),  U(p) = sum_k (-1)^k u_k(p) / nu^k

Source: NIST Digital Library of Mathematical Functions, 10.41.4 and 10.41.9 for u_k.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import gamma, kve

from gpbandits_env.arrays import Array
from gpbandits_env.gp.kernels.kernel import KERNELS
from gpbandits_env.gp.kernels.stationary import Stationary

LARGE_ORDER = 25.0
# Terms of the expansion; these are enough for 1e-15 at nu = 25.
TERMS = 12
# Beyond a = 5000 every profile of order below 25 underflows to 0 in double precision.
FAR = 5e3
HUGE = 1e290


def _student_scales(kernel: Stationary, rng: np.random.Generator, count: int) -> Array:
    """The Matern spectrum is a multivariate Student t with 2 nu degrees of freedom."""
    assert kernel.smoothness is not None
    freedom = 2.0 * kernel.smoothness
    return np.asarray(np.sqrt(freedom / rng.chisquare(freedom, size=(count, 1))))


@KERNELS.register("matern")
@dataclass(frozen=True)
class Matern(Stationary):
    r"""Matern kernel of any smoothness nu > 0.

    .. math:: k(x, z) = v \frac{2^{1-\nu}}{\Gamma(\nu)} a^\nu B_\nu(a), \quad
        a = \sqrt{2\nu} \|(x - z)/\ell\|_2

    Draws have ceil(nu) - 1 derivatives. The closed forms are used at nu = 1/2, 3/2 and 5/2; for
    any other nu below 25 a value costs a Bessel function, which takes many times as long.

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
        nu: the smoothness; it is fixed, and not among the learned `parameters`.
    Source: srinivas2010, Section 5.2.
    """

    nu: float = field(kw_only=True)
    fixed: ClassVar[tuple[str, ...]] = ("nu",)
    spectral_scales = _student_scales

    @property
    def smoothness(self) -> float:
        return self.nu

    def profile(self, r: Array) -> Array:
        closed = _CLOSED.get(self.nu)
        return closed.profile(r) if closed else matern_profile(self.nu, sqrt(2.0 * self.nu) * r)

    def slope(self, r: Array) -> Array:
        closed = _CLOSED.get(self.nu)
        return closed.slope(r) if closed else matern_slope(self.nu, sqrt(2.0 * self.nu) * r)

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        closed = _CLOSED.get(self.nu)
        return closed.profile_and_slope(r) if closed else super().profile_and_slope(r)


@KERNELS.register("matern12")
@dataclass(frozen=True)
class Matern12(Stationary):
    r"""Matern kernel of smoothness 1/2 (exponential, Ornstein-Uhlenbeck).

    .. math:: k(x, z) = v e^{-r}, \quad r = \|(x - z)/\ell\|_2

    The kernel has a kink at r = 0, where `slope` and `gradient` are 0 by convention.

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
    Source: Rasmussen & Williams (2006), eq. (4.18) with gamma = 1.
    """

    smoothness: ClassVar[float] = 0.5
    spectral_scales = _student_scales

    def profile(self, r: Array) -> Array:
        return np.exp(-r)

    def slope(self, r: Array) -> Array:
        return np.divide(np.exp(-r), r, out=np.zeros_like(r), where=r > 0)


@KERNELS.register("matern32")
@dataclass(frozen=True)
class Matern32(Stationary):
    r"""Matern kernel of smoothness 3/2.

    .. math:: k(x, z) = v (1 + \sqrt3 r) e^{-\sqrt3 r}, \quad r = \|(x - z)/\ell\|_2

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
    Source: Rasmussen & Williams (2006), eq. (4.17).
    """

    smoothness: ClassVar[float] = 1.5
    spectral_scales = _student_scales

    def profile(self, r: Array) -> Array:
        a = sqrt(3.0) * r
        return (a + 1.0) * np.exp(-a)

    def slope(self, r: Array) -> Array:
        return 3.0 * np.exp(-sqrt(3.0) * r)

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        a = sqrt(3.0) * r
        decay: Array = np.exp(-a)
        return (a + 1.0) * decay, 3.0 * decay


@KERNELS.register("matern52")
@dataclass(frozen=True)
class Matern52(Stationary):
    r"""Matern kernel of smoothness 5/2.

    .. math:: k(x, z) = v (1 + \sqrt5 r + \tfrac53 r^2) e^{-\sqrt5 r}, \quad r = \|(x - z)/\ell\|_2

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
    Source: Rasmussen & Williams (2006), eq. (4.17).
    """

    smoothness: ClassVar[float] = 2.5
    spectral_scales = _student_scales

    def profile(self, r: Array) -> Array:
        a = np.asarray(sqrt(5.0) * r)
        k: Array = a / 3.0
        k += 1.0
        k *= a
        k += 1.0
        np.negative(a, out=a)
        k *= np.exp(a, out=a)
        return k

    def slope(self, r: Array) -> Array:
        a = sqrt(5.0) * r
        return (a + 1.0) * np.exp(-a) * (5.0 / 3.0)

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        a: Array = sqrt(5.0) * r
        decay: Array = np.exp(-a)
        k: Array = a / 3.0
        k += 1.0
        k *= a
        k += 1.0
        k *= decay
        a += 1.0
        a *= decay
        a *= 5.0 / 3.0
        return k, a


_CLOSED: dict[float, Stationary] = {0.5: Matern12(1.0), 1.5: Matern32(1.0), 2.5: Matern52(1.0)}


def matern_profile(nu: float, a: Array) -> Array:
    """M_nu(a), in [0, 1], for any a >= 0."""
    if nu >= LARGE_ORDER:
        return _large_order(nu, a)
    a = np.minimum(a, FAR)
    safe = np.where(a > 0, a, 1.0)
    bessel = kve(nu, safe)
    with np.errstate(over="ignore", invalid="ignore"):
        values = 2.0 ** (1.0 - nu) / gamma(nu) * safe**nu * bessel * np.exp(-safe)
    # The Bessel function overflows only where M differs from 1 by less than 1e-16.
    ones = (a == 0) | (bessel > HUGE)
    return np.asarray(np.where(ones, 1.0, np.minimum(values, 1.0)))


def matern_slope(nu: float, a: Array) -> Array:
    r"""-p'(r) / r of the Matern profile p at r = a / sqrt(2 nu): nu / (nu - 1) M_{nu-1}(a), nu > 1.

    For nu <= 1 it is unbounded as a tends to 0; its value at a = 0 is set to 0.
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
    """U(p) for order nu, from u_{k+1} = p^2 (1 - p^2) u_k' / 2 + int_0^p (1 - 5 q^2) u_k / 8."""
    half, eighth = Polynomial([0, 0, 0.5, 0, -0.5]), Polynomial([0.125, 0, -0.625])
    term, total = Polynomial([1.0]), Polynomial([1.0])
    for k in range(1, TERMS + 1):
        term = half * term.deriv() + (eighth * term).integ()
        total = total + term * (-1.0 / nu) ** k
    return total

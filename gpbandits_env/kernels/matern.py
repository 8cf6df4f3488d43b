"""The Matern family: closed forms at nu = 1/2, 3/2, 5/2, Bessel functions otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.kernels.base import KERNELS, Kernel, hyper
from gpbandits_env.kernels.bessel import matern_profile, matern_slope
from gpbandits_env.kernels.stationary import Stationary


@KERNELS.register("matern12")
@dataclass(frozen=True)
class Matern12(Stationary):
    r"""Matern kernel of smoothness 1/2 (exponential, Ornstein-Uhlenbeck).

    .. math:: k(x, z) = v e^{-r}, \quad r = \|(x - z)/\ell\|_2

    It has a kink at r = 0: `slope` and `gradient` are 0 there by convention.

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
    Source: Rasmussen & Williams (2006), eq. (4.18).
    """

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

    def profile(self, r: Array) -> Array:
        a = sqrt(3.0) * r
        k: Array = np.exp(-a)
        a += 1.0
        k *= a
        return k

    def slope(self, r: Array) -> Array:
        s: Array = np.exp(-sqrt(3.0) * r)
        s *= 3.0
        return s

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        a: Array = sqrt(3.0) * r
        s: Array = np.exp(-a)
        a += 1.0
        a *= s
        s *= 3.0
        return a, s


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

    def profile(self, r: Array) -> Array:
        a = sqrt(5.0) * r
        k: Array = np.exp(-a)
        polynomial = a / 3.0
        polynomial += 1.0
        polynomial *= a
        polynomial += 1.0  # 1 + a + a^2 / 3
        k *= polynomial
        return k

    def slope(self, r: Array) -> Array:
        a = sqrt(5.0) * r
        s: Array = np.exp(-a)
        a += 1.0
        s *= a
        s *= 5.0 / 3.0
        return s

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        a: Array = sqrt(5.0) * r
        e: Array = np.exp(-a)
        s = a + 1.0
        s *= e  # (1 + a) e^-a
        a *= a
        a *= e
        a *= 1.0 / 3.0
        a += s
        s *= 5.0 / 3.0
        return a, s


_CLOSED: dict[float, Stationary] = {0.5: Matern12(1.0), 1.5: Matern32(1.0), 2.5: Matern52(1.0)}


@KERNELS.register("matern")
@dataclass(frozen=True)
class Matern(Stationary):
    r"""Matern kernel of any smoothness nu > 0.

    .. math:: k(x, z) = v \frac{2^{1-\nu}}{\Gamma(\nu)} a^\nu B_\nu(a), \quad
        a = \sqrt{2\nu} \|(x - z)/\ell\|_2

    Its functions have ceil(nu) - 1 derivatives. The closed forms are used at nu = 1/2, 3/2 and
    5/2; elsewhere a value costs a Bessel function, some 20 times more.

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
        nu: the smoothness; fixed, not one of `parameters`.
    Source: srinivas2010, Section 5.2.
    """

    nu: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nu", hyper(self.nu, "nu"))

    def profile(self, r: Array) -> Array:
        closed = _CLOSED.get(self.nu)
        return closed.profile(r) if closed else matern_profile(self.nu, sqrt(2.0 * self.nu) * r)

    def slope(self, r: Array) -> Array:
        closed = _CLOSED.get(self.nu)
        return closed.slope(r) if closed else matern_slope(self.nu, sqrt(2.0 * self.nu) * r)

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        closed = _CLOSED.get(self.nu)
        return closed.profile_and_slope(r) if closed else (self.profile(r), self.slope(r))


def smoothness(kernel: Kernel) -> float | None:
    """The nu of a Matern kernel, of whichever class; None for other kernels."""
    if isinstance(kernel, Matern):
        return kernel.nu
    return next((nu for nu, closed in _CLOSED.items() if type(kernel) is type(closed)), None)

"""The spherical linear kernel: linear regression on a sphere, of rank d + 2."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from gpbandits_env.arrays import Array, finite_array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels.columns import Columns, Pulled
from gpbandits_env.gp.kernels.kernel import KERNELS, Kernel, Lengthscale
from gpbandits_env.gp.kernels.stationary import lengthscale_of


@KERNELS.register("spherical-linear")
@dataclass(frozen=True)
class SphericalLinear(Kernel):
    r"""A box is mapped to a sphere by the inverse stereographic projection; f is linear there.

    .. math:: k(x, z) = v \frac{o + s(x)^T s(z)}{o + 1}, \quad
        s(x) = \frac{(2u, \|u\|^2 - 1)}{\|u\|^2 + 1}, \quad u_i = \frac{x_i - m_i}{a \ell_i}

    where m is the middle of the box and a^2 = r / (1 + r) sum_i ((high_i - low_i) / (2 ell_i))^2.
    On any points the kernel has rank d + 2, so that "coefficients" (see `posterior_for`) are few.

    Args:
        lengthscale: ell > 0, a number or one per coordinate; only ratios count.
        variance: v > 0, the variance of f everywhere.
        offset: o > 0, the variance of a constant relative to that of the linear part.
        radius: r > 0, which sets the share of the sphere that the box covers.
        low, high: the ends of the box, numbers or one per coordinate.
    Source: Doumont et al. (2025); o = b_0 / b_1, log r = its r.
    """

    fixed: ClassVar[tuple[str, ...]] = ("low", "high")
    lengthscale: Lengthscale = 1.0
    variance: float = 1.0
    offset: float = 1.0
    radius: float = 1.0
    low: Lengthscale = 0.0
    high: Lengthscale = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lengthscale", lengthscale_of(self.lengthscale))
        for name in self.fixed:
            ends = finite_array(getattr(self, name), name)
            object.__setattr__(self, name, tuple(ends.tolist()) if ends.ndim else float(ends))
        sizes = {np.size(part) for part in (self.lengthscale, self.low, self.high)} - {1}
        if len(sizes) > 1 or not np.all(np.asarray(self.low) < self.high):
            raise InvalidInput(f"low must be below high, in one dimension with lengthscale: {self}")

    def projected(self, x: Array) -> tuple[Array, Array, Array]:
        """The points u (n, d), 1 + |u|^2 as a column (n, 1), and the rates du_i / dx_i (d,)."""
        ell = np.broadcast_to(self.lengthscale, x.shape[1])
        reach = np.sum((np.subtract(self.high, self.low) / (2.0 * ell)) ** 2)
        rates = 1.0 / (ell * np.sqrt(reach * self.radius / (1.0 + self.radius)))
        u = (x - np.add(self.low, self.high) / 2.0) * rates
        return u, 1.0 + np.sum(u**2, axis=1, keepdims=True), rates

    def features(self, x: Array) -> Array:
        return np.sqrt(self.variance) * self._sphere(x)

    def _sphere(self, x: Array) -> Array:
        u, q, _ = self.projected(x)
        phi = np.hstack([2.0 * u / q, 1.0 - 2.0 / q, np.full_like(q, np.sqrt(self.offset))])
        return np.asarray(phi / np.sqrt(1.0 + self.offset))

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        phi = self._sphere(x)
        # The product of an array with its own transpose is symmetric to the last digit.
        return np.asarray(self.variance * (phi @ (phi if z is None else self._sphere(z)).T))

    def diagonal(self, x: Array) -> Array:
        return np.full(len(x), self.variance)

    def diagonal_gradient(self, x: Array) -> Array:
        return np.zeros(x.shape)

    def columns(self, z: Array, centre: Array) -> Columns:
        return _SphericalColumns(self, self.variance * self._sphere(z))

    def with_lengthscale(self, change: Callable[[Lengthscale], Lengthscale]) -> Self:
        return replace(self, lengthscale=change(self.lengthscale))

    @property
    def dim(self) -> int | None:
        return next(map(np.size, filter(np.ndim, (self.lengthscale, self.low, self.high))), None)

    def check_points(self, x: Array) -> None:
        if self.dim not in (None, x.shape[1]):
            raise InvalidInput(f"the kernel is for {self.dim} coordinates, got {x.shape[1]}")
        spare = 1e-9 * np.subtract(self.high, self.low)
        if np.any(x < self.low - spare) or np.any(x > self.high + spare):
            raise InvalidInput(
                f"the points reach from {x.min():g} to {x.max():g}, out of the box of the kernel: "
                "give it low and high, the ends of the domain"
            )


@dataclass(frozen=True, eq=False)
class _SphericalColumns(Columns):
    kernel: SphericalLinear
    features: Array  # (m, d + 2), v phi(z)

    def __call__(self, x: Array) -> Array:
        return self.kernel._sphere(x) @ self.features.T

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        u, q, rates = self.kernel.projected(x)
        rates = rates / np.sqrt(1.0 + self.kernel.offset)

        def pulled(weights: Array) -> Array:
            sums = np.broadcast_to(weights, (len(x), len(self.features))) @ self.features
            along = np.sum(u * sums[:, :-2], axis=1, keepdims=True)
            turned = (sums[:, -2:-1] - along) * (4.0 * u / q**2)
            return np.asarray((2.0 * sums[:, :-2] / q + turned) * rates)

        return self(x), pulled

"""Kernels that are not functions of a distance: a matrix, x^T z, and x^T z on a sphere."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from gpbandits_env.arrays import Array, IntArray, finite_array, frozen
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels.columns import Columns, Pulled
from gpbandits_env.gp.kernels.kernel import KERNELS, Kernel, Lengthscale
from gpbandits_env.gp.kernels.stationary import lengthscale_of

TOLERANCE = 1e-9
"""Asymmetry and negative eigenvalues up to this fraction of the largest count as rounding."""


@KERNELS.register("empirical")
@dataclass(frozen=True, eq=False)
class Empirical(Kernel):
    """A covariance matrix C as a kernel: k(i, j) = v C_ij.

    A point is the index of an arm, so the points are a column of whole numbers:
    ``Arms(np.arange(n))``. Two such kernels are equal if their matrices and variances are.

    Args:
        covariance: C, (n, n), symmetric positive semidefinite.
        variance: v > 0, a factor without unit.
    Raises:
        InvalidInput: the matrix is not square, finite and symmetric.
        NotPositiveDefinite: an eigenvalue is negative beyond rounding; the check takes O(n^3).
    Source: srinivas2010, Section 6 (the kernel of the temperature and traffic data).
    """

    covariance: Array
    variance: float = 1.0
    on_indices: ClassVar[bool] = True
    dim: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "covariance", frozen(_checked(self.covariance)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Empirical) or self.variance != other.variance:
            return False
        return np.array_equal(self.covariance, other.covariance)

    def __hash__(self) -> int:
        return hash((self.variance, len(self.covariance), float(self.covariance.trace())))

    def __repr__(self) -> str:
        n = len(self.covariance)
        return f"Empirical(covariance=<{n} x {n}>, variance={self.variance})"

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        i = _indices(x)
        j = i if z is None else _indices(z)
        k: Array = self.covariance[i[:, None], j]
        k *= self.variance
        return k

    def diagonal(self, x: Array) -> Array:
        i = _indices(x)
        return self.variance * self.covariance[i, i]

    def check_points(self, x: Array) -> None:
        n = len(self.covariance)
        if x.shape[1] != 1 or (x != np.floor(x)).any() or x.min() < 0 or x.max() >= n:
            raise InvalidInput(
                f"the points of an empirical kernel over {n} arms are a column of indices "
                f"0..{n - 1}, such as Arms(np.arange({n})); got points of shape {x.shape} "
                f"from {x.min():g} to {x.max():g}"
            )


def _indices(x: Array) -> IntArray:
    return x[:, 0].astype(np.int64)


def _checked(value: Array) -> Array:
    matrix = finite_array(value, "covariance", ndim=2)
    if matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InvalidInput(f"covariance must be a square matrix, got shape {matrix.shape}")
    largest = np.abs(matrix).max()
    if (gap := np.abs(matrix - matrix.T).max()) > TOLERANCE * largest:
        raise InvalidInput(
            f"covariance must be symmetric, but C and its transpose differ by {gap:g}"
        )
    symmetric: Array = (matrix + matrix.T) / 2.0
    values = np.linalg.eigvalsh(symmetric)
    if values[0] < -TOLERANCE * max(values[-1], -values[0]):
        raise NotPositiveDefinite(
            f"covariance must be positive semidefinite, but its least eigenvalue is {values[0]:g} "
            f"(the largest is {values[-1]:g}); use a covariance such as np.cov of complete readings"
        )
    return symmetric


@KERNELS.register("linear")
@dataclass(frozen=True)
class Linear(Kernel):
    r"""The linear kernel: f(x) = w^T x with w ~ N(0, v I).

    .. math:: k(x, z) = v x^T z

    The theorems require k(x, x) <= 1: with v = 1, points must lie in the unit ball.

    Args:
        variance: v > 0, the prior variance of a weight.
    Source: srinivas2010, Section 5.2.
    """

    variance: float = 1.0

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        k: Array = x @ (x if z is None else z).T
        k *= self.variance
        return k

    def diagonal(self, x: Array) -> Array:
        return np.asarray(self.variance * np.einsum("ij,ij->i", x, x))

    def diagonal_gradient(self, x: Array) -> Array:
        return 2.0 * self.variance * x

    def columns(self, z: Array, centre: Array) -> Columns:
        return _LinearColumns(self.variance * z)


@dataclass(frozen=True, eq=False)
class _LinearColumns(Columns):
    gradients: Array  # (m, d) v z

    def __call__(self, x: Array) -> Array:
        return x @ self.gradients.T

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        shape = len(x), len(self.gradients)
        return self(x), lambda weights: np.broadcast_to(weights, shape) @ self.gradients


@KERNELS.register("spherical-linear")
@dataclass(frozen=True)
class SphericalLinear(Kernel):
    r"""A box is mapped to a sphere by the inverse stereographic projection; f is linear there.

    .. math:: k(x, z) = v \frac{o + s(x)^T s(z)}{o + 1}, \quad
        s(x) = \frac{(2u, \|u\|^2 - 1)}{\|u\|^2 + 1}, \quad u_i = \frac{x_i - m_i}{a \ell_i}

    where m is the middle of the box and a^2 = r / (1 + r) sum_i ((high_i - low_i) / (2 ell_i))^2.
    On any points the rank is at most d + 2, so that "coefficients" (see `posterior_for`) are few.

    Args:
        lengthscale: ell > 0, a number or one per coordinate; only ratios count.
        variance: v > 0, the variance of f everywhere.
        offset: o > 0, the variance of a constant relative to that of the linear part.
        radius: r > 0, which sets the share of the sphere that the box covers.
        low, high: the ends of the box, numbers or one per coordinate.
    Raises:
        InvalidInput: low is not below high, or tuples have different lengths; `check_points` also
            refuses points outside the box.
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
        shapes = {np.shape(part) for part in (self.lengthscale, self.low, self.high)} - {()}
        flat = len(shapes) <= 1 and all(len(shape) == 1 for shape in shapes)
        if not flat or not np.all(np.asarray(self.low) < self.high):
            raise InvalidInput(f"low must be below high, and both must fit lengthscale: {self}")

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

"""Kernels that depend on the scaled distance alone: their base class and the squared exponential.

Distances are accurate for close points. The usual formula |x|^2 + |z|^2 - 2 x.z loses half of the
digits where they matter most: at close points of a kernel with a kink. This module therefore
computes the differences x - z first wherever that is affordable.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist

from gpbandits_env.arrays import Array, finite_array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels.columns import Columns, Pulled
from gpbandits_env.gp.kernels.kernel import KERNELS, Kernel, Lengthscale, hyper

# `columns` use differences up to FEW coordinates; from MANY on, all distances are matrix products.
FEW, MANY = 3, 48
# Pairs closer than CLOSE, relative to their squared size, are recomputed by differences. `squares`
# recomputes pairs below NEAR, which lost 4 of 16 digits, and all pairs if more than MANY_NEAR did.
CLOSE, NEAR, MANY_NEAR = 1e-3, 1e-4, 0.05


@dataclass(frozen=True)
class Stationary(Kernel):
    r"""A kernel v p(r) of the distance r = \|(x - z) / \ell\|_2, with p(0) = 1.

    A subclass defines the profile p and the slope s(r) = -p'(r) / r. It also needs
    `spectral_scales` for draws in a box. The gradients follow:

    .. math:: \frac{\partial k}{\partial x} = -v s(r) \frac{x - z}{\ell^2}, \quad
        \frac{\partial k}{\partial \log \ell_j} = v s(r) \frac{(x_j - z_j)^2}{\ell_j^2}

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
    Raises:
        InvalidInput: a parameter is not a number above 0, or is extreme (see `hyper`).
    """

    is_stationary: ClassVar[bool] = True
    lengthscale: float | tuple[float, ...]
    variance: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lengthscale", lengthscale_of(self.lengthscale))

    @abstractmethod
    def profile(self, r: Array) -> Array:
        """p(r) for 0 <= r <= 1e150, a new array."""

    @abstractmethod
    def slope(self, r: Array) -> Array:
        """-p'(r) / r, a new array; at r = 0 it is the limit, or 0 if the limit is infinite."""

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        """The profile and the slope, as two new arrays; override it if they share work."""
        return self.profile(r), self.slope(r)

    def spectral_scales(self, rng: np.random.Generator, count: int) -> Array | None:
        """Draws of s >= 0 such that p(r) = E exp(-s^2 r^2 / 2), (count, 1); None if unknown.

        A constant s may have shape (1, 1). Every continuous profile that is a covariance in all
        dimensions is such a mixture (Schoenberg).
        """
        return None

    def frequencies(self, rng: np.random.Generator, count: int, dim: int) -> Array:
        normal: Array = rng.standard_normal((count, dim)) / np.asarray(self.lengthscale)
        scales = self.spectral_scales(rng, count)
        return super().frequencies(rng, count, dim) if scales is None else normal * scales

    @cached_property
    def scale(self) -> float | Array:
        """The lengthscale, a number or an array (d,)."""
        ell = np.array(self.lengthscale)
        return ell if ell.ndim else float(ell)

    def _distances(self, x: Array, z: Array | None) -> Array:
        return distances(x, x if z is None else z, self.scale)

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return self.of_distances(self._distances(x, z))

    def of_distances(self, r: Array) -> Array:
        """The values v p(r), a new array."""
        k = self.profile(r)
        if self.variance != 1.0:
            k *= self.variance
        return k

    def diagonal(self, x: Array) -> Array:
        return np.full(len(x), self.variance)

    def diagonal_gradient(self, x: Array) -> Array:
        return np.zeros(x.shape)

    def gradient(self, x: Array, z: Array) -> Array:
        slope = self.slope(self._distances(x, z))
        slope *= -self.variance
        return slope[:, :, None] * ((x[:, None, :] - z[None, :, :]) / self.scale / self.scale)

    def columns(self, z: Array, centre: Array) -> Columns:
        return StationaryColumns(self, z, centre)

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        r = self._distances(x, z)
        slope = self.variance * self.slope(r)
        out = {"variance": self.variance * self.profile(r)}
        if self.dim is None:
            out["lengthscale"] = slope * r**2
        other, scales = x if z is None else z, np.atleast_1d(self.scale)
        for j in range(self.dim or 0):
            step = np.subtract.outer(x[:, j], other[:, j]) / scales[j]
            out[f"lengthscale.{j}"] = slope * step**2
        # For parameters that a subclass adds there is no formula here.
        names = self.parameters()
        return {n: out[n] if n in out else self._parameter_gradient(n, x, z) for n in names}

    def with_lengthscale(self, change: Callable[[Lengthscale], Lengthscale]) -> Self:
        return replace(self, lengthscale=change(self.lengthscale))

    @property
    def radial(self) -> Self:
        return self

    @property
    def dim(self) -> int | None:
        return len(self.lengthscale) if isinstance(self.lengthscale, tuple) else None

    def check_points(self, x: Array) -> None:
        if self.dim not in (None, x.shape[1]):
            raise InvalidInput(
                f"the kernel has {self.dim} lengthscales, but the points have {x.shape[1]} "
                "coordinates: give one lengthscale, or one per coordinate"
            )
        finite_array(x / self.scale, "points in units of the lengthscale")


@KERNELS.register("se")
@dataclass(frozen=True)
class SquaredExponential(Stationary):
    r"""The squared exponential (Gaussian, RBF) kernel.

    .. math:: k(x, z) = v e^{-r^2 / 2}, \quad r = \|(x - z)/\ell\|_2

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
    Source: srinivas2010, Section 5.2.
    """

    smoothness: ClassVar[float] = inf

    def profile(self, r: Array) -> Array:
        k: Array = r * r
        k *= -0.5
        return np.exp(k, out=k)

    def slope(self, r: Array) -> Array:
        return self.profile(r)

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        k = self.profile(r)
        return k, k.copy()

    def spectral_scales(self, rng: np.random.Generator, count: int) -> Array:
        return np.ones((1, 1))

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...]:
        ell = np.broadcast_to(self.scale, dim).tolist()
        first = SquaredExponential(ell[0], self.variance)
        return (first, *(SquaredExponential(scale) for scale in ell[1:]))


class StationaryColumns(Columns):
    r"""v p(\|x - z_j\| / ell), with distances that are exactly 0 at equal points.

    Above three coordinates, squared distances are |x|^2 - 2 x.z + |z|^2; below, see `distances`.
    With weights w and slopes s_j, the gradients contract to a matrix product: sum_j w_j dk(x, z_j)
    / dx = -v (x sum_j w_j s_j - sum_j w_j s_j z_j) / ell^2. Cost: O(n m d), without (n, m, d).

    In each call, squared distances (n, m) in units of the lengthscale may be given that add to
    those of the points: those in coordinates that x and z_j do not have.
    """

    def __init__(self, kernel: Stationary, z: Array, centre: Array) -> None:
        self._kernel, self._z, self._centre = kernel, z, centre
        self._inverse = 1.0 / np.asarray(kernel.lengthscale)
        self._scaled = self._in_units(z)
        self._norms = np.einsum("ij,ij->i", self._scaled, self._scaled)

    def __call__(self, x: Array, apart: Array | None = None) -> Array:
        return self._kernel.of_distances(self._distances(x, None, apart))

    def pull(self, x: Array, apart: Array | None = None) -> tuple[Array, Pulled]:
        scaled = self._in_units(x)
        k, slope = self._kernel.profile_and_slope(self._distances(x, scaled, apart))
        variance, factor = self._kernel.variance, self._kernel.variance * self._inverse
        if variance != 1.0:
            k *= variance

        def pulled(weights: Array) -> Array:
            steep = slope * weights
            out: Array = steep @ self._scaled
            out -= steep.sum(axis=1)[:, None] * scaled
            out *= factor
            return out

        return k, pulled

    def _in_units(self, x: Array) -> Array:
        scaled: Array = x - self._centre
        scaled *= self._inverse
        return scaled

    def _distances(self, x: Array, scaled: Array | None, apart: Array | None) -> Array:
        """The scaled distances (n, m); ``scaled`` is x in units of ell, if already computed."""
        if apart is None and x.shape[1] <= FEW:
            return distances(x, self._z, self._kernel.scale)
        scaled = self._in_units(x) if scaled is None else scaled
        square = squares(scaled, self._scaled, self._norms)
        if apart is not None:
            square += apart
        np.sqrt(square, out=square)
        return square


def lengthscale_of(value: float | tuple[float, ...]) -> float | tuple[float, ...]:
    """A lengthscale, or one per coordinate, checked; raises `InvalidInput`."""
    if not isinstance(value, (tuple, list, np.ndarray)):
        return hyper(value, "lengthscale")
    scales = finite_array(value, "lengthscale")
    if scales.ndim == 0:
        return hyper(scales.item(), "lengthscale")
    if scales.ndim > 1 or not scales.size:
        raise InvalidInput(
            f"lengthscale must be a number or one per coordinate, got shape {scales.shape}"
        )
    return tuple(hyper(ell, "lengthscale") for ell in scales.tolist())


def distances(x: Array, z: Array, lengthscale: float | Array) -> Array:
    """The distances |(x_i - z_j) / lengthscale|, a new (n, m), of points x (n, d) and z (m, d).

    The lengthscale is a number or (d,), one per coordinate. No distance may exceed 1e150.
    """
    if x.shape[1] == 1:
        r: Array = np.subtract.outer(x[:, 0], z[:, 0])
        np.abs(r, out=r)
        r /= lengthscale
        return r
    if isinstance(lengthscale, float):
        r = cdist(x, z) if x.shape[1] < MANY else _by_product(x, z)
        r /= lengthscale
        return r
    if x.shape[1] < MANY:
        return np.asarray(cdist(x, z, "seuclidean", V=lengthscale**2))
    return _by_product(x / lengthscale, z / lengthscale)


def _by_product(x: Array, z: Array) -> Array:
    centre = z.mean(axis=0)
    x, z = x - centre, z - centre
    size = np.add.outer(np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", z, z))
    square: Array = size - 2.0 * (x @ z.T)
    i, j = np.nonzero(square < CLOSE * size)
    difference = x[i] - z[j]
    square[i, j] = np.einsum("ij,ij->i", difference, difference)
    np.sqrt(square, out=square)
    return square


def squares(x: Array, z: Array, norms: Array) -> Array:
    """|x_i - z_j|^2, a new (n, m), by a matrix product; exactly 0 at equal points.

    The points are x (n, d) and z (m, d); ``norms`` (m,) holds |z_j|^2.
    """
    own = np.einsum("ij,ij->i", x, x)
    square: Array = (-2.0 * x) @ z.T
    square += norms
    square += own[:, None]
    if not square.size or square.min() >= NEAR * (own.max() + norms.max()):
        return square
    close = np.flatnonzero(square < NEAR * np.add.outer(own, norms))
    if len(close) > MANY_NEAR * square.size + 64:
        return np.asarray(cdist(x, z, "sqeuclidean"))
    i, j = np.divmod(close, len(z))
    difference = x[i] - z[j]
    square.ravel()[close] = np.einsum("ij,ij->i", difference, difference)
    return square

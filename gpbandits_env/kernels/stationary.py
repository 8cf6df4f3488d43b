"""Kernels of the scaled distance alone: what they share, and the squared exponential."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpbandits_env.arrays import Array, finite_array, positive
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels.base import KERNELS, Kernel, check_names, hyper
from gpbandits_env.kernels.columns import Columns
from gpbandits_env.kernels.distances import distances
from gpbandits_env.kernels.near import StationaryColumns


@dataclass(frozen=True)
class Stationary(Kernel):
    r"""A kernel v p(r) of the distance r = \|(x - z) / \ell\|_2, with p(0) = 1.

    A member of the family is its profile p and its slope -p'(r) / r; all gradients follow:
    dk/dx = -v slope(r) (x - z) / ell^2 and dk/dlog(ell_j) = v slope(r) (x_j - z_j)^2 / ell_j^2.

    Args:
        lengthscale: ell > 0, a number or one per coordinate, in the units of x.
        variance: v > 0, in the units of f squared.
    Raises:
        InvalidInput: a number that is not finite and above 0.
    """

    lengthscale: float | tuple[float, ...]
    variance: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengthscale", _lengthscale(self.lengthscale))
        object.__setattr__(self, "variance", hyper(self.variance, "variance"))

    @abstractmethod
    def profile(self, r: Array) -> Array:
        """p(r), for 0 <= r <= 1e150, as a fresh array."""

    @abstractmethod
    def slope(self, r: Array) -> Array:
        """-p'(r) / r; finite: where the limit at 0 is infinite, its value there is 0."""

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        """Both, each as an array of its own; cheaper than one after the other where they share."""
        return self.profile(r), self.slope(r)

    @cached_property
    def scale(self) -> float | Array:
        """The lengthscale as a number or an array (d,)."""
        return (
            self.lengthscale if isinstance(self.lengthscale, float) else np.array(self.lengthscale)
        )

    def _distances(self, x: Array, z: Array | None) -> Array:
        return distances(x, x if z is None else z, self.scale)

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        k = self.profile(self._distances(x, z))
        if self.variance != 1.0:
            k *= self.variance
        return k

    def diagonal(self, x: Array) -> Array:
        return np.full(len(x), self.variance)

    def gradient(self, x: Array, z: Array) -> Array:
        slope = self.slope(self._distances(x, z))
        slope *= -self.variance
        return slope[:, :, None] * ((x[:, None, :] - z[None, :, :]) / self.scale / self.scale)

    def columns(self, z: Array, centre: Array) -> Columns:
        return StationaryColumns(self, z, centre)

    def parameters(self) -> dict[str, float]:
        if isinstance(self.lengthscale, float):
            return {"lengthscale": self.lengthscale, "variance": self.variance}
        scales = {f"lengthscale.{j}": ell for j, ell in enumerate(self.lengthscale)}
        return {**scales, "variance": self.variance}

    def with_parameters(self, values: Mapping[str, float]) -> Stationary:
        check_names(self, values)
        new = {**self.parameters(), **values}
        variance = new.pop("variance")
        ell = new["lengthscale"] if isinstance(self.lengthscale, float) else tuple(new.values())
        return replace(self, lengthscale=ell, variance=variance)

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        r = self._distances(x, z)
        slope = self.variance * self.slope(r)
        out = {}
        if isinstance(self.lengthscale, float):
            out["lengthscale"] = slope * r**2
        else:
            other = x if z is None else z
            for j, ell in enumerate(self.lengthscale):
                step = np.subtract.outer(x[:, j], other[:, j]) / ell
                out[f"lengthscale.{j}"] = slope * step**2
        out["variance"] = self.variance * self.profile(r)
        return out

    def scaled(self, factor: float) -> Stationary:
        return replace(self, variance=self.variance * positive(factor, "a kernel's factor"))

    @property
    def is_stationary(self) -> bool:
        return True

    def check_points(self, x: Array) -> None:
        if isinstance(self.lengthscale, tuple) and len(self.lengthscale) != x.shape[1]:
            raise InvalidInput(
                f"the kernel has {len(self.lengthscale)} lengthscales, the points have "
                f"{x.shape[1]} coordinates: give one number, or one per coordinate"
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

    def profile(self, r: Array) -> Array:
        k: Array = r * r
        k *= -0.5
        np.exp(k, out=k)
        return k

    def slope(self, r: Array) -> Array:
        return self.profile(r)

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        k = self.profile(r)
        return k, k.copy()

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...]:
        ell = self.lengthscale if isinstance(self.lengthscale, tuple) else (self.lengthscale,) * dim
        first = SquaredExponential(ell[0], self.variance)
        return (first, *(SquaredExponential(scale) for scale in ell[1:]))


def _lengthscale(value: float | tuple[float, ...]) -> float | tuple[float, ...]:
    if not isinstance(value, (tuple, list, np.ndarray)):
        return hyper(value, "lengthscale")
    scales = finite_array(value, "lengthscale")
    if scales.ndim == 0:
        return hyper(scales.item(), "lengthscale")
    if scales.ndim != 1 or scales.size == 0:
        raise InvalidInput(
            f"lengthscale must be a number or one per coordinate, got shape {scales.shape}"
        )
    return tuple(hyper(ell, "lengthscale") for ell in scales.tolist())

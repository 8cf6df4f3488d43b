"""Kernels of some coordinates of a point, e.g. of the action or of the context alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.kernels.base import KERNELS, Kernel, Lengthscale
from gpbandits_env.kernels.columns import Columns, Pulled


@KERNELS.register("constant")
@dataclass(frozen=True)
class ConstantKernel(Kernel):
    """The kernel of a function with one unknown value: k(x, z) = v.

    Args:
        variance: v > 0, the prior variance of that value.
    """

    variance: float = 1.0

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return np.full((len(x), len(x if z is None else z)), self.variance)

    def diagonal(self, x: Array) -> Array:
        return np.full(len(x), self.variance)

    def gradient(self, x: Array, z: Array) -> Array:
        return np.zeros((len(x), *z.shape))

    @property
    def is_stationary(self) -> bool:
        return True

    @property
    def smoothness(self) -> float:
        return np.inf

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...]:
        return (self, *[ConstantKernel()] * (dim - 1))

    def frequencies(self, rng: np.random.Generator, count: int, dim: int) -> Array:
        return np.zeros((count, dim))


@KERNELS.register("on")
@dataclass(frozen=True)
class OnCoordinates(Kernel):
    """A kernel of some coordinates of the points; the others have no effect.

    Products and sums of kernels on the action and on the context are those of CGP-UCB (Krause &
    Ong 2011).

    Args:
        coordinates: the indices of the coordinates, which the kernel receives in this order.
        kernel: the kernel of these; its parameters are named "kernel.lengthscale" and so on.
    Raises:
        InvalidInput: there are no coordinates, or one occurs twice or is negative.
    """

    coordinates: tuple[int, ...]
    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.coordinates, Sequence) or not isinstance(self.kernel, Kernel):
            raise InvalidInput(
                "the kernel 'on' needs a list of coordinates and a kernel, got "
                f"{shown(self.coordinates)} and {shown(self.kernel)}"
            )
        own = tuple(whole(j, "coordinates", 0) for j in self.coordinates)
        if not own or len(set(own)) < len(own):
            raise InvalidInput(f"coordinates must be one or more, and none twice, got {own}")
        object.__setattr__(self, "coordinates", own)

    def _own(self, x: Array) -> Array:
        return np.ascontiguousarray(x[:, self.coordinates])

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return self.kernel(self._own(x), None if z is None else self._own(z))

    def diagonal(self, x: Array) -> Array:
        return self.kernel.diagonal(self._own(x))

    def gradient(self, x: Array, z: Array) -> Array:
        full = np.zeros((len(x), *z.shape))
        full[:, :, self.coordinates] = self.kernel.gradient(self._own(x), self._own(z))
        return full

    def diagonal_gradient(self, x: Array) -> Array:
        full = np.zeros(x.shape)
        full[:, self.coordinates] = self.kernel.diagonal_gradient(self._own(x))
        return full

    def columns(self, z: Array, centre: Array) -> Columns:
        inner = self.kernel.columns(self._own(z), centre[list(self.coordinates)])
        return _OnColumns(self, inner)

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        own = self.kernel.parameter_gradients(self._own(x), None if z is None else self._own(z))
        return {f"kernel.{name}": value for name, value in own.items()}

    def scaled(self, factor: float) -> OnCoordinates:
        return replace(self, kernel=self.kernel.scaled(factor))

    def with_lengthscale(self, change: Callable[[Lengthscale], Lengthscale]) -> OnCoordinates:
        def own(ell: Lengthscale) -> Lengthscale:
            if isinstance(ell, tuple):
                full = np.ones(max(self.coordinates) + 1)
                full[list(self.coordinates)] = ell
                ell = tuple(full.tolist())
            new: Any = change(ell)
            return tuple(new[j] for j in self.coordinates) if np.ndim(new) else new

        return replace(self, kernel=self.kernel.with_lengthscale(own))

    @property
    def is_stationary(self) -> bool:
        return self.kernel.is_stationary

    @property
    def smoothness(self) -> float | None:
        return self.kernel.smoothness

    def check_points(self, x: Array) -> None:
        if x.shape[1] <= max(self.coordinates):
            raise InvalidInput(
                f"the kernel is on the coordinates {self.coordinates}, but the points have "
                f"{x.shape[1]}"
            )
        self.kernel.check_points(self._own(x))

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...] | None:
        own = self.kernel.axis_kernels(len(self.coordinates))
        if own is None:
            return None
        axes: list[Kernel] = [ConstantKernel()] * dim
        for j, kernel in zip(self.coordinates, own, strict=True):
            axes[j] = kernel
        return tuple(axes)

    def frequencies(self, rng: np.random.Generator, count: int, dim: int) -> Array:
        full = np.zeros((count, dim))
        full[:, self.coordinates] = self.kernel.frequencies(rng, count, len(self.coordinates))
        return full


@dataclass(frozen=True, eq=False)
class _OnColumns(Columns):
    of: OnCoordinates
    inner: Columns

    def __call__(self, x: Array) -> Array:
        return self.inner(self.of._own(x))

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        values, pull = self.inner.pull(self.of._own(x))

        def pulled(weights: Array) -> Array:
            full = np.zeros(x.shape)
            full[:, self.of.coordinates] = pull(weights)
            return full

        return values, pulled

"""Sums and products of kernels, and kernels of some coordinates of a point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np

from gpbandits_env.arrays import Array, all_of, listed, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.kernels.columns import Columns, ProductColumns, Pulled, SumColumns
from gpbandits_env.gp.kernels.kernel import KERNELS, Kernel, Lengthscale


class _Combination(Kernel):
    """A kernel with one field, the tuple of the kernels that it combines."""

    def __post_init__(self) -> None:
        (field,) = fields(self)
        parts = all_of(Kernel, getattr(self, field.name), field.name, "kernels")
        object.__setattr__(self, field.name, parts)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return tuple(getattr(self, fields(self)[0].name))

    def _of(self, parts: Sequence[Kernel]) -> Self:
        return replace(self, **{fields(self)[0].name: tuple(parts)})

    def with_lengthscale(self, change: Callable[[Lengthscale], Lengthscale]) -> Self:
        return self._of([part.with_lengthscale(change) for part in self.parts])

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        return {
            f"{fields(self)[0].name}.{i}.{name}": value
            for i, part in enumerate(self.parts)
            for name, value in part.parameter_gradients(x, z).items()
        }

    @property
    def is_stationary(self) -> bool:
        return all(part.is_stationary for part in self.parts)

    @property
    def smoothness(self) -> float | None:
        known = [part.smoothness for part in self.parts]
        return None if None in known else min(nu for nu in known if nu is not None)

    @property
    def dim(self) -> int | None:
        return next((part.dim for part in self.parts if part.dim is not None), None)

    def check_points(self, x: Array) -> None:
        for part in self.parts:
            part.check_points(x)


@KERNELS.register("sum")
@dataclass(frozen=True)
class Sum(_Combination):
    """The sum of kernels: the covariance of a sum of independent functions.

    Args:
        terms: the kernels; their parameters are named "terms.0.lengthscale" and so on.
    Raises:
        InvalidInput: there are no terms, or a term is not a kernel.
    """

    terms: tuple[Kernel, ...]

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return _total([term(x, z) for term in self.terms])

    def diagonal(self, x: Array) -> Array:
        return _total([term.diagonal(x) for term in self.terms])

    def diagonal_gradient(self, x: Array) -> Array:
        return _total([term.diagonal_gradient(x) for term in self.terms])

    def columns(self, z: Array, centre: Array) -> Columns:
        return SumColumns([term.columns(z, centre) for term in self.terms])

    def scaled(self, factor: float) -> Sum:
        return self._of([term.scaled(factor) for term in self.terms])

    def frequencies(self, rng: np.random.Generator, count: int, dim: int) -> Array:
        origin = np.zeros((1, dim))
        shares = np.array([float(term.diagonal(origin)[0]) for term in self.terms])
        parts = np.stack([term.frequencies(rng, count, dim) for term in self.terms])
        return parts[rng.choice(len(shares), count, p=shares / shares.sum()), np.arange(count)]


@KERNELS.register("product")
@dataclass(frozen=True)
class Product(_Combination):
    """The product of kernels.

    Args:
        factors: the kernels; their parameters are named "factors.0.lengthscale" and so on.
    Raises:
        InvalidInput: there are no factors, or a factor is not a kernel.
    """

    factors: tuple[Kernel, ...]

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return _product([factor(x, z) for factor in self.factors])

    def diagonal(self, x: Array) -> Array:
        return _product([factor.diagonal(x) for factor in self.factors])

    def diagonal_gradient(self, x: Array) -> Array:
        others = _others([factor.diagonal(x) for factor in self.factors])
        parts = zip(self.factors, others, strict=True)
        return _total([rest[:, None] * factor.diagonal_gradient(x) for factor, rest in parts])

    def columns(self, z: Array, centre: Array) -> Columns:
        return ProductColumns([factor.columns(z, centre) for factor in self.factors])

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        others = _others([factor(x, z) for factor in self.factors])
        own = super().parameter_gradients(x, z)
        return {name: others[int(name.split(".")[1])] * value for name, value in own.items()}

    def scaled(self, factor: float) -> Product:
        return self._of([self.factors[0].scaled(factor), *self.factors[1:]])

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...] | None:
        split = [kernels for f in self.factors if (kernels := f.axis_kernels(dim)) is not None]
        if len(split) < len(self.factors):
            return None
        return tuple(Product(axis) for axis in zip(*split, strict=True))

    def frequencies(self, rng: np.random.Generator, count: int, dim: int) -> Array:
        return np.sum([factor.frequencies(rng, count, dim) for factor in self.factors], axis=0)


def _total(parts: Sequence[Array]) -> Array:
    return reduce(np.ndarray.__iadd__, parts)


def _product(parts: Sequence[Array]) -> Array:
    return reduce(np.ndarray.__imul__, parts)


def _others(parts: Sequence[Array]) -> list[Array]:
    """For each part the product of the others, without division, because a part may be 0."""
    one = np.ones_like(parts[0])
    rest = [[p for j, p in enumerate(parts) if j != i] for i in range(len(parts))]
    return [reduce(np.multiply, others, one) for others in rest]


@KERNELS.register("constant")
@dataclass(frozen=True)
class ConstantKernel(Kernel):
    """The kernel of a function with one unknown value: k(x, z) = v.

    Args:
        variance: v > 0, the prior variance of that value.
    """

    is_stationary: ClassVar[bool] = True
    smoothness: ClassVar[float] = np.inf
    variance: float = 1.0

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return np.full((len(x), len(x if z is None else z)), self.variance)

    def diagonal(self, x: Array) -> Array:
        return np.full(len(x), self.variance)

    def gradient(self, x: Array, z: Array) -> Array:
        return np.zeros((len(x), *z.shape))

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
        InvalidInput: there are no coordinates, one occurs twice or is negative, or ``kernel``
            is not a kernel.
    """

    coordinates: tuple[int, ...]
    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise InvalidInput(f"the kernel 'on' needs a kernel, got {shown(self.kernel)}")
        own = tuple(whole(j, "coordinates", 0) for j in listed(self.coordinates, "coordinates"))
        if not own or len(set(own)) < len(own):
            raise InvalidInput(f"coordinates must be one or more, and none twice, got {own}")
        object.__setattr__(self, "coordinates", own)

    def _own(self, x: Any) -> Any:
        """The coordinates of points (n, d); None for None."""
        return None if x is None else np.ascontiguousarray(x[:, self.coordinates])

    def _among(self, own: Array, dim: int) -> Array:
        """Columns for the coordinates of the kernel, among ``dim`` with 0 for the others."""
        full = np.zeros((len(own), dim))
        full[:, self.coordinates] = own
        return full

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return self.kernel(self._own(x), self._own(z))

    def diagonal(self, x: Array) -> Array:
        return self.kernel.diagonal(self._own(x))

    def diagonal_gradient(self, x: Array) -> Array:
        return self._among(self.kernel.diagonal_gradient(self._own(x)), x.shape[1])

    def columns(self, z: Array, centre: Array) -> Columns:
        inner = self.kernel.columns(self._own(z), centre[list(self.coordinates)])
        return _OnColumns(self, inner)

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        own = self.kernel.parameter_gradients(self._own(x), self._own(z))
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
        return self._among(self.kernel.frequencies(rng, count, len(self.coordinates)), dim)


@dataclass(frozen=True, eq=False)
class _OnColumns(Columns):
    of: OnCoordinates
    inner: Columns

    def __call__(self, x: Array) -> Array:
        return self.inner(self.of._own(x))

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        values, pull = self.inner.pull(self.of._own(x))
        return values, lambda weights: self.of._among(pull(weights), x.shape[1])

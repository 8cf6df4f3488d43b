"""Sums and products of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels.base import KERNELS, Kernel, check_names
from gpbandits_env.kernels.columns import Columns, ProductColumns, SumColumns


@KERNELS.register("sum")
@dataclass(frozen=True)
class Sum(Kernel):
    """The sum of kernels: the covariance of a sum of independent functions.

    Args:
        terms: the kernels; their parameters are named "terms.0.lengthscale" and so on.
    Raises:
        InvalidInput: no terms, or something that is no kernel.
    """

    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _kernels(self.terms, "terms"))

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return _total([term(x, z) for term in self.terms])

    def diagonal(self, x: Array) -> Array:
        return _total([term.diagonal(x) for term in self.terms])

    def gradient(self, x: Array, z: Array) -> Array:
        return _total([term.gradient(x, z) for term in self.terms])

    def diagonal_gradient(self, x: Array) -> Array:
        return _total([term.diagonal_gradient(x) for term in self.terms])

    def columns(self, z: Array, centre: Array) -> Columns:
        return SumColumns([term.columns(z, centre) for term in self.terms])

    def parameters(self) -> dict[str, float]:
        return _parameters("terms", self.terms)

    def with_parameters(self, values: Mapping[str, float]) -> Sum:
        check_names(self, values)
        return Sum(_with_parameters("terms", self.terms, values))

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        return {
            f"terms.{i}.{name}": value
            for i, term in enumerate(self.terms)
            for name, value in term.parameter_gradients(x, z).items()
        }

    def scaled(self, factor: float) -> Sum:
        return Sum(tuple(term.scaled(factor) for term in self.terms))

    @property
    def is_stationary(self) -> bool:
        return all(term.is_stationary for term in self.terms)

    def check_points(self, x: Array) -> None:
        for term in self.terms:
            term.check_points(x)


@KERNELS.register("product")
@dataclass(frozen=True)
class Product(Kernel):
    """The product of kernels.

    Args:
        factors: the kernels; their parameters are named "factors.0.lengthscale" and so on.
    Raises:
        InvalidInput: no factors, or something that is no kernel.
    """

    factors: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _kernels(self.factors, "factors"))

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return _product([factor(x, z) for factor in self.factors])

    def diagonal(self, x: Array) -> Array:
        return _product([factor.diagonal(x) for factor in self.factors])

    def gradient(self, x: Array, z: Array) -> Array:
        others = _others([factor(x, z) for factor in self.factors])
        parts = zip(self.factors, others, strict=True)
        return _total([rest[:, :, None] * factor.gradient(x, z) for factor, rest in parts])

    def diagonal_gradient(self, x: Array) -> Array:
        others = _others([factor.diagonal(x) for factor in self.factors])
        parts = zip(self.factors, others, strict=True)
        return _total([rest[:, None] * factor.diagonal_gradient(x) for factor, rest in parts])

    def columns(self, z: Array, centre: Array) -> Columns:
        return ProductColumns([factor.columns(z, centre) for factor in self.factors])

    def parameters(self) -> dict[str, float]:
        return _parameters("factors", self.factors)

    def with_parameters(self, values: Mapping[str, float]) -> Product:
        check_names(self, values)
        return Product(_with_parameters("factors", self.factors, values))

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        others = _others([factor(x, z) for factor in self.factors])
        return {
            f"factors.{i}.{name}": rest * value
            for i, (factor, rest) in enumerate(zip(self.factors, others, strict=True))
            for name, value in factor.parameter_gradients(x, z).items()
        }

    def scaled(self, factor: float) -> Product:
        return replace(self, factors=(self.factors[0].scaled(factor), *self.factors[1:]))

    @property
    def is_stationary(self) -> bool:
        return all(factor.is_stationary for factor in self.factors)

    def check_points(self, x: Array) -> None:
        for factor in self.factors:
            factor.check_points(x)

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...] | None:
        if dim == 1:
            return (self,)
        split = [kernels for f in self.factors if (kernels := f.axis_kernels(dim)) is not None]
        if len(split) < len(self.factors):
            return None
        return tuple(Product(axis) for axis in zip(*split, strict=True))


def add(a: Kernel, b: Kernel) -> Sum:
    """The sum a + b; sums are joined, not nested."""
    left = a.terms if isinstance(a, Sum) else (a,)
    return Sum(left + (b.terms if isinstance(b, Sum) else (b,)))


def multiply(a: Kernel, b: Kernel) -> Product:
    """The product a * b; products are joined, not nested."""
    left = a.factors if isinstance(a, Product) else (a,)
    return Product(left + (b.factors if isinstance(b, Product) else (b,)))


def _kernels(value: Sequence[Kernel], name: str) -> tuple[Kernel, ...]:
    if not isinstance(value, Sequence) or not value:
        raise InvalidInput(f"{name} must be a list of one or more kernels, got {value!r}")
    if bad := [item for item in value if not isinstance(item, Kernel)]:
        raise InvalidInput(f"{name} must be kernels, got {bad[0]!r}")
    return tuple(value)


def _total(parts: Sequence[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


def _product(parts: Sequence[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total *= part
    return total


def _others(parts: Sequence[Array]) -> list[Array]:
    """For each part the product of the others; no division, since a part may be 0."""
    one = np.ones_like(parts[0])
    rest = [[p for j, p in enumerate(parts) if j != i] for i in range(len(parts))]
    return [reduce(np.multiply, others, one) for others in rest]


def _parameters(name: str, kernels: Sequence[Kernel]) -> dict[str, float]:
    return {
        f"{name}.{i}.{parameter}": value
        for i, kernel in enumerate(kernels)
        for parameter, value in kernel.parameters().items()
    }


def _with_parameters(
    name: str, kernels: Sequence[Kernel], values: Mapping[str, float]
) -> tuple[Kernel, ...]:
    own = [
        {p: values[key] for p in kernel.parameters() if (key := f"{name}.{i}.{p}") in values}
        for i, kernel in enumerate(kernels)
    ]
    return tuple(k.with_parameters(new) for k, new in zip(kernels, own, strict=True))

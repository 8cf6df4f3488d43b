"""What every kernel offers: values, gradients in the points and in its own hyper-parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.kernels.columns import Columns, PlainColumns
from gpbandits_env.specs import Family


class Kernel(ABC):
    """A covariance function k(x, z): a frozen, hashable declaration that is called on points.

    Calls are raw: points are float64 arrays of shape (n, d) that `check_points` accepts.
    """

    type_name: ClassVar[str]

    @abstractmethod
    def __call__(self, x: Array, z: Array | None = None) -> Array:
        """The matrix k(x_i, z_j), a fresh (n, m) array; z = x when it is not given.

        Args:
            x: (n, d) points.
            z: (m, d) points.
        """

    @abstractmethod
    def diagonal(self, x: Array) -> Array:
        """The prior variances k(x_i, x_i), (n,), in O(n d)."""

    @abstractmethod
    def gradient(self, x: Array, z: Array) -> Array:
        """The gradient d k(x_i, z_j) / d x_i, (n, m, d); finite everywhere.

        Where k has no derivative (a kernel with a kink, at distance 0), it is 0 by convention.
        """

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """The positive hyper-parameters that may be learned, by flat name."""

    @abstractmethod
    def with_parameters(self, values: Mapping[str, float]) -> Kernel:
        """The same kernel with these hyper-parameters; those not named keep their values.

        Raises:
            UnknownName: a name that `parameters` does not list.
            InvalidInput: a value that is not finite and above 0.
        """

    @abstractmethod
    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        """The derivatives d k(x_i, z_j) / d log(parameter): an (n, m) array for each parameter."""

    @abstractmethod
    def scaled(self, factor: float) -> Kernel:
        """The kernel factor * k, factor > 0."""

    @property
    @abstractmethod
    def is_stationary(self) -> bool:
        """Whether k(x, z) depends on x - z alone."""

    @abstractmethod
    def check_points(self, x: Array) -> None:
        """Nothing, if the kernel can be called on the points (n, d).

        Raises:
            InvalidInput: the kernel is for points of another kind or dimension.
        """

    def diagonal_gradient(self, x: Array) -> Array:
        """The gradient d k(x_i, x_i) / d x_i, (n, d); 0 for a stationary kernel."""
        if self.is_stationary:
            return np.zeros(x.shape)
        # k is symmetric, so both arguments contribute the same.
        rows = [2.0 * self.gradient(row, row)[0] for row in x[:, None, :]]
        return np.concatenate(rows) if rows else np.zeros(x.shape)

    def columns(self, z: Array, centre: Array) -> Columns:
        """The functions k(., z_j), prepared for many calls.

        Args:
            z: (m, d) fixed points; not to be changed while the columns are in use.
            centre: (d,) somewhere in the middle of all points, against cancellation.
        """
        return PlainColumns(self, z)

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...] | None:
        """One 1-D kernel for each axis whose product is this kernel, or None if there are none.

        On a product grid such a kernel's matrix is the Kronecker product of theirs.
        """
        return (self,) if dim == 1 else None

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, fit for JSON, that `kernel_from_dict` reads back."""
        return KERNELS.to_dict(self)

    def __add__(self, other: Kernel) -> Kernel:
        """The kernel of the sum of two independent functions."""
        from gpbandits_env.kernels.compose import add

        return add(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        """The product of two kernels, or a kernel scaled by a positive number."""
        from gpbandits_env.kernels.compose import multiply

        return multiply(self, other) if isinstance(other, Kernel) else self.scaled(other)

    __rmul__ = __mul__


KERNELS: Family[Kernel] = Family("kernel")
# One over the square of anything smaller is beyond what a float holds.
SMALLEST = 1e-150


def hyper(value: float, name: str) -> float:
    """A hyper-parameter: a number from 1e-150 to 1e150.

    Raises:
        InvalidInput: anything else.
    """
    number = positive(value, name)
    if number < SMALLEST:
        raise InvalidInput(f"{name} must be above 0, {SMALLEST:g} at least, got {value!r}")
    return number


def kernel_from_dict(spec: Mapping[str, Any] | Kernel) -> Kernel:
    """The kernel that a dict {"type": name, field: value, ...} describes; a kernel stays itself.

    Raises:
        InvalidInput: no type, or fields that are missing, unknown or out of range.
        UnknownName: no such type.
    """
    return spec if isinstance(spec, Kernel) else KERNELS.from_dict(spec)


def check_names(kernel: Kernel, values: Mapping[str, float]) -> None:
    """Nothing, if every name is one of the kernel's parameters.

    Raises:
        UnknownName: one that is not.
    """
    known = kernel.parameters()
    if not isinstance(values, Mapping):
        raise InvalidInput(f"a kernel's parameters are a dict, got {shown(values)}")
    for name in values:
        if name not in known:
            raise unknown(f"parameter of the kernel {kernel.type_name!r}", name, known)

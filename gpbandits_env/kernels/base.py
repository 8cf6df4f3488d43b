"""What every kernel offers: values, gradients in the points and in its own hyper-parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.kernels.columns import Columns, PlainColumns
from gpbandits_env.specs import Family, kinds_of

Lengthscale = float | tuple[float, ...]
# One over the square of anything smaller is beyond what a float holds.
SMALLEST = 1e-150


@dataclass(frozen=True)
class Kernel(ABC):
    """A covariance function k(x, z): a frozen dataclass that is called on points.

    A kernel of your own needs `__call__` and `diagonal` to work on arms. Optional methods, whose
    errors say what they are for, enable more: `gradient` boxes, `frequencies` or `axis_kernels`
    draws in boxes, `axis_kernels` Kronecker products and `is_stationary` FFTs on grids. Every field
    declared ``float`` must be positive and is a hyper-parameter that may be learned; one named
    ``variance`` multiplies k. A function of the scaled distance alone is a `Stationary`: its
    profile and slope are enough. `check_kernel` tests it all.

    Calls are raw: points are float64 arrays of shape (n, d) that `check_points` accepts.

    Attributes:
        type_name: under which it is written in dicts: "module:Class" for a kernel of your own.
        fixed: the fields that are no hyper-parameters.
        on_indices: whether points are indices of arms instead of places.
    """

    type_name: ClassVar[str]
    fixed: ClassVar[tuple[str, ...]] = ()
    on_indices: ClassVar[bool] = False

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls.type_name = f"{cls.__module__}:{cls.__qualname__}"

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self) if kinds_of(type(self))[f.name] is float):
            object.__setattr__(self, name, hyper(getattr(self, name), name))

    @abstractmethod
    def __call__(self, x: Array, z: Array | None = None) -> Array:
        """The matrix k(x_i, z_j) of points x (n, d) and z (m, d), fresh (n, m); z = x if None."""

    @abstractmethod
    def diagonal(self, x: Array) -> Array:
        """The prior variances k(x_i, x_i), a fresh (n,) array, in O(n d)."""

    def gradient(self, x: Array, z: Array) -> Array:
        """The gradient d k(x_i, z_j) / d x_i, (n, m, d); finite everywhere.

        Where k has no derivative (a kernel with a kink, at distance 0), it is 0 by convention.

        Raises:
            InvalidInput: the kernel has none.
        """
        raise InvalidInput(
            f"the kernel {self.type_name!r} has no gradient, which a box needs: use arms, or "
            "implement its method gradient(x, z)"
        )

    def diagonal_gradient(self, x: Array) -> Array:
        """The gradient d k(x_i, x_i) / d x_i, (n, d); 0 for a stationary kernel."""
        if self.is_stationary:
            return np.zeros(x.shape)
        # k is symmetric, so both arguments contribute the same.
        rows = [2.0 * self.gradient(row, row)[0] for row in x[:, None, :]]
        return np.concatenate(rows) if rows else np.zeros(x.shape)

    def columns(self, z: Array, centre: Array) -> Columns:
        """The functions k(., z_j) of fixed points z (m, d), prepared for many calls.

        ``centre`` (d,) is somewhere in the middle of all points, against cancellation; z must not
        change while the columns are in use.
        """
        return PlainColumns(self, self.gradient, z)

    def parameters(self) -> dict[str, float]:
        """The positive hyper-parameters that may be learned: float fields that are not `fixed`.

        Those within tuples and kernels have flat names: "lengthscale.0", "terms.1.variance".
        """
        own = (f.name for f in fields(self) if f.name not in self.fixed)
        return dict(pair for name in own for pair in _flat(name, getattr(self, name)))

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        """The same kernel with these hyper-parameters; those not named keep their values.

        Raises:
            UnknownName: a name that `parameters` does not list.
            InvalidInput: a value that is not finite and above 0.
        """
        known = self.parameters()
        if not isinstance(values, Mapping):
            raise InvalidInput(f"a kernel's parameters are a dict, got {shown(values)}")
        for name in values:
            one_of(name, known, f"parameter of the kernel {self.type_name!r}")
        touched = {name.partition(".")[0] for name in values}
        return replace(self, **{own: _filled(own, getattr(self, own), values) for own in touched})

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        """The derivatives d k(x_i, z_j) / d log(parameter): an (n, m) array for each parameter.

        Unless a kernel has formulas, by central differences, to about 1e-10 of k.
        """
        return {name: self._parameter_gradient(name, x, z) for name in self.parameters()}

    def _parameter_gradient(self, name: str, x: Array, z: Array | None) -> Array:
        if name == "variance":
            return self(x, z)
        value, step = self.parameters()[name], 1e-5
        up, down = (self.with_parameters({name: value * np.exp(s)}) for s in (step, -step))
        return np.asarray((up(x, z) - down(x, z)) / (2.0 * step))

    def scaled(self, factor: float) -> Self:
        """The kernel factor * k, factor > 0.

        Raises:
            InvalidInput: another factor, or a kernel without a variance.
        """
        factor = positive(factor, "a kernel's factor")
        if "variance" not in (known := self.parameters()):
            raise InvalidInput(
                f"the kernel {self.type_name!r} has no field variance to be multiplied: give it "
                "one, or implement its method scaled(factor)"
            )
        return self.with_parameters({"variance": known["variance"] * factor})

    def with_lengthscale(self, change: Callable[[Lengthscale], Lengthscale]) -> Kernel:
        """The same kernel for points in other units; one without a lengthscale stays as it is.

        ``change`` maps the lengthscale, one number or one per coordinate, to the new one.
        """
        return self

    @property
    def is_stationary(self) -> bool:
        """Whether k(x, z) depends on x - z alone, so that grids are drawn by FFT."""
        return False

    @property
    def radial(self) -> Radial | None:
        """The kernel as a function of one scaled distance, or None if it is none."""
        return None

    @property
    def smoothness(self) -> float | None:
        """Nu of a Matern kernel or the roughest part, inf if it is smooth, None if not known."""
        return None

    @property
    def dim(self) -> int | None:
        """The dimension of its points, None if that may be any."""
        return None

    def check_points(self, x: Array) -> None:
        """Check that the kernel can be called on the points (n, d).

        Raises:
            InvalidInput: the kernel is for points of another kind or dimension.
        """
        return

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...] | None:
        """One 1-D kernel for each axis whose product is this kernel, or None if there are none."""
        return (self,) if dim == 1 else None

    def frequencies(self, rng: np.random.Generator, count: int, dim: int) -> Array:
        """Draws from the spectral density: (count, dim), in radians per unit of x.

        A stationary kernel is k(x, z) = k(0) E cos(w . (x - z)) over these w (Bochner's theorem).

        Raises:
            InvalidInput: the kernel has no such density, or does not say it.
        """
        why = "has no spectral density for random features, since it is not stationary"
        if self.is_stationary:
            why = "has no known spectral density: implement its method frequencies(rng, count, dim)"
        raise InvalidInput(
            f"the kernel {self.type_name!r} {why}; or use arms or a grid instead of a box"
        )

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, fit for JSON, that `kernel_from_dict` reads back."""
        return KERNELS.to_dict(self)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that a sum or a product is made of; otherwise this one."""
        return (self,)

    def __add__(self, other: Kernel) -> Kernel:
        """The kernel of the sum of two independent functions."""
        return _joined("sum", self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        """The product of two kernels, or a kernel scaled by a positive number."""
        return _joined("product", self, other) if isinstance(other, Kernel) else self.scaled(other)

    __rmul__ = __mul__


class Radial(Protocol):
    r"""A kernel v p(r) of the distance r = \|(x - z) / ell\|_2: `Stationary` is one."""

    type_name: ClassVar[str]

    @property
    def lengthscale(self) -> Lengthscale:
        """Ell."""

    @property
    def variance(self) -> float:
        """V."""

    def profile(self, r: Array) -> Array:
        """p(r), fresh."""

    def slope(self, r: Array) -> Array:
        """-p'(r) / r, fresh."""

    def profile_and_slope(self, r: Array) -> tuple[Array, Array]:
        """Both."""


KERNELS: Family[Kernel] = Family("kernel", Kernel)


def hyper(value: float, name: str) -> float:
    """A hyper-parameter: a number from 1e-150 to 1e150; InvalidInput for anything else."""
    number = positive(value, name)
    if number < SMALLEST:
        raise InvalidInput(f"{name} must be above 0, {SMALLEST:g} at least, got {value!r}")
    return number


def kernel_from_dict(spec: Mapping[str, Any] | Kernel) -> Kernel:
    """The kernel of a dict {"type": name, field: value, ...}; a kernel stays itself.

    The type is a name of `KERNELS`, or "module:Class" for a kernel of your own.

    Raises:
        InvalidInput: no type, or fields that are missing, unknown or out of range.
        UnknownName: no such type.
    """
    return KERNELS.from_dict(spec)


def _joined(kind: str, *kernels: Kernel) -> Kernel:
    """The sum or product of kernels; parts that are one of that kind are joined, not nested."""
    parts = [part for k in kernels for part in (k.parts if k.type_name == kind else (k,))]
    return KERNELS.members[kind](tuple(parts))  # type: ignore[call-arg]


def _flat(name: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, Kernel):
        yield from ((f"{name}.{own}", number) for own, number in value.parameters().items())
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from _flat(f"{name}.{i}", item)
    elif isinstance(value, float):
        yield name, value


def _filled(name: str, value: Any, new: Mapping[str, float]) -> Any:
    """A field's value with the new numbers in their places."""
    if isinstance(value, Kernel):
        own = {p: new[key] for p in value.parameters() if (key := f"{name}.{p}") in new}
        return value.with_parameters(own)
    if isinstance(value, tuple):
        return tuple(_filled(f"{name}.{i}", item, new) for i, item in enumerate(value))
    return new.get(name, value)

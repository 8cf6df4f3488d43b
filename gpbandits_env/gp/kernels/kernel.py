"""The interface of a kernel: values, and gradients in the points and in the hyper-parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from gpbandits_env.arrays import Array, Settings, positive
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels.columns import Columns, PlainColumns
from gpbandits_env.specs import Family, Parametric

Lengthscale = float | tuple[float, ...]
# One over the square of a smaller number may overflow a float.
SMALLEST = 1e-150
# Acquisitions take a variance below 1e-100 for 0, which avoids overflow, and data may reduce the
# variance of a point by a factor of 1e12.
LEAST_VARIANCE = 1e-80


def hyper(value: float, name: str) -> float:
    """A hyper-parameter: a number from 1e-150 (a variance: 1e-80) to 1e150, or InvalidInput."""
    number = positive(value, name)
    if name == "variance" and number < LEAST_VARIANCE:
        raise InvalidInput(
            f"a kernel's variance must be at least {LEAST_VARIANCE:g}, got {value!r}: agents take "
            "values that vary less for known; give the rewards in a smaller unit"
        )
    if number < SMALLEST:
        raise InvalidInput(f"{name} must be at least {SMALLEST:g}, got {value!r}")
    return number


@dataclass(frozen=True)
class Kernel(Parametric):
    """A covariance function k(x, z): a frozen dataclass that is called on points.

    A kernel of your own needs `__call__` and `diagonal` to work on arms. Optional methods enable
    more, and the error says which one is missing: boxes need `gradient`, draws in boxes need
    `frequencies` or `axis_kernels`, Kronecker products on grids need `axis_kernels`, and FFTs on
    grids need `is_stationary`. Every field declared ``float`` must be positive (see `hyper`) and,
    unless it is `fixed`, may be learned; a field named ``variance`` multiplies k. If the kernel
    depends on the scaled distance alone, derive from `Stationary`: a profile and its slope are
    enough. `check_kernel` tests all of this.

    Calls check nothing: points must be float64 arrays of shape (n, d) that `check_points` accepts.

    Attributes:
        type_name: the name of the kernel in dicts; "module:Class" for a kernel of your own.
        fixed: the fields that are not hyper-parameters.
        on_indices: whether a point is the index of an arm instead of a location.
    """

    _kind = "kernel"
    on_indices: ClassVar[bool] = False

    _parameter = staticmethod(hyper)

    @abstractmethod
    def __call__(self, x: Array, z: Array | None = None) -> Array:
        """The matrix k(x_i, z_j) of points x (n, d) and z (m, d), a new (n, m); z = x if None."""

    @abstractmethod
    def diagonal(self, x: Array) -> Array:
        """The prior variances k(x_i, x_i), a new array (n,), in O(n d)."""

    def gradient(self, x: Array, z: Array) -> Array:
        """The gradient d k(x_i, z_j) / d x_i, (n, m, d); finite everywhere.

        Where k has no derivative (at distance 0 if it has a kink there), it is 0 by convention. It
        follows from `columns`; a kernel without columns of its own implements it.

        Raises:
            InvalidInput: the kernel has no gradient.
        """
        if type(self).columns is Kernel.columns:
            raise InvalidInput(
                f"the kernel {self.type_name!r} has no gradient, which a box needs: use arms, or "
                "implement its method gradient(x, z)"
            )
        out = np.empty((len(x), *z.shape))
        for j, one in enumerate(z):
            out[:, j] = self.columns(one[None], one).pull(x)[1](np.ones((len(x), 1)))
        return out

    def diagonal_gradient(self, x: Array) -> Array:
        """The gradient d k(x_i, x_i) / d x_i, (n, d); 0 for a stationary kernel."""
        if self.is_stationary:
            return np.zeros(x.shape)
        # k is symmetric, so both arguments contribute the same.
        rows = [2.0 * self.gradient(row, row)[0] for row in x[:, None, :]]
        return np.concatenate(rows) if rows else np.zeros(x.shape)

    def features(self, x: Array) -> Array | None:
        """Functions phi(x), (n, r), with k(x, z) = phi(x)^T phi(z); None if there are none."""
        return None

    def columns(self, z: Array, centre: Array) -> Columns:
        """The functions k(., z_j) of fixed points z (m, d), which must not change, for many calls.

        ``centre`` (d,) is a point near the middle of all points; it reduces cancellation.
        """
        return PlainColumns(self, self.gradient, z)

    def parameter_gradients(self, x: Array, z: Array | None = None) -> dict[str, Array]:
        """The derivatives d k(x_i, z_j) / d log(parameter): an (n, m) array for each parameter.

        A kernel without formulas uses central differences, with an error of about 1e-10 of k.
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
            InvalidInput: the factor is not positive, or the kernel has no variance.
        """
        factor = positive(factor, "a kernel's factor")
        if "variance" not in (known := self.parameters()):
            raise InvalidInput(
                f"the kernel {self.type_name!r} has no field 'variance' to multiply: give it one, "
                "or implement its method scaled(factor)"
            )
        return self.with_parameters({"variance": known["variance"] * factor})

    def with_lengthscale(self, change: Callable[[Lengthscale], Lengthscale]) -> Kernel:
        """The kernel for points in other units: ``change`` maps its lengthscale, if it has one."""
        return self

    @property
    def is_stationary(self) -> bool:
        """Whether k(x, z) depends on x - z alone; draws on even grids may then use an FFT."""
        return False

    @property
    def radial(self) -> Any:
        """The kernel as one of a scaled distance, if it is `Stationary`; None if it is not."""
        return None

    @property
    def smoothness(self) -> float | None:
        """The nu of a Matern kernel, or of the roughest part; inf if smooth, None if unknown."""
        return None

    @property
    def dim(self) -> int | None:
        """The dimension of the points; None if any dimension will do."""
        return None

    def check_points(self, x: Array) -> None:
        """Raise InvalidInput if the kernel needs points (n, d) of another kind or dimension."""
        return

    def axis_kernels(self, dim: int) -> tuple[Kernel, ...] | None:
        """The 1-D kernels, one per axis, that multiply to this kernel; None if there are none."""
        return (self,) if dim == 1 else None

    def frequencies(self, rng: np.random.Generator, count: int, dim: int) -> Array:
        """Draws from the spectral density: (count, dim), in radians per unit of x.

        A stationary kernel is k(x, z) = k(0) E cos(w . (x - z)) over these w (Bochner's theorem).

        Raises:
            InvalidInput: the kernel has no spectral density, or does not implement it.
        """
        known, cure = "spectral density for random features, since it is not stationary", ""
        if self.is_stationary:
            known, cure = "known spectral density", "implement its method frequencies, or "
            if self.radial is not None:
                cure = "implement its method spectral_scales(rng, count), or frequencies, or "
        raise InvalidInput(
            f"the kernel {self.type_name!r} has no {known}: {cure}use arms or a grid instead of a "
            "box, or give the agent candidates=500 or search='round', which need none"
        )

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that a sum or a product consists of; for any other kernel, the kernel."""
        return (self,)

    def __add__(self, other: Kernel) -> Kernel:
        """The kernel of the sum of two independent functions."""
        return _joined("sum", self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        """The product of two kernels, or a kernel scaled by a positive number."""
        return _joined("product", self, other) if isinstance(other, Kernel) else self.scaled(other)

    __rmul__ = __mul__


KERNELS: Family[Kernel] = Family("kernel", Kernel)


def check_on(kernel: Kernel, points: Array) -> None:
    """Check a kernel, which may be the user's own, on points (n, d), at the cost of one row.

    Raises:
        InvalidInput: the kernel is for other points; or the diagonal or the covariances with the
            first point have another shape than they should, or are not finite.
    """
    kernel.check_points(points)
    found, n = (kernel.diagonal(points), kernel(points[:1], points)), len(points)
    shapes = tuple(map(np.shape, found))
    if shapes != ((n,), (1, n)):
        raise InvalidInput(
            f"the kernel {kernel.type_name!r} gives diagonal(x) and k(x[:1], x) with the shapes "
            f"{shapes[0]} and {shapes[1]}, not {(n,)} and {(1, n)}: check_kernel tests a kernel"
        )
    if not all(np.isfinite(values).all() for values in found):
        raise undefined(kernel)


def covariance(kernel: Kernel, x: Array, z: Array | None = None) -> Array:
    """The matrix k(x, z) of a kernel that may be the user's own; an error if it is not finite."""
    found = kernel(x, z)
    if not np.isfinite(found).all():
        raise undefined(kernel)
    return found


def undefined(kernel: Kernel) -> InvalidInput:
    """The error of a kernel with values that are not finite."""
    return InvalidInput(
        f"the kernel {kernel.type_name!r} gives NaN or infinity: check_kernel tests a kernel"
    )


def kernel_from_dict(spec: Settings | Kernel) -> Kernel:
    """The kernel of a dict {"type": name, field: value, ...}; a kernel is returned unchanged.

    The type is a name of `KERNELS`, or "module:Class" for a kernel of your own.
    """
    return KERNELS.from_dict(spec)


def _joined(kind: str, *kernels: Kernel) -> Kernel:
    """The sum or product of kernels; sums of sums and products of products are flattened."""
    parts = [part for k in kernels for part in (k.parts if k.type_name == kind else (k,))]
    return KERNELS.members[kind](tuple(parts))  # type: ignore[call-arg]

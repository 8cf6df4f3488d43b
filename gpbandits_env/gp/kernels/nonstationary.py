"""Kernels that are not functions of a distance: a covariance matrix of arms, and x^T z."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpbandits_env.arrays import Array, IntArray, finite_array, frozen
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels.columns import Columns, Pulled
from gpbandits_env.gp.kernels.kernel import KERNELS, Kernel

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

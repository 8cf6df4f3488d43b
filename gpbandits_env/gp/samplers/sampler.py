"""Draws of a Gaussian process that are linear in white coefficients: f = Phi xi, xi ~ N(0, I)."""

from abc import ABC, abstractmethod

import numpy as np

from gpbandits_env.arrays import Array, IntArray, frozen

# This many coefficients (1 MB) are drawn at a time; a block of 15 MB takes a quarter longer.
MOST_NORMALS = 1 << 17


class Sampler(ABC):
    """GP draws on n arms. A sampler holds no generator and never changes, so it can be shared.

    Attributes:
        rank: the number of white coefficients.
        size: the number of arms n.
        error: a bound on the entries of |K - Phi Phi^T|, in the units of f squared.
    """

    rank: int
    size: int
    error: float

    @abstractmethod
    def __call__(self, xi: Array) -> Array:
        """The functions Phi xi, a new array (..., n), for coefficients xi (..., rank)."""

    def draw(self, rng: np.random.Generator, size: int | None = None) -> Array:
        """One function (n,), or ``size`` independent functions (size, n), drawn in blocks."""
        if size is None:
            return self(rng.standard_normal(self.rank))
        step = max(1, MOST_NORMALS // max(self.rank, 1))
        values = np.empty((size, self.size))
        for start in range(0, size, step):
            part = values[start : start + step]
            part[:] = self(rng.standard_normal((len(part), self.rank)))
        return values

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        values = [v if isinstance(v, tuple) else (v,) for v in vars(self).values()]
        return sum(a.nbytes for group in values for a in group if isinstance(a, np.ndarray))


class Factor(Sampler):
    """A sampler with access to the rows of Phi, so that a posterior over xi is possible."""

    @abstractmethod
    def row(self, arm: int) -> Array:
        """The features of one arm, (rank,), which must not be changed."""

    @abstractmethod
    def rows(self, arms: IntArray) -> Array:
        """The features of some arms, (m, rank)."""

    @abstractmethod
    def squared_norms(self) -> Array:
        """The prior variances diag(Phi Phi^T), (n,)."""


class MatrixFactor(Factor):
    """A factor with a stored matrix Phi (n, rank); a row-major matrix is not copied.

    A draw costs n rank multiplications. A covariance of 0, that of arms that never varied, has one
    column of zeros.
    """

    def __init__(self, matrix: Array, error: float) -> None:
        # Arrays without a column cannot be reshaped by their size.
        self.matrix: Array = held(matrix if matrix.shape[1] else np.zeros((len(matrix), 1)))
        self.size, self.rank = self.matrix.shape
        self.error = error

    def __call__(self, xi: Array) -> Array:
        return self.matrix.dot(xi) if xi.ndim == 1 else xi @ self.matrix.T

    def row(self, arm: int) -> Array:
        return self.matrix[arm]

    def rows(self, arms: IntArray) -> Array:
        return self.matrix[arms]

    def squared_norms(self) -> Array:
        return np.einsum("ij,ij->i", self.matrix, self.matrix)


class BoxSampler(ABC):
    """GP draws on a box: f(x) = phi(x)^T xi.

    Attributes:
        rank: the number of features.
        error: the error of the covariance, in the units of f squared; each class says whether it
            is a bound.
        fastest: (d,) the largest frequency of the features on each axis, in radians per unit.
    """

    rank: int
    error: float
    fastest: Array

    @property
    def parts(self) -> tuple["BoxSampler", ...]:
        """The features of each of several independent functions; for most, these alone."""
        return (self,)

    def split(self, xi: Array) -> list[Array]:
        """The coefficients (..., rank) of each part, as views."""
        cuts = np.cumsum([part.rank for part in self.parts])[:-1]
        return np.split(xi, cuts, axis=-1)

    @abstractmethod
    def features(self, x: Array) -> Array:
        """The features phi (n, rank) at points (n, d)."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """The derivatives d phi / dx (n, rank, d) at points (n, d)."""

    def values(self, x: Array, xi: Array) -> Array:
        """The values phi(x)^T xi (size, n) at points (n, d), for coefficients (size, rank).

        Random features use single precision here.
        """
        return xi @ self.features(x).T

    def sums(self, x: Array, steps: Array, xi: Array) -> Array:
        """The values (n, m) at x_i + s_j, for points x (n, d), steps s (m, d), and xi (rank,)."""
        points = (x[:, None] + steps).reshape(-1, x.shape[1])
        return (self.features(points) @ xi).reshape(len(x), len(steps))

    def pull(self, x: Array, xi: Array) -> tuple[Array, Array]:
        """The values phi(x_i)^T xi_i (n,) and gradients (n, d), with its own xi_i at each point."""
        values = np.einsum("ij,ij->i", self.features(x), xi)
        return values, np.einsum("ij,ijk->ik", xi, self.gradient(x))


def held(array: Array) -> Array:
    """The array in row-major order, as a read-only view, because samplers are shared."""
    return frozen(np.ascontiguousarray(array).view())


def row_products(a: Array, b: Array) -> Array:
    """The Kronecker products (m, r s) of the rows of a (m, r) with the rows of b (m, s)."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), a.shape[1] * b.shape[1])

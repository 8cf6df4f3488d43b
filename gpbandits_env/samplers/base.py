"""Draws of a Gaussian process that are linear in white coefficients: f = Phi xi, xi ~ N(0, I)."""

from abc import ABC, abstractmethod

import numpy as np

from gpbandits_env.arrays import Array, IntArray, frozen

# So many coefficients (1 MB) are drawn at a time; 15 MB at once take a quarter longer.
MOST_NORMALS = 1 << 17


class Sampler(ABC):
    """GP draws on n arms. Holds no generator and nothing that changes: share it freely.

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
        """The functions Phi xi: (..., rank) -> (..., n), a fresh array."""

    def draw(self, rng: np.random.Generator, size: int | None = None) -> Array:
        """One function (n,), or ``size`` independent ones (size, n), drawn in blocks."""
        if size is None:
            return self(rng.standard_normal(self.rank))
        step = max(1, MOST_NORMALS // max(self.rank, 1))
        if size <= step:
            return self(rng.standard_normal((size, self.rank)))
        values = np.empty((size, self.size))
        for start in range(0, size, step):
            part = values[start : start + step]
            part[:] = self(rng.standard_normal((len(part), self.rank)))
        return values

    @property
    def nbytes(self) -> int:
        """The memory that its arrays take."""
        values = [v if isinstance(v, tuple) else (v,) for v in vars(self).values()]
        return sum(a.nbytes for group in values for a in group if isinstance(a, np.ndarray))


class Factor(Sampler):
    """A sampler that knows the rows of Phi, so that a posterior can be kept over xi."""

    @abstractmethod
    def row(self, arm: int) -> Array:
        """The features of one arm, (rank,); read-only."""

    @abstractmethod
    def rows(self, arms: IntArray) -> Array:
        """The features of some arms, (m, rank)."""

    @abstractmethod
    def squared_norms(self) -> Array:
        """The prior variances diag(Phi Phi^T), (n,)."""


class MatrixFactor(Factor):
    """A factor whose matrix Phi (n, rank) is stored; it is not copied if it is row-major."""

    def __init__(self, matrix: Array, error: float) -> None:
        self.matrix: Array = held(matrix)
        self.size, self.rank = matrix.shape
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
        error: of the covariance, in the units of f squared; each class says whether it is a bound.
    """

    rank: int
    error: float

    @abstractmethod
    def features(self, x: Array) -> Array:
        """The features phi at points (n, d): (n, rank)."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """Their derivatives d phi / dx at points (n, d): (n, rank, d)."""

    def values(self, x: Array, xi: Array) -> Array:
        """The functions phi(x)^T xi at points (n, d), for coefficients (size, rank): (size, n).

        Random features work in single precision here.
        """
        return xi @ self.features(x).T

    def pull(self, x: Array, xi: Array) -> tuple[Array, Array]:
        """Values phi(x_i)^T xi_i (n,) and gradients (n, d): a function xi_i (rank,) per point."""
        values = np.einsum("ij,ij->i", self.features(x), xi)
        return values, np.einsum("ij,ijk->ik", xi, self.gradient(x))


def held(array: Array) -> Array:
    """The array row by row, as a read-only view: samplers are shared, so none may be written to."""
    return frozen(np.ascontiguousarray(array).view())


def row_products(a: Array, b: Array) -> Array:
    """The Kronecker product of each row of a (m, r) with that of b (m, s): (m, r s)."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), a.shape[1] * b.shape[1])

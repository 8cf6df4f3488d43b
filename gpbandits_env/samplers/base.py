"""Draws of a Gaussian process that are linear in white coefficients: f = Phi xi, xi ~ N(0, I)."""

from abc import ABC, abstractmethod

import numpy as np

from gpbandits_env.arrays import Array, IntArray


class Sampler(ABC):
    """GP draws on n arms. Holds no generator and no other state that changes.

    Attributes:
        rank: the number of white coefficients.
        size: the number of arms n.
        error: a bound on the entries of |K - Phi Phi^T|.
    """

    rank: int
    size: int
    error: float

    @abstractmethod
    def __call__(self, xi: Array) -> Array:
        """The functions Phi xi: (..., rank) -> (..., n)."""

    def draw(self, rng: np.random.Generator, size: int | None = None) -> Array:
        """One function (n,), or ``size`` independent ones (size, n)."""
        shape = (self.rank,) if size is None else (size, self.rank)
        return self(rng.standard_normal(shape))


class Factor(Sampler):
    """A sampler whose Phi has rows at hand: a learner can keep its belief over xi with it."""

    @abstractmethod
    def row(self, arm: int) -> Array:
        """The features of one arm, (rank,)."""

    @abstractmethod
    def rows(self, arms: IntArray) -> Array:
        """The features of some arms, (m, rank)."""

    @abstractmethod
    def transpose(self, values: Array) -> Array:
        """Phi^T values: (..., n) -> (..., rank)."""

    @abstractmethod
    def squared_norms(self) -> Array:
        """The prior variances diag(Phi Phi^T), (n,)."""


class BoxSampler(ABC):
    """GP draws on a box: f(x) = phi(x)^T xi.

    Attributes:
        rank: the number of features.
        error: of the covariance; what kind of figure it is, the class says.
    """

    rank: int
    error: float

    @abstractmethod
    def features(self, x: Array) -> Array:
        """The features phi at points (n, d): (n, rank)."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """Their derivatives d phi / dx at points (n, d): (n, rank, d)."""

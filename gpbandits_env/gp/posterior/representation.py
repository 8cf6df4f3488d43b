"""The common part of the two representations of a posterior on arms: rows over coordinates.

The reward function is linear in coordinates u: f(arm) = <phi(arm), u>. In data space, u is f itself
on the n arms; in coefficient space, u = xi with f = F xi. Given all earlier observations, an
observation of an arm adds one row

    w = cov(u, f(arm)) / s,   s^2 = var(f(arm)) + noise_var

to W, and the covariance of u is base - W^T W. Rows are folded into the base now and then.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from gpbandits_env.arrays import Array, IntArray


class Representation(ABC):
    """The covariance of ``width`` coordinates given the data; ``prior_var`` (n,) is that of f.

    The rows are a growing block (count, width). The true rows are ``scale`` times the stored ones,
    so that one multiplication decays all past data. The last rows may be hallucinated; the owner
    drops them by `truncate`. Each row has a note: its surprise (reward - mean) / s, where the rows
    carry the mean too, or the scale at which it was stored.
    """

    name: ClassVar[str]
    # `settle` acts from this many rows on, or once the scale is below DECAYED.
    due: int
    DECAYED: ClassVar[float]

    def __init__(self, width: int, prior_var: Array) -> None:
        self.width, self.prior_var = width, prior_var
        self.block = np.empty((16, width))
        self.count, self.scale = 0, 1.0
        self.notes: list[float] = []
        self._root: Array | None = None

    @abstractmethod
    def observe(self, arm: int, inverse_s: float, surprise: float) -> Array:
        """Append the row of an observation, surprise (reward - mean) / s; return it at all arms.

        The next call may overwrite the result.
        """

    @abstractmethod
    def cross(self, arms: IntArray) -> tuple[Array, Array]:
        """cov(u, f(arms)) as a new array (k, width), and cov(f(arms)), (k, k)."""

    @abstractmethod
    def settle(self) -> Array | None:
        """Bound memory and cost when due; return a new variance (n,) if it was recomputed."""

    def refreshed(self) -> tuple[Array, Array] | None:
        """Recompute the mean minus the prior mean, and the variance; None if there is no need."""
        return None

    @abstractmethod
    def deviations(self, rng: np.random.Generator, size: int, kept: int) -> Array:
        """Draws of f minus its mean, given the first ``kept`` rows, (size, n)."""

    @abstractmethod
    def extend(self, rows: Array, surprises: list[float]) -> Array:
        """Append true rows (k, width) with k surprises; return the rows at all arms, (k, n)."""

    def decay(self, rho: float) -> None:
        """Multiply the cross-covariances with all past data by ``rho``."""
        self.scale *= rho
        self._root = None

    def truncate(self, count: int) -> None:
        """Keep only the first ``count`` rows."""
        self.count, self._root = count, None
        del self.notes[count:]

    def clear(self) -> None:
        """Return to the prior."""
        self.count, self.scale, self._root = 0, 1.0, None
        self.notes.clear()

    def _append(self, rows: Array, notes: list[float]) -> None:
        end = self.count + len(rows)
        if end > len(self.block):
            self._reserve(end)
        np.divide(rows, self.scale, out=self.block[self.count : end])
        self.notes += notes
        self.count, self._root = end, None

    def _reserve(self, rows: int) -> None:
        size = max(rows, 2 * len(self.block))
        self.block = np.concatenate([self.block, np.empty((size - len(self.block), self.width))])

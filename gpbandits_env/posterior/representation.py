"""What the two backs of a posterior share: coordinates, and rows of information about them.

The reward function is linear in coordinates u: f(arm) = <phi(arm), u>. In data space u is f itself
on the n arms; in coefficient space u = xi, with f = F xi. An observation of an arm, given all that
was seen before, adds one row

    w = cov(u, f(arm)) / s,   s^2 = var(f(arm)) + noise_var

to W, and the covariance of u is base - W^T W. Rows are folded into the base now and then.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gpbandits_env.arrays import Array, IntArray, positive
from gpbandits_env.posterior.state import check_shape


class Rows:
    """A growing (t, width) block of rows that all shrink together.

    The true rows are ``scale`` times the stored ones, so that one multiplication lets all past
    information fade.

    Args:
        width: the number of coordinates.
    """

    def __init__(self, width: int) -> None:
        self.block = np.empty((16, width))
        self.births = np.ones(16)
        self.count = 0
        self.scale = 1.0

    def slot(self) -> Array:
        """(width,) the next free row, to be filled and then counted by `push`."""
        if self.count == len(self.block):
            self._reserve(self.count + 1)
        row: Array = self.block[self.count]
        return row

    def push(self) -> None:
        """Count the row in the slot, which holds true values."""
        if self.scale != 1.0:
            self.block[self.count] /= self.scale
        self.births[self.count] = self.scale
        self.count += 1

    def extend(self, rows: Array) -> None:
        """Append true rows (k, width)."""
        end = self.count + len(rows)
        if end > len(self.block):
            self._reserve(end)
        np.divide(rows, self.scale, out=self.block[self.count : end])
        self.births[self.count : end] = self.scale
        self.count = end

    def drop_dead(self, tolerance: float) -> None:
        """Set the scale to 1, and drop the rows whose squares have shrunk by ``tolerance``."""
        shrunk = self.scale / self.births[: self.count]
        # The oldest rows come first, and have shrunk most.
        dead = int(np.searchsorted(shrunk * shrunk, tolerance))
        kept = self.count - dead
        self.block[:kept] = self.block[dead : self.count] * self.scale
        self.births[:kept] = self.births[dead : self.count] / self.scale
        self.count, self.scale = kept, 1.0

    def clear(self) -> None:
        """Drop all rows."""
        self.count, self.scale = 0, 1.0

    def _reserve(self, rows: int) -> None:
        size = max(rows, 2 * len(self.block))
        self.block = np.concatenate([self.block, np.empty((size - len(self.block), self.width))])
        self.births = np.concatenate([self.births, np.ones(size - len(self.births))])

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return int(self.block.shape[1])

    def snapshot(self) -> dict[str, Any]:
        """A copy of the state, as arrays and numbers."""
        return {
            "rows": self.block[: self.count].copy(),
            "births": self.births[: self.count].copy(),
            "scale": self.scale,
        }

    def check(self, state: Mapping[str, Any]) -> None:
        """Nothing, if `restore` can take the snapshot.

        Raises:
            InvalidInput: it cannot.
        """
        count = len(state["births"])
        check_shape(state, "births", (count,))
        check_shape(state, "rows", (count, self.width))
        positive(state["scale"], "snapshot entry 'scale'")

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot that was checked."""
        self.clear()
        self.extend(state["rows"])
        self.births[: self.count] = state["births"]
        self.scale = float(state["scale"])


class Representation(ABC):
    """The covariance of the coordinates given the data, in one of two representations.

    Rows beyond the first ``kept`` are hallucinated; the owner drops them by `truncate`.
    """

    name: ClassVar[str]
    rows: Rows
    prior_var: Array

    @abstractmethod
    def direction(self, arm: int, inverse_s: float) -> Array:
        """Put the row of one observation into the free slot; return its values at all arms (n,).

        Args:
            arm: the arm observed.
            inverse_s: 1 / s.
        """

    @abstractmethod
    def push(self, surprise: float) -> None:
        """Count the row in the slot; ``surprise`` is (reward - mean) / s, 0 if there is none."""

    @abstractmethod
    def block(self, arms: IntArray) -> tuple[Array, Array]:
        """cov(u, f(arms)) as rows (k, width), fresh, and cov(f(arms)) (k, k)."""

    @abstractmethod
    def extend(self, rows: Array, surprises: Array | None) -> Array:
        """Append whitened rows (k, width) and their surprises (k,); return values (k, n)."""

    @abstractmethod
    def settle(self) -> Array | None:
        """Bound memory and cost when due; return a fresh variance (n,) if one was found."""

    @abstractmethod
    def refreshed(self) -> tuple[Array, Array] | None:
        """Mean minus prior mean, and variance, computed anew; None if there is no need."""

    @abstractmethod
    def fade(self, rho: float) -> None:
        """Past data lose correlation: the cross-covariance with all of them times ``rho``."""

    @abstractmethod
    def deviations(
        self, rng: np.random.Generator, size: int, kept: int, counts: Array | None, noise_var: float
    ) -> Array:
        """(size, n) draws of f minus its mean, given the first ``kept`` rows.

        Args:
            rng: the source of randomness.
            size: the number of draws.
            kept: how many rows come from data.
            counts: (n,) pulls of each arm if the data are static, else None.
            noise_var: of the observations.
        """

    @abstractmethod
    def truncate(self, count: int) -> None:
        """Drop all rows but the first ``count``."""

    @abstractmethod
    def clear(self) -> None:
        """Back to the prior."""

    @abstractmethod
    def snapshot(self) -> dict[str, Any]:
        """A copy of the state, as arrays and numbers."""

    @abstractmethod
    def check(self, state: Mapping[str, Any]) -> None:
        """Nothing, if `restore` can take the snapshot.

        Raises:
            InvalidInput: it cannot.
        """

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot that was checked."""

"""What the two representations of a posterior on arms share: rows of information on coordinates.

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
from gpbandits_env.posterior.base import Layout, Stateful


class Representation(Stateful, ABC):
    """The covariance of ``width`` coordinates given the data; ``prior_var`` (n,) is that of arms.

    The rows are a growing (count, width) block; the true ones are ``scale`` times the stored ones,
    so one multiplication lets all past information fade. The last rows may be hallucinated; the
    owner drops them by `truncate`.
    """

    name: ClassVar[str]
    # From so many rows on, or once the scale has fallen to FADED, `settle` has something to do.
    due: int
    FADED: ClassVar[float]
    STATE: ClassVar[Mapping[str, Layout]] = {"scale": positive}
    # Of arrays that grow; t counts the rows, w is their width.
    GROWN: ClassVar[Mapping[str, Layout]] = {"births": ("t",), "rows": ("t", "w")}

    def __init__(self, width: int, prior_var: Array) -> None:
        self.width, self.prior_var = width, prior_var
        self.block, self.births = np.empty((16, width)), np.ones(16)
        self.count, self.scale = 0, 1.0
        self._root: Array | None = None

    @abstractmethod
    def observe(self, arm: int, inverse_s: float, surprise: float) -> Array:
        """Append the row of one observation, surprise = (reward - mean) / s; its values (n,)."""

    @abstractmethod
    def cross(self, arms: IntArray) -> tuple[Array, Array]:
        """cov(u, f(arms)) as rows (k, width), fresh, and cov(f(arms)) (k, k)."""

    @abstractmethod
    def settle(self) -> Array | None:
        """Bound memory and cost when due; return a fresh variance (n,) if one was found."""

    def refreshed(self) -> tuple[Array, Array] | None:
        """Mean minus prior mean, and variance, computed anew; None if there is no need."""
        return None

    @abstractmethod
    def deviations(
        self, rng: np.random.Generator, size: int, kept: int, counts: Array | None, noise_var: float
    ) -> Array:
        """(size, n) draws of f minus its mean, given the first ``kept`` rows.

        ``counts`` (n,) are the pulls of each arm if the data are static, else None.
        """

    def extend(self, rows: Array, surprises: Array | None) -> Array:
        """Append true rows (k, width) and their surprises (k,), if any; return values (k, n)."""
        self._append(rows)
        return rows

    def fade(self, rho: float) -> None:
        """Past data lose correlation: the cross-covariance with all of them times ``rho``."""
        self.scale *= rho
        self._root = None

    def drop_dead(self, tolerance: float) -> None:
        """Set the scale to 1, and drop the rows whose squares have shrunk by ``tolerance``."""
        shrunk = self.scale / self.births[: self.count]
        # The oldest rows come first, and have shrunk most.
        dead = int(np.searchsorted(shrunk * shrunk, tolerance))
        kept = self.count - dead
        self.block[:kept] = self.block[dead : self.count] * self.scale
        self.births[:kept] = self.births[dead : self.count] / self.scale
        self.count, self.scale = kept, 1.0

    def truncate(self, count: int) -> None:
        """Drop all rows but the first ``count``."""
        self.count, self._root = count, None

    def clear(self) -> None:
        """Back to the prior."""
        self.count, self.scale, self._root = 0, 1.0, None

    def snapshot(self) -> dict[str, Any]:
        rows, births = self.block[: self.count].copy(), self.births[: self.count].copy()
        return {"representation": self.name, "rows": rows, "births": births, **super().snapshot()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot that was checked."""
        self.clear()
        self._append(state["rows"])
        self.births[: self.count] = state["births"]
        self.put(state)

    def _append(self, rows: Array) -> None:
        end = self.count + len(rows)
        if end > len(self.block):
            self._reserve(end)
        np.divide(rows, self.scale, out=self.block[self.count : end])
        self.births[self.count : end] = self.scale
        self.count, self._root = end, None

    def _reserve(self, rows: int) -> None:
        size = max(rows, 2 * len(self.block))
        self.block = np.concatenate([self.block, np.empty((size - len(self.block), self.width))])
        self.births = np.concatenate([self.births, np.ones(size - len(self.births))])

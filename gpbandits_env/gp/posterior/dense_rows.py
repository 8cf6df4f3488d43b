"""Data space: the coordinates are the values of f at the n arms.

The rows are V = L^-1 K(X_t, arms), with L the Cholesky factor of the kernel matrix plus noise. A
step costs O(t n) until t reaches `first_fold`; then, and every `fold_every` rows, V^T V is
subtracted from an n x n matrix, and the cost no longer grows.
"""

from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.linalg import root
from gpbandits_env.gp.posterior.covariances import PriorCovariance
from gpbandits_env.gp.posterior.representation import Representation
from gpbandits_env.gp.samplers import sampler_for

STRIP = 256


class DenseRows(Representation):
    """The covariance of all arms as base - V^T V, without rows that decayed below the noise."""

    name = "rows"
    DECAYED = 1e-8

    def __init__(
        self, prior: PriorCovariance, noise_var: float, first_fold: int, fold_every: int
    ) -> None:
        super().__init__(len(prior.diagonal), prior.diagonal)
        self.prior, self._first_fold, self._fold_every = prior, first_fold, fold_every
        # A dropped row can change a gain by its size relative to the noise.
        scale = float(prior.diagonal.max())
        self._dead = min(max(1e-10 * noise_var / (noise_var + scale or 1.0), 1e-16), 1e-12)
        self.due = first_fold
        self._base: Array | None = None

    def observe(self, arm: int, inverse_s: float, surprise: float) -> Array:
        count, scale, known = self.count, self.scale, self._known(arm)
        if count == len(self.block):
            self._reserve(count + 1)
        slot = self.block[count]
        if count:
            past = self.block[:count]
            past[:, arm].dot(past, slot)
            if scale != 1.0:
                np.multiply(slot, scale**2, slot)
            known = np.subtract(known, slot, slot)
        if scale == 1.0:
            values = np.multiply(known, inverse_s, slot)
        else:
            values = known * inverse_s
            np.divide(values, scale, slot)
        self.notes.append(scale)
        self.count, self._root = count + 1, None
        return values

    def cross(self, arms: IntArray) -> tuple[Array, Array]:
        rows = self._known(arms)
        past = self.block[: self.count]
        rows -= (past[:, arms].T * self.scale**2) @ past
        return rows, rows[:, arms]

    def extend(self, rows: Array, surprises: list[float]) -> Array:
        self._append(rows, [self.scale] * len(rows))
        return rows

    def settle(self) -> Array | None:
        if self.count < self.due and self.scale > self.DECAYED:
            return None
        if self._base is not None and self.scale**2 < self._dead:
            self._base = None
        if self._base is None:
            if self.scale != 1.0:
                self._drop_dead()
            if not self.prior.fits or self.count <= self._first_fold // 2:
                self.due = max(self._first_fold, 2 * self.count)
                return None
        return self._fold()

    def _drop_dead(self) -> None:
        """Set the scale to 1, and drop the rows whose squares decayed too far."""
        shrunk = self.scale / np.array(self.notes)
        # The oldest rows come first, and have decayed most.
        dead = int(np.searchsorted(shrunk * shrunk, self._dead))
        kept = self.count - dead
        self.block[:kept] = self.block[dead : self.count] * self.scale
        self.notes = [stored / self.scale for stored in self.notes[dead:]]
        self.count, self.scale = kept, 1.0

    def deviations(self, rng: np.random.Generator, size: int, kept: int) -> Array:
        if self._root is None:
            past = self.block[:kept] * self.scale
            covariance = self._known(np.arange(self.width))
            covariance -= past.T @ past
            self._root = root(covariance)
        return rng.standard_normal((size, self.width)) @ self._root.T

    def clear(self) -> None:
        super().clear()
        self._base, self.due = None, self._first_fold

    def _known(self, arms: Any) -> Array:
        """Rows of the base: (n,), not to be written to, or a new array (k, n)."""
        prior = self.prior.rows if isinstance(arms, np.ndarray) else self.prior.row
        if self._base is None:
            return prior(arms)
        known: Array = self._base[arms]
        if self.scale != 1.0:
            before = prior(arms)
            known = before + self.scale**2 * (known - before)
        return known

    def _fold(self) -> Array:
        """Fold the rows and their decay into the base, in strips; return the variance."""
        shrink = self.scale**2
        rows = self.block[: self.count] * self.scale
        if self._base is None:
            base, weight = self.prior.matrix().copy(), 0.0
        else:
            base, weight = self._base, 1.0 - shrink
        for start in range(0, len(base), STRIP):
            end = start + STRIP
            strip = base[start:end, start:]
            if weight:
                strip *= shrink
                strip += weight * self.prior.matrix()[start:end, start:]
            strip -= rows[:, start:end].T @ rows[:, start:]
            base[end:, start:end] = base[start:end, end:].T
        super().clear()
        self._base, self.due = base, self._fold_every
        return base.diagonal().copy()

    def corrected(
        self, rng: np.random.Generator, size: int, kept: int, counts: Array, noise_var: float
    ) -> Array:
        """The same without drift: prior draws, corrected by their own simulated rewards.

        K A^T (A K A^T + s2 I)^-1 = C A^T / s2 with C the posterior covariance, so only the number
        of pulls of each arm, ``counts`` (n,), matters.
        """
        draw = sampler_for(self.prior.arms, self.prior.kernel).draw(rng, size)
        seen = np.flatnonzero(counts)
        pulls = counts[seen]
        noise = np.sqrt(pulls * noise_var) * rng.standard_normal((size, len(seen)))
        weights = (pulls * draw[:, seen] + noise) / noise_var
        past = self.block[:kept]
        draw -= weights @ self._known(seen)
        draw += (weights @ past[:, seen].T) @ past
        return draw

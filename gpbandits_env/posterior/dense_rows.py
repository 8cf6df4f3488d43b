"""Data space: the coordinates are the rewards of the n arms themselves.

The rows are V = L^-1 K(X_t, arms), with L the Cholesky factor of the kernel matrix plus noise. A
step costs O(t n) until t reaches `first_fold`; then V^T V is subtracted from an n x n matrix, again
every `fold_every` rows, and a step costs the same for ever.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, IntArray, whole
from gpbandits_env.posterior.covariances import PriorCovariance
from gpbandits_env.posterior.elimination import root
from gpbandits_env.posterior.representation import Representation, Rows
from gpbandits_env.posterior.state import check_shape
from gpbandits_env.samplers import sampler_for

STRIP = 256
FADED = 1e-8


class DenseRows(Representation):
    """Covariance of all arms as base - V^T V.

    Args:
        prior: K(arms, arms).
        noise_var: of the observations; it sets what is small enough to be dropped after decay.
        first_fold: the number of rows at which the n x n matrix takes over.
        fold_every: the number of rows between later folds.
    """

    name = "rows"

    def __init__(
        self, prior: PriorCovariance, noise_var: float, first_fold: int, fold_every: int
    ) -> None:
        self.prior = prior
        self.prior_var = prior.diagonal
        self.rows = Rows(len(prior.diagonal))
        self._noise_var = noise_var
        self._first_fold, self._fold_every = first_fold, fold_every
        # A dropped row may change a gain by its relative size over the noise.
        scale = float(prior.diagonal.max())
        self._dead = min(max(1e-10 * noise_var / (noise_var + scale or 1.0), 1e-16), 1e-12)
        self._due = first_fold
        self._base: Array | None = None
        self._root: Array | None = None

    def direction(self, arm: int, inverse_s: float) -> Array:
        rows = self.rows
        count = rows.count
        slot = rows.slot()
        known = self._known(arm)
        if count:
            past = rows.block[:count]
            np.dot(past[:, arm], past, out=slot)
            if rows.scale != 1.0:
                np.multiply(slot, rows.scale**2, out=slot)
            np.subtract(known, slot, out=slot)
            np.multiply(slot, inverse_s, out=slot)
        else:
            np.multiply(known, inverse_s, out=slot)
        return slot

    def push(self, surprise: float) -> None:
        self.rows.push()
        self._root = None

    def block(self, arms: IntArray) -> tuple[Array, Array]:
        rows = self._known(arms)
        past = self.rows.block[: self.rows.count]
        rows -= (past[:, arms].T * self.rows.scale**2) @ past
        return rows, rows[:, arms]

    def extend(self, rows: Array, surprises: Array | None) -> Array:
        self.rows.extend(rows)
        self._root = None
        return rows

    def settle(self) -> Array | None:
        rows = self.rows
        if rows.count < self._due and rows.scale > FADED:
            return None
        if self._base is not None and rows.scale**2 < self._dead:
            self._base = None
        if self._base is None:
            if rows.scale != 1.0:
                rows.drop_dead(self._dead)
            if not self.prior.fits or rows.count <= self._first_fold // 2:
                self._due = max(self._first_fold, 2 * rows.count)
                return None
        return self._fold()

    def refreshed(self) -> tuple[Array, Array] | None:
        return None

    def fade(self, rho: float) -> None:
        self.rows.scale *= rho
        self._root = None

    def deviations(
        self, rng: np.random.Generator, size: int, kept: int, counts: Array | None, noise_var: float
    ) -> Array:
        if counts is not None:
            return self._matheron(rng, size, kept, counts, noise_var)
        if self._root is None:
            self._root = root(self._dense(kept))
        return rng.standard_normal((size, len(self.prior_var))) @ self._root.T

    def truncate(self, count: int) -> None:
        self.rows.count = count
        self._root = None

    def clear(self) -> None:
        self.rows.clear()
        self._base = self._root = None
        self._due = self._first_fold

    def snapshot(self) -> dict[str, Any]:
        base = np.empty((0, 0)) if self._base is None else self._base.copy()
        return self.rows.snapshot() | {"base": base, "due": self._due}

    def check(self, state: Mapping[str, Any]) -> None:
        n = len(self.prior_var)
        self.rows.check(state)
        check_shape(state, "base", (n, n), (0, 0))
        whole(state["due"], "snapshot entry 'due'")

    def restore(self, state: Mapping[str, Any]) -> None:
        self.clear()
        self.rows.restore(state)
        self._base = np.array(state["base"]) if state["base"].size else None
        self._due = int(state["due"])

    def _known(self, arms: Any) -> Array:
        """What the base says: (n,) not to be written to, or (k, n) fresh."""
        prior = self.prior.rows if isinstance(arms, np.ndarray) else self.prior.row
        if self._base is None:
            return prior(arms)
        known: Array = self._base[arms]
        if self.rows.scale != 1.0:
            before = prior(arms)
            known = before + self.rows.scale**2 * (known - before)
        return known

    def _fold(self) -> Array:
        """Take the rows and their decay into the base; return the variance.

        In strips of the upper half: half the work, and the base stays symmetric to the bit.
        """
        shrink = self.rows.scale**2
        rows = self.rows.block[: self.rows.count] * self.rows.scale
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
        self._base = base
        self.rows.clear()
        self._due = self._fold_every
        return base.diagonal().copy()

    def _dense(self, kept: int) -> Array:
        """(n, n) covariance of all arms given the first ``kept`` rows."""
        past = self.rows.block[:kept] * self.rows.scale
        dense = self._known(np.arange(len(self.prior_var)))
        dense -= past.T @ past
        return dense

    def _matheron(
        self, rng: np.random.Generator, size: int, kept: int, counts: Array, noise_var: float
    ) -> Array:
        """A prior draw, corrected by what it would have shown under the same pulls.

        K A^T (A K A^T + s2 I)^-1 = C A^T / s2 with C the posterior covariance, so the pulls enter
        by their number on each arm alone.
        """
        draw = sampler_for(self.prior.arms, self.prior.kernel).draw(rng, size)
        seen = np.flatnonzero(counts)
        pulls = counts[seen]
        noise = np.sqrt(pulls * noise_var) * rng.standard_normal((size, len(seen)))
        shown = (pulls * draw[:, seen] + noise) / noise_var
        past = self.rows.block[:kept]
        draw -= shown @ self._known(seen)
        draw += (shown @ past[:, seen].T) @ past
        return draw

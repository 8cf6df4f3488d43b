"""The two representations of a posterior on arms: rows over coordinates.

The reward function is linear in coordinates u: f(arm) = <phi(arm), u>. In data space, u is f itself
on the n arms; in coefficient space, u = xi with f = F xi. Given all earlier observations, an
observation of an arm adds one row

    w = cov(u, f(arm)) / s,   s^2 = var(f(arm)) + noise_var

to W, and the covariance of u is base - W^T W. Rows are folded into the base now and then.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.linalg import root
from gpbandits_env.gp.posterior.covariances import PriorCovariance
from gpbandits_env.gp.samplers import Factor, MatrixFactor, sampler_for

# Measured at ranks 19 to 266: keeping this many rows is cheaper than folding each one immediately.
FOLD_EVERY = 32
# Measured at 100 to 5000 arms: up to this rank, a matrix of contiguous columns is the faster one.
FEW_COLUMNS = 64
# Sums over all arms are computed in strips of this many.
STRIP = 256


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


class DenseRows(Representation):
    """Data space: the coordinates are the values of f at the n arms.

    The rows are V = L^-1 K(X_t, arms), with L the Cholesky factor of the kernel matrix plus noise,
    without those that decayed below the noise. A step costs O(t n) until t reaches twice
    ``fold_every``; then, and every ``fold_every`` rows, V^T V is subtracted from an n x n matrix,
    and the cost no longer grows. If the matrix of all arms is too large, it is O(t n) for every t.
    """

    name = "rows"
    DECAYED = 1e-8

    def __init__(self, prior: PriorCovariance, noise_var: float, fold_every: int) -> None:
        super().__init__(len(prior.diagonal), prior.diagonal)
        self.prior, self._fold_every = prior, fold_every
        # A dropped row can change a gain by its size relative to the noise.
        scale = float(prior.diagonal.max())
        self._dead = min(max(1e-10 * noise_var / (noise_var + scale or 1.0), 1e-16), 1e-12)
        self.due = 2 * fold_every
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
            if not self.prior.fits or self.count <= self._fold_every:
                self.due = 2 * max(self._fold_every, self.count)
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
        self._base, self.due = None, 2 * self._fold_every

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


class Coefficients(Representation):
    """Coefficient space: f = F xi with few white coefficients xi, a Bayesian linear model.

    The rows are W = cov(xi, f(arm)) / s, the mean of xi is m + W^T z, and its covariance P - W^T W,
    with K(arms, arms) = F F^T. A step costs O(r^2 + n r), or less if F has structure, for every t.
    """

    name = "coefficients"
    DECAYED = 1e-4

    def __init__(self, factor: Factor, fold_every: int = FOLD_EVERY) -> None:
        rank = factor.rank
        super().__init__(rank, factor.squared_norms())
        self.factor, self.due = factor, fold_every
        # A stored matrix is used directly, which saves two of a dozen calls per round. With few
        # columns, a product takes up to half as long if each column is contiguous.
        self._matrix = factor.matrix if isinstance(factor, MatrixFactor) else None
        if self._matrix is not None and rank <= FEW_COLUMNS:
            self._matrix = np.asfortranarray(self._matrix)
        self._coefficients, self._coefficient_covariance = np.zeros(rank), np.eye(rank)
        self._scratch, self._outer = np.empty(rank), np.empty((rank, rank))
        self._values = np.empty(len(self.prior_var))
        self._number = np.empty(())  # NumPy multiplies by it in 0.1 us less than by a float

    def observe(self, arm: int, inverse_s: float, surprise: float) -> Array:
        count, scale, matrix, number = self.count, self.scale, self._matrix, self._number
        if count == len(self.block):
            self._reserve(count + 1)
        slot = self.block[count]
        features = self.factor.row(arm) if matrix is None else matrix[arm]
        self._coefficient_covariance.dot(features, slot)
        if count:
            past = self.block[:count]
            np.subtract(slot, past.dot(features).dot(past, self._scratch), slot)
        if scale != 1.0:
            number[()] = shrink = scale**2
            np.multiply(slot, number, slot)
            number[()] = 1.0 - shrink
            np.add(slot, np.multiply(features, number, self._scratch), slot)
        number[()] = inverse_s
        np.multiply(slot, number, slot)
        values: Array
        values = self.factor(slot) if matrix is None else matrix.dot(slot, self._values)
        if scale != 1.0:
            number[()] = scale
            np.divide(slot, number, slot)
        self.notes.append(surprise)
        self.count, self._root = count + 1, None
        return values

    def cross(self, arms: IntArray) -> tuple[Array, Array]:
        features = self.factor.rows(arms)
        past = self.block[: self.count]
        rows = features @ self._coefficient_covariance
        rows -= (features @ past.T) @ past
        if self.scale != 1.0:
            shrink = self.scale**2
            rows *= shrink
            rows += (1.0 - shrink) * features
        return rows, rows @ features.T

    def extend(self, rows: Array, surprises: list[float]) -> Array:
        self._append(rows, surprises)
        return self.factor(rows)

    def settle(self) -> Array | None:
        if self.count >= self.due or self.scale < self.DECAYED:
            self._fold()
        return None

    def refreshed(self) -> tuple[Array, Array] | None:
        self._fold()
        var = np.empty(self.factor.size)
        for start in range(0, len(var), STRIP):
            features = self.factor.rows(np.arange(start, min(start + STRIP, len(var))))
            known = features @ self._coefficient_covariance
            np.einsum("ij,ij->i", known, features, out=var[start : start + STRIP])
        return self.factor(self._coefficients), var

    def deviations(self, rng: np.random.Generator, size: int, kept: int) -> Array:
        if self._root is None:
            past = self.block[:kept]
            shrink = self.scale**2
            covariance = shrink * (self._coefficient_covariance - past.T @ past)
            covariance.flat[:: self.width + 1] += 1.0 - shrink
            self._root = root(covariance)
        return self.factor(rng.standard_normal((size, self.width)) @ self._root.T)

    def clear(self) -> None:
        super().clear()
        self._coefficients[:] = 0.0
        self._coefficient_covariance[:] = 0.0
        self._coefficient_covariance.flat[:: self.width + 1] = 1.0

    def _fold(self) -> None:
        """Fold the rows and their decay into the mean and the covariance.

        The covariance stays exactly symmetric: each entry of W^T W is the same sum of products as
        its mirror image.
        """
        past, covariance = self.block[: self.count], self._coefficient_covariance
        self._coefficients += np.dot(self.notes, past) if self.count else 0.0
        np.matmul(past.T, past, out=self._outer)  # equals np.dot, but is faster at large ranks
        np.subtract(covariance, self._outer, out=covariance)
        if self.scale != 1.0:
            shrink = self.scale**2
            self._coefficients *= self.scale
            covariance *= shrink
            covariance.ravel()[:: self.width + 1] += 1.0 - shrink
        super().clear()

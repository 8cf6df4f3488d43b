"""Coefficient space: f = F xi with few white coefficients xi, a Bayesian linear model.

The rows are W = cov(xi, f(arm)) / s, which are folded into the covariance P of xi. A step costs
O(r^2 + n r), or less if F has structure, for every t.
"""

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.linalg import root
from gpbandits_env.gp.posterior.representation import Representation
from gpbandits_env.gp.samplers import Factor, MatrixFactor

# Measured at ranks 19 to 266: keeping this many rows is cheaper than folding each one immediately.
FOLD_EVERY = 32
STRIP = 256


class Coefficients(Representation):
    """The mean m + W^T z and covariance P - W^T W of xi, with K(arms, arms) = F F^T."""

    name = "coefficients"
    DECAYED = 1e-4

    def __init__(self, factor: Factor, fold_every: int = FOLD_EVERY) -> None:
        rank = factor.rank
        super().__init__(rank, factor.squared_norms())
        self.factor, self.due = factor, fold_every
        # A stored matrix is used directly, which saves two of a dozen calls per round.
        self._matrix = factor.matrix if isinstance(factor, MatrixFactor) else None
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

"""Coefficient space: f = F xi with few white coefficients; a Bayesian linear model.

The rows are W = cov(xi, f(arm)) / s, folded into the covariance P of xi. A step costs
O(r^2 + n r), or less when F has structure, for ever.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.posterior.elimination import root
from gpbandits_env.posterior.representation import Representation, Rows
from gpbandits_env.posterior.state import check_shape
from gpbandits_env.samplers import Factor

# Measured at ranks 19 to 266: carrying this many rows along is cheaper than folding each at once.
FOLD_EVERY = 32
FADED = 1e-4
STRIP = 256


class Coefficients(Representation):
    """Mean and covariance of xi as m + W^T z and P - W^T W.

    Args:
        factor: F, with K(arms, arms) = F F^T.
        fold_every: the number of rows between folds.
    """

    name = "coefficients"

    def __init__(self, factor: Factor, fold_every: int = FOLD_EVERY) -> None:
        self.factor = factor
        rank = factor.rank
        self.prior_var = factor.squared_norms()
        self.rows = Rows(rank)
        self._fold_every = fold_every
        self._mean = np.zeros(rank)
        self._covariance = np.eye(rank)
        self._surprises: list[float] = []
        self._scratch = np.empty(rank)
        self._outer = np.empty((rank, rank))
        self._root: Array | None = None

    def direction(self, arm: int, inverse_s: float) -> Array:
        rows = self.rows
        count = rows.count
        slot = rows.slot()
        features = self.factor.row(arm)
        np.dot(self._covariance, features, out=slot)
        if count:
            past = rows.block[:count]
            np.dot(past.dot(features), past, out=self._scratch)
            np.subtract(slot, self._scratch, out=slot)
        if rows.scale != 1.0:
            shrink = rows.scale**2
            np.multiply(slot, shrink, out=slot)
            slot += (1.0 - shrink) * features
        np.multiply(slot, inverse_s, out=slot)
        return self.factor(slot)

    def push(self, surprise: float) -> None:
        self.rows.push()
        self._surprises.append(surprise)
        self._root = None

    def block(self, arms: IntArray) -> tuple[Array, Array]:
        features = self.factor.rows(arms)
        past = self.rows.block[: self.rows.count]
        rows = features @ self._covariance
        rows -= (features @ past.T) @ past
        if self.rows.scale != 1.0:
            shrink = self.rows.scale**2
            rows *= shrink
            rows += (1.0 - shrink) * features
        return rows, rows @ features.T

    def extend(self, rows: Array, surprises: Array | None) -> Array:
        self.rows.extend(rows)
        self._surprises += [0.0] * len(rows) if surprises is None else surprises.tolist()
        self._root = None
        return self.factor(rows)

    def settle(self) -> Array | None:
        if self.rows.count >= self._fold_every or self.rows.scale < FADED:
            self._fold()
        return None

    def refreshed(self) -> tuple[Array, Array] | None:
        self._fold()
        var = np.empty(self.factor.size)
        for start in range(0, len(var), STRIP):
            features = self.factor.rows(np.arange(start, min(start + STRIP, len(var))))
            known = features @ self._covariance
            np.einsum("ij,ij->i", known, features, out=var[start : start + STRIP])
        return self.factor(self._mean), var

    def fade(self, rho: float) -> None:
        self.rows.scale *= rho
        self._root = None

    def deviations(
        self, rng: np.random.Generator, size: int, kept: int, counts: Array | None, noise_var: float
    ) -> Array:
        if self._root is None:
            past = self.rows.block[:kept]
            shrink = self.rows.scale**2
            covariance = shrink * (self._covariance - past.T @ past)
            covariance.flat[:: self.factor.rank + 1] += 1.0 - shrink
            self._root = root(covariance)
        return self.factor(rng.standard_normal((size, self.factor.rank)) @ self._root.T)

    def truncate(self, count: int) -> None:
        self.rows.count = count
        del self._surprises[count:]
        self._root = None

    def clear(self) -> None:
        self.rows.clear()
        self._surprises.clear()
        self._mean[:] = 0.0
        self._covariance[:] = 0.0
        self._covariance.flat[:: self.factor.rank + 1] = 1.0
        self._root = None

    def snapshot(self) -> dict[str, Any]:
        return self.rows.snapshot() | {
            "surprises": np.array(self._surprises),
            "coefficients": self._mean.copy(),
            "coefficient_covariance": self._covariance.copy(),
        }

    def check(self, state: Mapping[str, Any]) -> None:
        rank = self.factor.rank
        self.rows.check(state)
        check_shape(state, "surprises", (len(state["rows"]),))
        check_shape(state, "coefficients", (rank,))
        check_shape(state, "coefficient_covariance", (rank, rank))

    def restore(self, state: Mapping[str, Any]) -> None:
        self.clear()
        self.rows.restore(state)
        self._surprises = state["surprises"].tolist()
        self._mean[:] = state["coefficients"]
        self._covariance[:] = state["coefficient_covariance"]

    def _fold(self) -> None:
        """Take the rows and their decay into m and P.

        P stays symmetric to the bit, so it never needs to be symmetrised: each entry of W^T W is
        the same sum of products as its mirror image.
        """
        rows = self.rows
        past = rows.block[: rows.count]
        self._mean += np.dot(self._surprises, past) if rows.count else 0.0
        np.dot(past.T, past, out=self._outer)
        np.subtract(self._covariance, self._outer, out=self._covariance)
        if rows.scale != 1.0:
            self._mean *= rows.scale
            shrink = rows.scale**2
            self._covariance *= shrink
            self._covariance.flat[:: self.factor.rank + 1] += 1.0 - shrink
        rows.clear()
        self._surprises.clear()

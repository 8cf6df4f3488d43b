"""The state of a function that moves in time: temporal states times white coefficients.

With f_t = F u_t and u_t = sum_i h_t[i] z_i, where z_1, ..., z_n are vectors of r coefficients that
move as the states of a temporal kernel, the posterior is a Kalman filter on n r numbers.
Observations of one time are rows, as in `Coefficients`; they are folded into the covariance when
time passes.
"""

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.posterior.representation import Representation
from gpbandits_env.gp.posterior.whitening import root
from gpbandits_env.gp.samplers import Factor
from gpbandits_env.gp.temporal import TemporalKernel, decay
from gpbandits_env.gp.threads import OneThread

# So many rows of one time are kept before they are folded; a round has few.
FOLD_EVERY = 64
STRIP = 256


class TemporalStates(Representation):
    """The Kalman filter of a GP in space and time, exact for any elapsed time.

    Cost: O((n r)^2) per observation and per round for n temporal states and rank r, at any time; a
    round also costs O(N r^2) for the variance of N arms. If the transition is not diagonal
    (Matern), a round costs O(n (n r)^2).

    Args:
        factor: F, with K(arms, arms) = F F^T.
        temporal: the kernel in time.
    Source: Hartikainen and Sarkka (2010), Section 3.
    """

    name = "states"
    DECAYED = 0.0

    def __init__(self, factor: Factor, temporal: TemporalKernel) -> None:
        size, rank = temporal.states, factor.rank
        norms = factor.squared_norms()
        super().__init__(size * rank, temporal.spread(0.0) * norms)
        self._largest = float(norms.max())
        self.factor, self.temporal, self.due = factor, temporal, FOLD_EVERY
        self._shape = size, rank
        self._states, self._state_covariance = np.zeros(self.width), np.empty((self.width,) * 2)
        # The rows as coefficients of the present function, (rank,) each.
        self._present: list[Array] = []
        self._step: tuple[tuple[float, float], Array, Array] | None = None
        self.clear()

    def level(self, dt: float) -> float:
        """The largest prior variance after an elapsed time; that of a random walk has no limit."""
        return self.temporal.spread(self.clock + dt) * self._largest

    def observe(self, arm: int, inverse_s: float, surprise: float) -> Array:
        features = self.factor.row(arm)
        row = features @ self._cross
        if self.count:
            row -= (np.array(self._present) @ features) @ self.block[: self.count]
        row *= inverse_s
        self._append(row[None])
        self._surprises.append(surprise)
        return self.factor(self._present[-1])

    def cross(self, arms: IntArray) -> tuple[Array, Array]:
        features = self.factor.rows(arms)
        rows = features @ self._cross
        if self.count:
            rows -= (features @ np.array(self._present).T) @ self.block[: self.count]
        return rows, np.array([self._now(row) for row in rows]) @ features.T

    def extend(self, rows: Array, surprises: Array | None) -> Array:
        self._surprises += [0.0] * len(rows) if surprises is None else surprises.tolist()
        self._append(rows)
        return self.factor(np.array(self._present[-len(rows) :]))

    def evolve(self, epsilon: float, dt: float) -> tuple[Array, Array]:
        """Let time pass; correlations with the past also shrink by (1 - epsilon)^(dt / 2).

        Returns:
            The mean minus the prior mean, and the variance, two new arrays (n,).
        """
        with OneThread():
            self._fold()
            size, rank = self._shape
            carry, noise = self._transition(epsilon, dt)
            self._states = (carry @ self._states.reshape(size, rank)).ravel()
            self._carry(carry)
            # A view of the diagonals of the blocks, one block per pair of temporal states.
            blocks = np.einsum("prqr->pqr", self._state_covariance.reshape(size, rank, size, rank))
            blocks += noise[:, :, None]
            self.clock += dt
            self._look()
            return self._moments()

    def settle(self) -> Array | None:
        if self.count >= self.due:
            self._fold()
            self._look()
        return None

    def refreshed(self) -> tuple[Array, Array] | None:
        self._fold()
        self._look()
        return self._moments()

    def deviations(
        self, rng: np.random.Generator, size: int, kept: int, counts: Array | None, noise_var: float
    ) -> Array:
        if self._root is None:
            covariance = np.tensordot(self._cross.reshape(-1, *self._shape), self._row, (1, 0))
            for row in self._present[:kept]:
                covariance -= np.outer(row, row)
            self._root = root(0.5 * (covariance + covariance.T))
        return self.factor(rng.standard_normal((size, self._shape[1])) @ self._root.T)

    def truncate(self, count: int) -> None:
        super().truncate(count)
        del self._present[count:]

    def clear(self) -> None:
        self._clear_rows()
        self.clock = 0.0
        self._states[:] = 0.0
        prior = self.temporal.covariance(0.0)
        self._state_covariance[:] = np.kron(prior, np.eye(self.factor.rank))
        self._look()

    def _transition(self, epsilon: float, dt: float) -> tuple[Array, Array]:
        """The transition and the covariance of its noise, for one vector of temporal states."""
        if self._step is None or self._step[0] != (epsilon, dt) or not self.temporal.stationary:
            carry = decay(epsilon, dt) * self.temporal.transition(dt)
            noise = self.temporal.covariance(self.clock + dt)
            noise = noise - carry @ self.temporal.covariance(self.clock) @ carry.T
            self._step = (epsilon, dt), carry, 0.5 * (noise + noise.T)
        return self._step[1:]

    def _carry(self, carry: Array) -> None:
        """Replace the covariance C by (carry x I) C (carry x I)^T; it stays symmetric."""
        size, rank = self._shape
        covariance, factors = self._state_covariance, carry.diagonal()
        if np.count_nonzero(carry) == np.count_nonzero(factors):
            if np.ptp(factors) > 0.0:
                apart = covariance.reshape(size, rank, size, rank)
                apart *= np.outer(factors, factors)[:, None, :, None]
            elif factors[0] != 1.0:
                covariance *= factors[0] ** 2
            return
        half = carry @ covariance.reshape(size, -1)
        moved = np.matmul(carry, half.reshape(self.width, size, rank)).reshape(covariance.shape)
        np.add(moved, moved.T, out=covariance)
        covariance *= 0.5

    def _look(self) -> None:
        """The row of the present time, and the covariance of u_t and the state, (r, n r)."""
        self._row, self._root = self.temporal.row(self.clock), None
        size, rank = self._shape
        cross = self._row @ self._state_covariance.reshape(size, rank * self.width)
        self._cross = cross.reshape(rank, self.width)

    def _now(self, row: Array) -> Array:
        """A vector of the state's width as coefficients of the present function, (r,)."""
        return self._row @ row.reshape(self._shape)

    def _moments(self) -> tuple[Array, Array]:
        """The mean minus the prior mean and the variance at all arms, of folded data."""
        factor, n = self.factor, self.factor.size
        covariance = np.tensordot(self._cross.reshape(-1, *self._shape), self._row, (1, 0))
        known, var = factor(covariance), np.empty(n)
        for start in range(0, n, STRIP):
            part = slice(start, min(start + STRIP, n))
            features = factor.rows(np.arange(part.start, part.stop))
            np.einsum("ij,ji->i", features, known[:, part], out=var[part])
        return factor(self._now(self._states)), var

    def _append(self, rows: Array) -> None:
        super()._append(rows)
        self._present += [self._now(row) for row in rows]

    def _fold(self) -> None:
        """Fold the rows into the mean and the covariance of the state."""
        if not self.count:
            return
        past, covariance = self.block[: self.count], self._state_covariance
        self._states += np.dot(self._surprises, past)
        if self.count == 1:
            covariance -= np.outer(past[0], past[0])
        else:
            covariance -= past.T @ past
        self._clear_rows()

    def _clear_rows(self) -> None:
        super().clear()
        self._present.clear()

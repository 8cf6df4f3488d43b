"""The state of a function that moves in time: temporal states times white coefficients.

With f_t = F u_t and u_t = sum_i h_t[i] z_i, where z_1, ..., z_n are vectors of r coefficients that
move as the states of a temporal kernel, the posterior is a Kalman filter on n r numbers. A sum over
space and time is f_t = F_1 u_t + F_2 v_t + ..., where each term has states of its own: F and u are
joined, and so are the states.
Observations of one time are rows, as in `Coefficients`; they are folded into the covariance when
time passes.
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.linalg import inverse, root
from gpbandits_env.gp.posterior.representation import Representation
from gpbandits_env.gp.samplers import Factor, MatrixFactor
from gpbandits_env.gp.temporal import StaticTime, TemporalKernel
from gpbandits_env.gp.threads import OneThread

# So many rows of one time are kept before they are folded; a round has few.
FOLD_EVERY = 64
STRIP = 256


class _Part(NamedTuple):
    """A term: its kernel in time, its part of the state, its numbers of states and coefficients."""

    temporal: TemporalKernel
    own: slice
    size: int
    rank: int
    largest: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.rank


class TemporalStates(Representation):
    """The Kalman filter of a GP in space and time, exact for any elapsed time.

    Cost: O((n r)^2) per observation and per round for n temporal states and rank r, at any time; a
    round also costs O(N r^2) for the variance of N arms. If the transition is not diagonal
    (Matern), a round costs O(n (n r)^2).

    Args:
        factors: the F of each term, with K(arms, arms) = F F^T; most models have one.
        temporal: the kernel in time, whose parts are those of the terms.
    Source: Hartikainen and Sarkka (2010), Section 3.
    """

    name = "states"

    def __init__(self, factors: Sequence[Factor], temporal: TemporalKernel) -> None:
        self._parts, width, prior_vars = list[_Part](), 0, list[Array]()
        for factor, part in zip(factors, temporal.parts, strict=True):
            size, rank, norms = part.states, factor.rank, factor.squared_norms()
            own = slice(width, width := width + size * rank)
            prior_vars.append(part.spread(0.0) * norms)
            self._parts.append(_Part(part, own, size, rank, float(norms.max())))
        super().__init__(width, reduce(np.add, prior_vars))
        joined = factors[0]
        if len(factors) > 1:
            arms = np.arange(joined.size)
            joined = MatrixFactor(
                np.hstack([factor.rows(arms) for factor in factors]),
                sum(factor.error for factor in factors),
            )
        self.factor, self.temporal, self.due = joined, temporal, FOLD_EVERY
        self.at_once = temporal.stationary  # whether `learn_all` is possible
        self._states, self._state_covariance = np.zeros(self.width), np.empty((self.width,) * 2)
        # The rows as coefficients of the present function, (rank,) each.
        self._present: list[Array] = []
        self._step: tuple[tuple[float, float], list[tuple[Array, Array]]] | None = None
        self.clear()

    def level(self, dt: float) -> float:
        """The largest prior variance after an elapsed time; that of a random walk has no limit."""
        return sum(p.temporal.spread(self.clock + dt) * p.largest for p in self._parts)

    def observe(self, arm: int, inverse_s: float, surprise: float) -> Array:
        features = self.factor.row(arm)
        row = features @ self._cross
        if self.count:
            row -= (np.array(self._present) @ features) @ self.block[: self.count]
        row *= inverse_s
        self._append(row[None], [surprise])
        return self.factor(self._present[-1])

    def cross(self, arms: IntArray) -> tuple[Array, Array]:
        features = self.factor.rows(arms)
        rows = features @ self._cross
        if self.count:
            rows -= (features @ np.array(self._present).T) @ self.block[: self.count]
        return rows, np.array([self._now(row) for row in rows]) @ features.T

    def extend(self, rows: Array, surprises: list[float]) -> Array:
        self._append(rows, surprises)
        return self.factor(np.array(self._present[-len(rows) :]))

    def evolve(self, epsilon: float, dt: float) -> tuple[Array, Array]:
        """Let time pass; correlations with the past also shrink by (1 - epsilon)^(dt / 2).

        Returns:
            The mean minus the prior mean, and the variance, two new arrays (n,).
        """
        with OneThread():
            self._fold()
            steps = self._transitions(epsilon, dt)
            self._carry([carry for carry, _ in steps])
            for part, (carry, noise) in zip(self._parts, steps, strict=True):
                states = self._states[part.own].reshape(part.shape)
                self._states[part.own] = (carry @ states).ravel()
                # A view of the diagonals of the blocks, one block per pair of temporal states.
                own = self._state_covariance[part.own, part.own]
                blocks = np.einsum("prqr->pqr", own.reshape(*part.shape, *part.shape))
                blocks += noise[:, :, None]
            self.clock += dt
            self._look()
            return self._moments()

    def learn_all(
        self, arms: IntArray, gaps: Array, times: Array, now: float, noise: float
    ) -> Array:
        """Condition the prior of a stationary kernel on data of all times, O(k (n r)^2 + k^3).

        Args:
            arms: (k,) the arms.
            gaps: (k,) the rewards minus the prior mean.
            times: (k,) their times, at most ``now``, to which time passes.
            now: the clock afterwards.
            noise: the variance of the noise.
        Returns:
            The variances of the rewards given those before, (k,).
        Raises:
            LinAlgError: rounding exceeds the noise; nothing has changed.
        """
        features, cross = self.factor.rows(arms), np.empty((len(arms), self.width))
        gram, first = noise * np.eye(len(arms)), 0
        stamps, which = np.unique(times, return_inverse=True)
        for part in self._parts:
            law, own = part.temporal, features[:, first : (first := first + part.rank)]
            each = [
                law.transition(now - t) @ law.covariance(t) @ law.row(t) for t in stamps.tolist()
            ]
            states = np.array(each)[which]
            cross[:, part.own] = np.einsum("kp,kr->kpr", states, own).reshape(len(arms), -1)
            gram += own @ own.T * law(times, times)
        lower = np.linalg.cholesky(gram)
        white = np.linalg.inv(lower)
        rows = white @ cross
        self.clear()
        self.clock = now
        self._states[:] = (white @ gaps) @ rows
        self._state_covariance -= rows.T @ rows
        self._look()
        return np.asarray(lower.diagonal() ** 2)

    def settle(self) -> Array | None:
        if self.count >= self.due:
            self._fold()
            self._look()
        return None

    def refreshed(self) -> tuple[Array, Array] | None:
        self._fold()
        self._look()
        return self._moments()

    def deviations(self, rng: np.random.Generator, size: int, kept: int) -> Array:
        if self._root is None:
            covariance = self._all_now(self._cross)
            for row in self._present[:kept]:
                covariance -= np.outer(row, row)
            self._root = root(0.5 * (covariance + covariance.T))
        return self.factor(rng.standard_normal((size, self.factor.rank)) @ self._root.T)

    def truncate(self, count: int) -> None:
        super().truncate(count)
        del self._present[count:]

    def clear(self) -> None:
        self._clear_rows()
        self.clock = 0.0
        self._states[:] = 0.0
        self._state_covariance[:] = block_diag(
            *(np.kron(part.temporal.covariance(0.0), np.eye(part.rank)) for part in self._parts)
        )
        self._look()

    def _transitions(self, epsilon: float, dt: float) -> list[tuple[Array, Array]]:
        """Of each part the transition of its states, and the covariance of its noise."""
        if self._step is None or self._step[0] != (epsilon, dt) or not self.temporal.stationary:
            found = [each.step(self.clock, dt, epsilon) for each in self.temporal.parts]
            self._step = (epsilon, dt), found
        return self._step[1]

    def _carry(self, carries: list[Array]) -> None:
        """Replace the covariance C by A C A^T with A = carry x I, or the blocks of the parts."""
        if len(carries) > 1:
            for _ in range(2):
                for part, carry in zip(self._parts, carries, strict=True):
                    own = self._state_covariance[part.own]
                    own[:] = (carry @ own.reshape(part.size, -1)).reshape(own.shape)
                self._state_covariance[:] = self._state_covariance.T.copy()
            self._state_covariance += self._state_covariance.T.copy()
            self._state_covariance *= 0.5
            return
        (carry,), (size, rank) = carries, self._parts[0].shape
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
        """The rows of the present time, and the covariance of u_t and the state, (r, n r)."""
        self._rows = [(part, part.temporal.row(self.clock)) for part in self._parts]
        cross = [
            (row @ self._state_covariance[part.own].reshape(part.size, -1)).reshape(part.rank, -1)
            for part, row in self._rows
        ]
        self._root = None
        self._cross = cross[0] if len(cross) == 1 else np.concatenate(cross)

    def _now(self, vector: Array) -> Array:
        """A vector of the state's width as coefficients of the present function, (r,)."""
        found = [row @ vector[part.own].reshape(part.shape) for part, row in self._rows]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _all_now(self, vectors: Array) -> Array:
        """The same for vectors (k, width), (k, r)."""
        found = [
            np.tensordot(vectors[:, part.own].reshape(-1, *part.shape), row, (1, 0))
            for part, row in self._rows
        ]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=1)

    def _moments(self) -> tuple[Array, Array]:
        """The mean minus the prior mean and the variance at all arms, of folded data."""
        factor, n = self.factor, self.factor.size
        covariance = self._all_now(self._cross)
        known, var = factor(covariance), np.empty(n)
        for start in range(0, n, STRIP):
            part = slice(start, min(start + STRIP, n))
            features = factor.rows(np.arange(part.start, part.stop))
            np.einsum("ij,ji->i", features, known[:, part], out=var[part])
        return factor(self._now(self._states)), var

    def _append(self, rows: Array, notes: list[float]) -> None:
        super()._append(rows, notes)
        self._present += [self._now(row) for row in rows]

    def _fold(self) -> None:
        """Fold the rows into the mean and the covariance of the state."""
        if not self.count:
            return
        past, covariance = self.block[: self.count], self._state_covariance
        self._states += np.dot(self.notes, past)
        if self.count == 1:
            covariance -= np.outer(past[0], past[0])
        else:
            covariance -= past.T @ past
        self._clear_rows()

    def _clear_rows(self) -> None:
        super().clear()
        self._present.clear()


class DiscountedCoefficients(TemporalStates):
    r"""Weighted GP regression with geometric weights, on coefficients of f = F xi.

    An observation of age j has the noise variance s^2 / gamma^j. As long as nothing is observed,
    the precision of xi, which is I before any data, becomes

    .. math:: P^{-1} \leftarrow \gamma P^{-1} + (1 - \gamma) I

    while P^{-1} E[xi] is multiplied by gamma. The mean and the variance are those of

    .. math::
        \mu_t(x) = k_t(x)^T (K_t + \lambda_t W_t^{-1})^{-1} y_t, \quad
        \sigma_t^2(x) = k(x, x) - k_t(x)^T (K_t + \lambda_t W_t^{-1})^{-1} k_t(x)

    with weights w_s = gamma^(-s) and lambda_t = s^2 gamma^(-t).

    Cost: O(r^3) per round and O(r^2) per observation for rank r, at any time.

    Args:
        factor: F, with K(arms, arms) = F F^T.
        discount: gamma in (0, 1].
    Source: Deng et al. (2022), Section 3.
    """

    name = "discounted"

    def __init__(self, factor: Factor, discount: float) -> None:
        self._discount = discount
        super().__init__([factor], StaticTime())
        self.at_once = False  # the noise on an observation grows with its age

    def evolve(self, epsilon: float, dt: float) -> tuple[Array, Array]:
        with OneThread():
            self._fold()
            kept, covariance = self._discount**dt, self._state_covariance
            if kept < 1.0:
                precision = inverse(covariance)
                weighted = kept * (precision @ self._states)
                precision *= kept
                precision.flat[:: self.width + 1] += 1.0 - kept
                covariance[:] = inverse(precision)
                self._states = covariance @ weighted
        return super().evolve(epsilon, dt)

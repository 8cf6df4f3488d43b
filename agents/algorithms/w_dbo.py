"""W-DBO: GP-UCB that removes the observations which no longer say much about the future.

Paper: Bardou, Thiran and Ranieri (2024), "This Too Shall Pass: Removing Stale Observations in
Dynamic Bayesian Optimization", NeurIPS; its constants are those of the authors' public code.
Assumes: the covariance is that in space times a Matern 3/2 kernel in time. The times of
observations are those of the environment's clock, or rounds.
Departures: 1. the integral over space is the mean over the arms, or over 512 Sobol points of a box;
2. the model is the given one unless `learn` is set, and fits happen at its intervals instead of
after every removal; rewards are standardized only if `standardize` is set; 3. the bound has the
standard deviation of the function, to which the public code adds the noise; 4. ties (see `leader`)
go to the lowest index, and the oldest of equally stale observations is removed.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg.blas import dger

from gpbandits_env.agents.acquisitions.functions import UCB, Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.keep import Masked
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.search.candidates import sobol_points
from gpbandits_env.arrays import LARGEST, Array, IntArray, Settings, State, leading, positive
from gpbandits_env.domains import Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.linalg import EPS, inverse
from gpbandits_env.gp.temporal import Matern32Time, TemporalKernel
from gpbandits_env.gp.threads import OneThread
from gpbandits_env.problem import Problem

# At least this many observations are kept.
FEWEST = 2
# An integral over a box is a mean over this many points.
PLACES = 512
# The largest error of what is updated as observations come and go, relative to its size, and to the
# sizes of the terms of which it is the sum. Staleness is rounded to 1e-7.
ACCURACY, ROUNDING = 1e-8, 8.0 * EPS
# Storage has room for this many further observations.
ROOM = 32


def in_future(kernel: Matern32Time, times: Array, now: float) -> Array:
    """Features (n, 2): products of two are the integrals of T(u, t_j) T(u, t_l) over u from now."""
    # With p and q the scaled ages, e^(-p - q) ((1 + p)(1 + q) / 2 + (2 + p + q) / 4 + 1 / 4), which
    # is e^(-p - q) ((3 / 2 + p)(3 / 2 + q) + 1 / 4) / 2.
    rate = math.sqrt(3.0) / kernel.lengthscale
    p = rate * (now - times)
    features = np.column_stack([1.5 + p, np.full(len(p), 0.5)])
    features *= np.exp(-p)[:, None] / math.sqrt(2.0 * rate)
    return features


def places(domain: Domain) -> Array:
    """The points (k, d) whose mean stands for an integral over the domain."""
    if not isinstance(domain, Box):
        return domain.span
    return domain.low + sobol_points(domain.dim, PLACES) * (domain.high - domain.low)


class Relevance(Masked):
    """Observations are removed while the change that this makes is within a budget.

    The budget starts at 1, grows by the factor (1 + alpha)^(dt / l) in a time dt, where l is the
    lengthscale in time, to at most 1e150, and a removal divides it by one plus the change.

    Args:
        alpha: the growth of the budget in a lengthscale of time, above 0.
    """

    REMEMBERS = (*Masked.REMEMBERS, "budget", "checked")

    def __init__(self, alpha: float) -> None:
        self.alpha = positive(alpha, "alpha")
        super().__init__()

    def begin(self) -> None:
        super().begin()
        self.budget, self.checked = 1.0, 0.0
        self._known: Criterion | None = None

    def restore(self, state: State) -> None:
        super().restore(state)
        self._known = None

    def observe(self, seen: Observed, before: Any) -> None:
        data, posterior, now = before.data, before.posterior, seen.clock
        temporal = posterior.temporal
        most = math.log(LARGEST) / math.log1p(self.alpha)
        grown = min((now - self.checked) / temporal.lengthscale, most)
        self.budget = min(self.budget * (1.0 + self.alpha) ** grown, LARGEST)
        self.checked = now
        rows = np.flatnonzero(self.usable(data))
        if len(rows) <= FEWEST:
            return
        with OneThread():
            known = self._known
            if known is None or not known.follow(posterior, data, rows):
                known = Criterion(posterior, data, rows)
            while known.size > FEWEST:
                # Rounded, so that the rounding of products does not accumulate in the budget.
                stale = known.staleness(now).astype(np.float32).astype(np.float64)
                oldest = np.argsort(known.rows)
                i = oldest.item(leading(-stale[oldest]))
                if not known.accurate(i):
                    known = Criterion(posterior, data, known.rows[oldest])
                    continue
                if 1.0 + stale.item(i) >= self.budget:
                    break
                self.budget /= 1.0 + stale.item(i)
                self.dropped.append(known.rows.item(i))
                known.remove(i)
        self._known = known


class Criterion:
    r"""The criterion of the kept observations; O(n^2) for one that comes or goes, and for a time.

    Let A be Delta^-1, S the integrals over space, and U_1, U_2 the features of `in_future` at the
    time of the newest observation, as diagonal matrices. Then C is the sum of U_c S U_c. At a later
    time U becomes U L with a matrix L (2, 2), so that the diagonals of A U_c S U_d A and the traces
    of A U_c S U_d are kept for all c, d. One more or one less observation adds c w w^T to A.
    Everything is computed anew where the model is another one, and where rounding has accumulated,
    see `accurate`; O(n^3).

    Args:
        posterior: has the model.
        data: the data.
        rows: the numbers of those that count, (n,).
    """

    _features: Array
    _gaps: Array

    def __init__(self, posterior: Any, data: Data, rows: IntArray) -> None:
        self._kernel, self._temporal = posterior.kernel, posterior.temporal
        self._noise_var, self._places = posterior.noise_var, places(posterior.domain)
        n = self.size = len(rows)
        self._reserve(n + ROOM)
        self._rows[:n], times = rows, data.times[rows]
        points = posterior.domain.points(data.points[rows])
        spread = self._spread[:n] = self._over(points)
        gram, overlap, precision = self._matrices[:, :n, :n]
        np.multiply(self._kernel(points, points), self._temporal(times, times), out=gram)
        gram[np.diag_indices(n)] += self._noise_var
        overlap[:], precision[:], self._changed = spread @ spread.T, inverse(gram), False
        self._newest = float(times.max())
        self._read(posterior, data)
        features = self._features.T[:, :, None]
        few = n < len(self._places)  # A U S U A = (A U R) (A U R)^T
        sides = precision @ (features * (overlap if few else spread))
        others = precision * features.transpose(0, 2, 1) if few else sides
        self._each[:n] = np.einsum("cij,dij->icd", sides, others)
        self._trace = self._features.T @ (precision * overlap) @ self._features

    @property
    def rows(self) -> IntArray:
        """The numbers of the observations, in the order of what is computed of each, (n,)."""
        return self._rows[: self.size]

    def follow(self, posterior: Any, data: Data, rows: IntArray) -> bool:
        """Add the observations after the known ones; whether that is possible and cheaper."""
        known = self.size
        if (
            posterior.kernel is not self._kernel
            or posterior.temporal != self._temporal
            or posterior.noise_var != self._noise_var
            or len(rows) > 2 * known
            or not np.array_equal(rows[:known], np.sort(self.rows))
        ):
            return False
        for row in rows[known:].tolist():
            if not self._add(posterior.domain, data, row):
                return False
        self._read(posterior, data)
        return True

    def staleness(self, now: float) -> Array:
        r"""The relative change of the posterior for all times to come without each one, (n,).

        .. math:: r_i^2 = \frac{(A C A)_{ii} (a_i^2 / A_{ii}^2 + 1 / A_{ii})}
            {a^T C a + \sum_{jl} A_{jl} C_{jl}}, \quad A = \Delta^{-1}, \quad a = A y

        It is the 2-Wasserstein distance between the two posteriors, integrated over space and over
        the future, relative to that between the posterior and the prior. Delta is the covariance of
        the rewards with their noise, y are the rewards less the prior mean, and C are the integrals
        of the products of the covariances with two observations. The time is not before these.

        Source: Bardou et al. (2024), Section 4, with the inverse without an observation as an
            update of rank 1.
        """
        _, overlap, precision = self._matrices[:, : self.size, : self.size]
        later, _ = self._later(now)
        each = self._each[: self.size].reshape(-1, 4) @ (later.T @ later).ravel()
        features = self._features @ later.T
        weights, own = precision @ self._gaps, precision.diagonal()
        weighted = features * weights[:, None]
        total = sum(u @ overlap @ u for u in weighted.T) + np.trace(later @ self._trace @ later.T)
        parts = np.maximum(each, 0.0) * ((weights / own) ** 2 + 1.0 / own)
        # All integrals underflow if no observation is near a place: then none says anything.
        parts = np.divide(parts, total, out=np.zeros(self.size), where=total > 0.0)
        return np.asarray(np.sqrt(parts))

    def accurate(self, i: int) -> bool:
        """Whether what is known of an observation agrees with its definition up to rounding."""
        if not self._changed:
            return True
        gram, overlap, precision = self._matrices[:, : self.size, : self.size]
        own = precision[i]
        weighted = self._features * own[:, None]
        both = np.concatenate([weighted, np.abs(weighted)], axis=1)
        products = (both * (overlap @ both)).sum(axis=0)
        each, terms = products[:2].sum(), products[2:].sum()
        gap = gram @ own
        gap[i] -= 1.0
        largest = gram.diagonal().max() * np.abs(own).sum()
        return bool(
            abs(np.trace(self._each[i]) - each) <= ACCURACY * each + ROUNDING * terms
            and np.abs(gap).max() <= ACCURACY + ROUNDING * largest
        )

    def remove(self, i: int) -> None:
        """Remove an observation; the last one takes its place."""
        n = self.size
        own = self._matrices[2, i, :n].copy()
        self._change(own, -1.0 / own.item(i))
        for matrix in self._matrices:
            matrix[i, :n] = matrix[n - 1, :n]
            matrix[:n, i] = matrix[:n, n - 1]
        for column in (self._rows, self._spread, self._each, self._features, self._gaps):
            column[i] = column[n - 1]
        self.size -= 1
        self._features, self._gaps = self._features[:-1], self._gaps[:-1]

    def _reserve(self, most: int) -> None:
        self._rows, self._each = np.empty(most, dtype=np.intp), np.empty((most, 2, 2))
        self._spread = np.empty((most, len(self._places)))
        self._matrices = np.empty((3, most, most))  # Delta, S and A

    def _read(self, posterior: Any, data: Data) -> None:
        """The rewards less the prior mean, and the features."""
        mean = posterior.prior_mean
        if posterior.domain.finite:
            mean = mean[data.points[self.rows]]
        self._gaps = data.rewards[self.rows] - mean
        self._features = in_future(self._temporal, data.times[self.rows], self._newest)

    def _add(self, domain: Domain, data: Data, row: int) -> bool:
        """Add an observation; whether that is possible in spite of rounding."""
        n = self.size
        if n == len(self._rows):
            before = self._rows, self._each, self._spread, self._matrices
            self._reserve(n + ROOM)
            self._rows[:n], self._each[:n], self._spread[:n] = before[:3]
            self._matrices[:, :n, :n] = before[3]
        self._rows[n] = row
        rows = self._rows[: n + 1]
        points, times = domain.points(data.points[rows]), data.times[rows]
        column = self._kernel(points[-1:], points)[0] * self._temporal(times[-1:], times)[0]
        column[-1] += self._noise_var
        change = np.append(self._matrices[2, :n, :n] @ column[:-1], -1.0)
        left = -float(change @ column)
        if left <= 0.5 * self._noise_var:
            return False
        self._spread[n] = self._over(points[-1:])[0]
        overlap = self._spread[: n + 1] @ self._spread[n]
        for matrix, last in zip(self._matrices, (column, overlap, np.zeros(n + 1)), strict=True):
            matrix[n, : n + 1] = matrix[: n + 1, n] = last
        now = max(self._newest, times.item(-1))
        later, shrunk = self._later(now)
        later *= shrunk
        self._each[:n] = (self._each[:n].reshape(-1, 4) @ np.kron(later, later).T).reshape(-1, 2, 2)
        self._each[n], self._trace = 0.0, later @ self._trace @ later.T
        self.size, self._newest = n + 1, now
        self._features = in_future(self._temporal, times, now)
        self._change(change, 1.0 / left)
        return True

    def _over(self, points: Array) -> Array:
        """R of points, (n, k), where S = R R^T are the integrals over space."""
        return self._kernel(points, self._places) / math.sqrt(len(self._places))

    def _later(self, now: float) -> tuple[Array, float]:
        """L up to a factor, and the factor, which may underflow."""
        lag = math.sqrt(3.0) / self._temporal.lengthscale * (now - self._newest)
        return np.array([[1.0, 2.0 * lag], [0.0, 1.0]]), math.exp(-lag)

    def _change(self, w: Array, factor: float) -> None:
        """Add factor w w^T to A."""
        n, self._changed = self.size, True
        _, overlap, precision = self._matrices[:, :n, :n]
        weighted = self._features * w[:, None]
        over = np.stack([overlap @ u for u in weighted.T], axis=1)  # twice as fast as both at once
        products = (self._features[:, :, None] * over[:, None]).reshape(-1, 4)
        sides = (precision @ products).reshape(-1, 2, 2)
        part, inner = factor * w[:, None, None], weighted.T @ over
        self._each[:n] += part * (sides + sides.transpose(0, 2, 1) + part * inner)
        self._trace += factor * inner
        w = np.append(w, np.zeros(len(self._rows) - n))
        dger(factor, w, w, a=self._matrices[2].T, overwrite_a=1)  # in place


class KeptBound(AcquisitionRule):
    """The upper confidence bound with beta = c d log(2 n), where n observations are kept.

    Args:
        c: at least 0.
    """

    def __init__(self, c: float) -> None:
        self.c = positive(c, "c", zero=True)

    def at(self, now: Round) -> Acquisition:
        posterior = now.posterior
        return UCB(self.c * posterior.domain.dim * math.log(2.0 * max(posterior.size, 1)))


class WDBO(GPAgent):
    """GP-UCB on the observations that still say something about the present or the future.

    Args:
        alpha: how fast observations may be removed (see `Relevance`).
        c: the factor of beta = c d log(2 n) for n kept observations.
        temporal: the covariance in time, Matern 3/2; by default that of the problem if it is of
            this kind, or else with lengthscale 25. It is fitted with
            ``learn={"every": 10, "what": ["temporal"]}``.
        batch: by default the first 15 rounds are uniform.
    Raises:
        InvalidInput: the covariance in time is of another kind, or a number is out of range.
    Source: Bardou, Thiran and Ranieri (2024), Algorithm 1.
    """

    PARTS = Parts(
        acquisition=partial(KeptBound, c=0.2),
        keep=partial(Relevance, alpha=0.25),
        batch={"type": "initialised", "rounds": 15, "first": "uniform", "then": "hallucinate"},
    )
    assumes_drift = True

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        temporal: TemporalKernel | Settings | None = None,
        **settings: object,
    ) -> None:
        usual = problem.temporal if isinstance(problem.temporal, Matern32Time) else None
        given = temporal if temporal is not None else usual or Matern32Time(25.0)
        super().__init__(problem, rng, temporal=given, **settings)
        if not isinstance(self.conditioned.model.temporal, Matern32Time):
            raise InvalidInput(
                'w-dbo needs a Matern 3/2 kernel in time: temporal={"type": "matern32", '
                '"lengthscale": 25.0}'
            )

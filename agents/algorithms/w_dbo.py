"""W-DBO: GP-UCB that removes the observations which no longer say much about the future.

Paper: Bardou, Thiran and Ranieri (2024), "This Too Shall Pass: Removing Stale Observations in
Dynamic Bayesian Optimization", NeurIPS; its constants are those of the authors' public code.
Assumes: the covariance is that in space times a Matern 3/2 kernel in time. The times of
observations are those of the environment's clock, or rounds.
Departures: 1. the integral over space is the mean over the arms, or over 512 Sobol points of a box;
2. the model is the given one unless `learn` is set, and fits happen at its intervals instead of
after every removal; 3. ties (see `leader`) go to the lowest index, and the oldest of equally
stale observations is removed.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.functions import UCB, Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.agents.data.keep import Masked
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import Array, IntArray, Points, Settings, State, frozen, leading, positive
from gpbandits_env.domains import Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.linalg import inverse
from gpbandits_env.gp.samplers import sobol
from gpbandits_env.gp.temporal import Matern32Time, TemporalKernel
from gpbandits_env.gp.threads import OneThread
from gpbandits_env.problem import Problem

# At least so many observations are kept.
FEWEST = 2
# An integral over a box is a mean over 2^POWER points.
POWER = 9


def staleness(gram: Array, rewards: Array, overlap: Array) -> Array:
    r"""The relative change of the posterior for all times to come without each observation, (n,).

    .. math:: r_i^2 = \frac{(A C A)_{ii} (a_i^2 / A_{ii}^2 + 1 / A_{ii})}
        {a^T C a + \sum_{jl} A_{jl} C_{jl}}, \quad A = \Delta^{-1}, \quad a = A y

    It is the 2-Wasserstein distance between the two posteriors, integrated over space and over the
    future, relative to that between the posterior and the prior.

    Args:
        gram: Delta, (n, n), the covariance of the rewards with their noise.
        rewards: y, (n,), less the prior mean.
        overlap: C, (n, n), the integrals of the products of the covariances with two observations.
    Cost: O(n^3).
    Source: Bardou et al. (2024), Section 4, with the inverse without an observation as an update of
        rank 1.
    """
    return _staleness(inverse(gram), rewards, overlap)


def _staleness(precision: Array, rewards: Array, overlap: Array) -> Array:
    weights, own = precision @ rewards, precision.diagonal()
    total = weights @ overlap @ weights + np.vdot(precision, overlap)
    each = np.einsum("ij,ij->i", precision @ overlap, precision)
    return np.asarray(np.sqrt(each * ((weights / own) ** 2 + 1.0 / own) / total))


def future(kernel: Matern32Time, times: Array, now: float) -> Array:
    """The integrals of T(u, t_j) T(u, t_l) over u from now on, (n, n)."""
    # With p and q the scaled ages, e^(-p - q) ((1 + p)(1 + q) / 2 + (2 + p + q) / 4 + 1 / 4), which
    # is e^(-p - q) ((3 / 2 + p)(3 / 2 + q) + 1 / 4) / 2.
    rate = math.sqrt(3.0) / kernel.lengthscale
    p = rate * (now - times)
    shrunk = np.exp(-p)
    factors = np.stack([(1.5 + p) * shrunk, 0.5 * shrunk])
    return np.asarray(factors.T @ factors) / (2.0 * rate)


def places(domain: Domain) -> Array:
    """The points (k, d) whose mean stands for an integral over the domain."""
    if not isinstance(domain, Box):
        return domain.span
    return domain.low + _sobol(domain.dim) * (domain.high - domain.low)


@lru_cache(maxsize=8)
def _sobol(dim: int) -> Array:
    return frozen(sobol(dim, POWER))


class Relevance(Masked):
    """Observations are removed while the change that this makes is within a budget.

    The budget starts at 1, grows by the factor (1 + alpha)^(dt / l) in a time dt, where l is the
    lengthscale in time, and a removal divides it by one plus the change.

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
        self._known: InSpace | None = None

    def restore(self, state: State) -> None:
        super().restore(state)
        self._known = None

    def observe(self, seen: Observed, before: Any) -> None:
        data, posterior, now = before.data, before.posterior, seen.clock
        temporal = posterior.temporal
        self.budget *= (1.0 + self.alpha) ** ((now - self.checked) / temporal.lengthscale)
        self.checked = now
        rows = np.flatnonzero(self.usable(data))
        if len(rows) <= FEWEST:
            return
        played, times = data.points[rows], data.times[rows]
        with OneThread():
            known = InSpace.of(posterior, rows, played, self._known)
            gram = known.gram * temporal(times, times)
            gram.flat[:: len(rows) + 1] += posterior.noise_var
            overlap = known.overlap * future(temporal, times, now)
            mean = posterior.prior_mean
            rewards = data.rewards[rows] - (mean[played] if posterior.domain.finite else mean)
            left, precision = np.arange(len(rows)), inverse(gram)
            while len(left) > FEWEST:
                # Rounded, so that the rounding of products does not accumulate in the budget.
                stale = _staleness(precision, rewards[left], overlap)
                stale = stale.astype(np.float32).astype(np.float64)
                i = int(leading(-stale))
                if 1.0 + stale.item(i) >= self.budget:
                    break
                self.budget /= 1.0 + stale.item(i)
                self.dropped.append(int(rows[left[i]]))
                left = np.delete(left, i)
                own, others = precision[i], np.delete(np.arange(len(precision)), i)
                precision = precision[np.ix_(others, others)]
                precision -= np.outer(own[others], own[others] / own[i])
                overlap = overlap[np.ix_(others, others)]
        self._known = known if len(left) == len(rows) else known.only(left)


@dataclass(frozen=True)
class InSpace:
    """What does not change with time of the kept observations, until the kernel changes.

    Args:
        kernel: the kernel in space.
        rows: the numbers of the observations, (n,).
        spread: the covariances with `places`, (n, k).
        gram: the covariances, (n, n).
        overlap: the integrals over space of the products of the covariances with two, (n, n).
    """

    kernel: Kernel
    rows: IntArray
    spread: Array
    gram: Array
    overlap: Array

    @classmethod
    def of(
        cls, posterior: Any, rows: IntArray, played: Points, known: "InSpace | None"
    ) -> "InSpace":
        """That of these rows; only new ones cost O(n k) each if the others are known."""
        kernel, domain = posterior.kernel, posterior.domain
        points, at = domain.points(played), places(domain)
        if (
            known is None
            or known.kernel is not kernel
            or not np.array_equal(known.rows, rows[: len(known.rows)])
        ):
            nothing = np.empty((0, 0))
            known = cls(kernel, rows[:0], np.empty((0, len(at))), nothing, nothing)
        new = points[len(known.rows) :]
        added = kernel(new, at)
        spread = np.concatenate([known.spread, added])
        gram = _bordered(known.gram, kernel(new, points))
        overlap = _bordered(known.overlap, added @ spread.T / len(at))
        return cls(kernel, rows, spread, gram, overlap)

    def only(self, left: IntArray) -> "InSpace":
        """That of some of the rows."""
        some = np.ix_(left, left)
        return InSpace(
            self.kernel, self.rows[left], self.spread[left], self.gram[some], self.overlap[some]
        )


def _bordered(matrix: Array, rows: Array) -> Array:
    """A symmetric matrix (n, n) with k more rows and columns, whose rows are (k, n + k)."""
    n = len(matrix)
    out = np.empty((n + len(rows),) * 2)
    out[:n, :n], out[n:], out[:n, n:] = matrix, rows, rows[:, :n].T
    return out


class KeptBound(AcquisitionRule):
    """The upper confidence bound with beta = c d log(2 n), where n observations are kept.

    Args:
        c: at least 0.
    """

    def __init__(self, c: float) -> None:
        self.c, self._dim = positive(c, "c", zero=True), 1

    def prepared(self, problem: Problem, arms: int | None) -> "KeptBound":
        made = KeptBound(self.c)
        made._dim = problem.domain.dim
        return made

    def at(self, now: Round) -> Acquisition:
        return UCB(self.c * self._dim * math.log(2.0 * max(now.posterior.size, 1)))


class WDBO(GPAgent):
    """GP-UCB on the observations that still matter for the function from now on.

    Args:
        alpha: how fast observations may be removed (see `Relevance`).
        c: the factor of beta = c d log(2 n) for n kept observations.
        temporal: the covariance in time, Matern 3/2; by default that of the problem, or else of
            lengthscale 25. With ``learn={"every": 10, "what": ["temporal"]}`` it is fitted.
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
        given = temporal or usual or Matern32Time(25.0)
        super().__init__(problem, rng, temporal=given, **settings)
        if not isinstance(self.conditioned.model.temporal, Matern32Time):
            raise InvalidInput(
                'w-dbo needs a Matern 3/2 kernel in time: temporal={"type": "matern32", '
                '"lengthscale": 25.0}'
            )

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
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve

from gpbandits_env.agents.acquisitions.functions import UCB, Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.agents.data.keep import Masked
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import Array, Settings, frozen, leading, positive
from gpbandits_env.domains import Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.samplers import sobol
from gpbandits_env.gp.temporal import Matern32Time, TemporalKernel
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
    inverse = cho_solve(cho_factor(gram, lower=True), np.eye(len(gram)))
    weights, own = inverse @ rewards, np.diag(inverse)
    total = weights @ overlap @ weights + np.sum(inverse * overlap)
    each = np.einsum("ij,ji->i", inverse @ overlap, inverse)
    return np.asarray(np.sqrt(each * (weights**2 / own**2 + 1.0 / own) / total))


def future(kernel: Matern32Time, times: Array, now: float) -> Array:
    """The integrals of T(u, t_j) T(u, t_l) over u from now on, (n, n)."""
    rate = math.sqrt(3.0) / kernel.lengthscale
    p, q = (rate * (now - times))[:, None], (rate * (now - times))[None]
    return np.asarray(np.exp(-p - q) * ((1 + p) * (1 + q) / 2 + (2 + p + q) / 4 + 1 / 4) / rate)


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

    def observe(self, seen: Observed, before: Any) -> None:
        data, posterior, now = before.data, before.posterior, seen.clock
        kernel, temporal = posterior.kernel, posterior.temporal
        self.budget *= (1.0 + self.alpha) ** ((now - self.checked) / temporal.lengthscale)
        self.checked = now
        rows = np.flatnonzero(self.usable(data))
        if len(rows) <= FEWEST:
            return
        domain, played, times = posterior.domain, data.points[rows], data.times[rows]
        points = domain.points(played)
        gram = kernel(points, points) * temporal(times, times)
        gram[np.diag_indices_from(gram)] += posterior.noise_var
        mean = posterior.prior_mean[played] if domain.finite else posterior.prior_mean
        rewards, spread = data.rewards[rows] - mean, kernel(points, places(domain))
        overlap = spread @ spread.T / spread.shape[1] * future(temporal, times, now)
        left = np.arange(len(rows))
        while len(left) > FEWEST:
            some = np.ix_(left, left)
            stale = staleness(gram[some], rewards[left], overlap[some])
            i = int(leading(-stale))
            if 1.0 + stale[i] >= self.budget:
                return
            self.budget /= 1.0 + float(stale[i])
            self.dropped.append(int(rows[left[i]]))
            left = np.delete(left, i)


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

"""Batches from posterior samples: Thompson sampling and rules that build on it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import RegretToSigma
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.agents.batch.rule import RULES, BatchRule, in_turn
from gpbandits_env.arrays import Array, Points, flag, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


@RULES.register("thompson")
@dataclass(frozen=True)
class Thompson(BatchRule):
    """Each action maximizes its own joint posterior sample.

    Source: Kandasamy et al. (2018), Algorithm 1 (synchronous).
    """

    draws_samples = True

    def choose(self, now: Round) -> Points:
        return now.search.sampled(now.posterior, now.rng, now.m)[0]


@RULES.register("dpp")
@dataclass(frozen=True)
class DeterminantalThompson(BatchRule):
    r"""A Thompson batch that is diversified by a determinantal point process.

    .. math:: P(x_1, \ldots, x_m) \propto \prod_i p_{TS}(x_i) \, \det(I + K_t / s^2)

    p_TS is the distribution of a Thompson sample, and K_t the posterior covariance of the batch.
    The rule runs a Metropolis chain that starts with a Thompson batch. A step proposes to replace
    one action by a new Thompson sample, which is accepted with probability min(1, ratio of the
    determinants).

    Cost: m + steps samples, and their covariance matrix with (m + steps)^2 entries.

    Args:
        steps: the number of steps of the chain, at least 0; with 0 it is Thompson sampling.
    Source: Nava, Mutny & Krause (2022), Algorithm 1.
    """

    draws_samples = True
    steps: int = 50

    def __post_init__(self) -> None:
        whole(self.steps, "steps", 0)

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        if problem.noise_var == 0.0:
            raise InvalidInput(
                "the rule 'dpp' divides the covariance of a batch by noise_var: give a noise_var "
                "above 0"
            )

    def choose(self, now: Round) -> Points:
        m, rng = now.m, now.rng
        samples = now.search.sampled(now.posterior, rng, m + self.steps)[0]
        spread = now.posterior.covariance(samples) / now.posterior.noise_var
        batch = np.arange(m)
        level = log_det(spread, batch)
        for fresh in range(m, m + self.steps):
            proposal = batch.copy()
            proposal[rng.integers(m)] = fresh
            proposed = log_det(spread, proposal)
            if -rng.standard_exponential() < proposed - level:  # the logarithm of a uniform
                batch, level = proposal, proposed
        return samples[batch]


def log_det(spread: Array, batch: NDArray[np.int64]) -> float:
    """Log det(I + spread[batch, batch])."""
    return float(np.linalg.slogdet(np.eye(len(batch)) + spread[np.ix_(batch, batch)])[1])


@RULES.register("ts-rsr")
@dataclass(frozen=True)
class RegretToSigmaRatio(BatchRule):
    r"""Thompson sampling - regret to sigma ratio.

    .. math:: x_i = \arg\min_x \frac{\tilde f^*_i - \mu_t(x)}{\sigma_t(x \mid x_1..x_{i-1})},
        \quad \tilde f^*_i = \max_x \tilde f_i(x)

    A sample whose maximum is not above the largest posterior mean is redrawn (Appendix C), at most
    ``redraws`` times. **CHOICE**: after that, its maximum is replaced by the largest mean plus the
    standard deviation at that point.

    Args:
        redraws: the largest number of redraws per sample, at least 0.
        replaced: whether a maximum that is still low is replaced. Without redraws and without
            this, the rule is Algorithm 1 as written.
    Source: ren2024, Algorithm 1 and Appendix C.
    """

    draws_samples = True
    redraws: int = 10
    replaced: bool = True

    def __post_init__(self) -> None:
        whole(self.redraws, "redraws", 0)
        flag(self.replaced, "replaced")

    def choose(self, now: Round) -> Points:
        maxima = self.maxima(now)
        return in_turn(now, lambda actions: RegretToSigma(float(maxima[len(actions)])))

    def maxima(self, now: Round) -> Array:
        """The maxima f*_i of m samples, (m,); those replaced are above the largest mean too."""
        posterior, search = now.posterior, now.search
        best = search.best_mean(posterior)
        floor = float(posterior.mean_at(best)[0])
        maxima = np.full(now.m, -np.inf)
        for _ in range(self.redraws + 1):
            low = np.flatnonzero(maxima <= floor)
            if not len(low):
                return maxima
            maxima[low] = search.sampled(posterior, now.rng, len(low))[1]
        if not self.replaced:
            return maxima
        sd = float(np.sqrt(posterior.var_at(best)[0]))
        # If all variances are 0, every level above the mean gives the same ranking.
        above = floor + max(sd, 1e-12 * max(1.0, abs(floor)))
        return np.where(maxima <= floor, above, maxima)

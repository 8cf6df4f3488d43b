"""Batches of samples of the function: Thompson sampling and what builds on it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Mean, RegretToSigma
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.agents.batch.base import RULES, BatchRule, in_turn
from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


@RULES.register("thompson")
@dataclass(frozen=True)
class Thompson(BatchRule):
    """Each action maximizes a joint posterior sample of its own.

    Source: Kandasamy et al. (2018), Algorithm 1 (synchronous).
    """

    def choose(self, now: Round) -> NDArray[Any]:
        return now.search.sampled(now.posterior, now.rng, now.m)[0]


@RULES.register("dpp")
@dataclass(frozen=True)
class DeterminantalThompson(BatchRule):
    r"""A Thompson batch, diversified: P(batch) ~ prod_i p_TS(x_i) det(I + s^-2 K_t(batch)).

    K_t is the posterior covariance. By Metropolis: from a Thompson batch, propose to put a fresh
    Thompson sample in the place of one action, and accept with probability
    min(1, ratio of the determinants).

    Cost: m + steps samples, and their (m + steps)^2 covariance.

    Args:
        steps: of the chain, at least 0; 0 is Thompson sampling.
    Source: Nava, Mutny & Krause (2022), Algorithm 1.
    """

    steps: int = 50

    def __post_init__(self) -> None:
        whole(self.steps, "steps", 0)

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        if problem.noise_var == 0.0:
            raise InvalidInput(
                "the rule 'dpp' weighs the covariance of a batch against the noise: it needs a "
                "noise_var above 0"
            )

    def choose(self, now: Round) -> NDArray[Any]:
        m, rng = now.m, now.rng
        drawn = now.search.sampled(now.posterior, rng, m + self.steps)[0]
        spread = now.posterior.covariance(drawn) / now.posterior.noise_var
        batch = np.arange(m)
        level = log_det(spread, batch)
        for fresh in range(m, m + self.steps):
            proposal = batch.copy()
            proposal[rng.integers(m)] = fresh
            proposed = log_det(spread, proposal)
            if -rng.standard_exponential() < proposed - level:  # the logarithm of a uniform
                batch, level = proposal, proposed
        return drawn[batch]


def log_det(spread: Array, batch: NDArray[np.int64]) -> float:
    """Log det(I + spread[batch, batch])."""
    return float(np.linalg.slogdet(np.eye(len(batch)) + spread[np.ix_(batch, batch)])[1])


@RULES.register("ts-rsr")
@dataclass(frozen=True)
class RegretToSigmaRatio(BatchRule):
    r"""Thompson sampling - regret to sigma ratio.

    .. math:: x_i = \arg\min_x \frac{\tilde f^*_i - \mu_t(x)}{\sigma_t(x \mid x_1..x_{i-1})},
        \quad \tilde f^*_i = \max_x \tilde f_i(x)

    A sample whose maximum is not above the largest posterior mean is drawn anew (Appendix C), at
    most ``redraws`` times. **CHOICE**: after that its maximum is taken to be the largest mean and
    the standard deviation there.

    Args:
        redraws: at least 0.
    Source: ren2024, Algorithm 1 and Appendix C.
    """

    redraws: int = 10

    def __post_init__(self) -> None:
        whole(self.redraws, "redraws", 0)

    def choose(self, now: Round) -> NDArray[Any]:
        maxima = self.maxima(now)
        return in_turn(now, lambda i: RegretToSigma(float(maxima[i])))

    def maxima(self, now: Round) -> Array:
        """The maxima f*_i of m samples, (m,), all above the largest posterior mean."""
        posterior, search = now.posterior, now.search
        surest = search.best(Mean(), posterior)
        floor = float(posterior.mean_at(surest)[0])
        maxima = np.full(now.m, -np.inf)
        for _ in range(self.redraws + 1):
            low = np.flatnonzero(maxima <= floor)
            if not len(low):
                return maxima
            maxima[low] = search.sampled(posterior, now.rng, len(low))[1]
        sd = float(np.sqrt(posterior.var_at(surest)[0]))
        # Where nothing is left to learn any level above the mean ranks the actions alike.
        above = floor + max(sd, 1e-12 * max(1.0, abs(floor)))
        return np.where(maxima <= floor, above, maxima)

"""The search over finitely many arms: all of them are looked at."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.search.base import Search, Within, leader
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import ArmPosterior, NystromPosterior

Posterior: TypeAlias = ArmPosterior | NystromPosterior


class ArmSearch(Search):
    """Exact: O(n) a call."""

    def best(
        self,
        acquisition: Acquisition,
        posterior: Posterior,
        allowed: NDArray[np.bool_] | None = None,
    ) -> IntArray:
        score = acquisition.score(posterior.mean, posterior.var)
        if allowed is not None:
            if not allowed.any():
                raise InvalidInput("the region to search holds no arm")
            score[~allowed] = -np.inf
        return np.array([leader(score, posterior.mean, allowed)])

    def region(self, posterior: Posterior, within: Within) -> NDArray[np.bool_]:
        return within(posterior.mean, posterior.var)

    def sampled(
        self, posterior: Posterior, rng: np.random.Generator, size: int
    ) -> tuple[IntArray, Array]:
        values = posterior.sample(rng, size)
        arms = values.argmax(axis=1)
        return arms, values[np.arange(size), arms]

    def options(self, posterior: Posterior) -> tuple[IntArray, Array, Array]:
        return np.arange(posterior.arms.size), posterior.mean.copy(), posterior.var.copy()

    def largest_mean(self, posterior: Posterior) -> float:
        return float(posterior.mean.max())

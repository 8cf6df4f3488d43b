"""BUCB (GP-BUCB).

Paper: Desautels, Krause & Burdick (2014), Algorithm 2, as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. beta_t is that of GP-UCB over 5; the theory's factor, a bound on rho_m, is a setting
and 1 by default; 2. beta_t counts rounds, not actions; 3. the theory's first points of largest
variance are a setting (batch "initialised"); 4. those of `GPAgent`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.gp_ucb import GPUCB
from gpbandits_env.agents.schedules import Schedule
from gpbandits_env.arrays import positive
from gpbandits_env.problem import Problem


class BUCB(GPUCB):
    """UCB with the mean held and the variance updated within the batch.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        beta: as of `GPUCB`.
        rho: multiplies sqrt(beta): a bound on the ratio by which the standard deviation can fall
            within a batch (`theory.rho_bound`); 1 by default.
        settings: those of `GPUCB`.
    """

    DEFAULT_BATCH = "hallucinate"

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        beta: Mapping[str, Any] | Schedule | float | None = None,
        rho: float = 1.0,
        **settings: Any,
    ) -> None:
        self._widening = positive(rho, "rho") ** 2
        super().__init__(problem, rng, beta=beta, **settings)

    def beta_of(self, ahead: int) -> float:
        return self._widening * super().beta_of(ahead)

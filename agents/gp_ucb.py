"""GP-UCB.

Paper: srinivas2010, Algorithm 1, eq. (6); beta_t of Theorem 1 over 5, as in its experiments.
Assumes: k(x, x) <= 1, Gaussian noise of known variance.
Departures: 1. ties go to the lowest index.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import UCB, Acquisition
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.schedules import Schedule, schedule_for
from gpbandits_env.domains import Arms
from gpbandits_env.problem import Problem


class GPUCB(GPAgent):
    """The arm with the largest upper confidence bound mu + sqrt(beta_t) sigma.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        beta: a schedule as a dict, e.g. {"type": "finite", "delta": 0.1, "scale": 0.2} (types:
            finite, continuous, rkhs, constant, log), or a number. By default Theorem 1 over 5 on
            arms, and the same with the number of candidates in a box.
        settings: those of `GPAgent`.
    Source: srinivas2010, Algorithm 1.
    """

    DEFAULT_BETA: Mapping[str, Any] = {"type": "finite", "delta": 0.1, "scale": 0.2}

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        beta: Mapping[str, Any] | Schedule | float | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(problem, rng, **settings)
        arms: Arms = self._candidates.arms
        # A box is played on candidates: Theorem 1 then counts those.
        default = beta is None and problem.domain is not arms
        self._counted = problem.replaced(domain=arms, prior_mean=0.0) if default else problem
        self.schedule = schedule_for(self.DEFAULT_BETA if beta is None else beta, self._counted)

    @property
    def beta(self) -> float:
        """beta_t of the round about to be played."""
        return self.schedule.beta(self.round + 1, self._counted, self.information_gain)

    def acquisition(self) -> Acquisition:  # noqa: D102
        return UCB(self.beta)

"""GP-UCB.

Paper: srinivas2010, Algorithm 1, eq. (6); beta_t of Theorem 1 over 5, as in its experiments.
Assumes: k(x, x) <= 1, Gaussian noise of known variance.
Departures: 1. ties go to the lowest index; 2. a box is played on candidate points; 3. a batch is
chosen by hallucinated variance (see `GPAgent`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import UCB, Acquisition
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.schedules import Betas, Schedule, schedule_for
from gpbandits_env.problem import Problem


class GPUCB(GPAgent):
    """The arm with the largest upper confidence bound mu + sqrt(beta_t) sigma.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        beta: a schedule as a dict, e.g. {"type": "finite", "delta": 0.1, "scale": 0.2} (types:
            finite, continuous, rkhs, constant, log), or a number. By default Theorem 1 over 5;
            in a box |D| is then the number of candidates.
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
        spec = self.DEFAULT_BETA if beta is None else beta
        self.schedule = schedule_for(spec, problem, self.posterior.arms.size)
        self._betas = Betas(self.schedule)

    @property
    def beta(self) -> float:
        """beta_t of the round about to be played."""
        return self._betas(self.round + 1, self.information_gain)

    def acquisition(self) -> Acquisition:  # noqa: D102
        return UCB(self.beta)  # eq. (6)

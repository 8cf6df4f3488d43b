"""GP-UCB.

Paper: srinivas2010, Algorithm 1, eq. (6); beta_t of Theorem 1 over 5, as in its experiments.
Assumes: k(x, x) <= 1, Gaussian noise of known variance.
Departures: 1. ties go to the lowest index; 2. in a box the maximum of the bound is searched for
locally, from many starts; 3. a batch is chosen by hallucinated variance (see `GPAgent`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import UCB, Acquisition
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.schedules import Betas, Schedule, schedule_for
from gpbandits_env.domains import Arms
from gpbandits_env.problem import Problem


class GPUCB(GPAgent):
    """The arm with the largest upper confidence bound mu + sqrt(beta_t) sigma.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        beta: a schedule as a dict, e.g. {"type": "finite", "delta": 0.1, "scale": 0.2} (types:
            finite, continuous, rkhs, constant, log), or a number. By default Theorem 1 over 5; in a
            box Theorem 2 over 5 with a = b = 1, or Theorem 1 with |D| the number of candidates.
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
        domain = self.places.domain
        arms = domain.size if isinstance(domain, Arms) else None
        spec = self.default_beta(arms is not None) if beta is None else beta
        self.schedule = schedule_for(spec, problem, arms)
        self._betas = Betas(self.schedule)

    def default_beta(self, on_arms: bool) -> Mapping[str, Any]:
        """The schedule where none is given: in a box, Theorem 2 stands in for Theorem 1."""
        spec = self.DEFAULT_BETA
        if on_arms or spec["type"] != "finite":
            return spec
        return {**spec, "type": "continuous"}

    @property
    def beta(self) -> float:
        """beta_t of the round about to be played."""
        return self.beta_of(1)

    def beta_of(self, ahead: int) -> float:
        """Beta of a round to come; 1 is the next to be played."""
        return self._betas(self.round + ahead, self.information_gain)

    def acquisition(self) -> Acquisition:
        return UCB(self.beta)  # eq. (6)

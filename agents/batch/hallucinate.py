"""Batches one action after the other, the variance conditioned on those before."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.batch.base import RULES, BatchRule

if TYPE_CHECKING:
    from gpbandits_env.agents.gp_agent import GPAgent


@RULES.register("hallucinate")
@dataclass(frozen=True)
class Hallucinate(BatchRule):
    """After each choice the variance is conditioned on it as well; the mean is held.

    Source: Desautels, Krause & Burdick (2014), GP-BUCB, Algorithm 2.
    """

    def choose(self, agent: "GPAgent") -> NDArray[Any]:  # noqa: D102
        acquisition, posterior, search = agent.acquisition(), agent.posterior, agent.search
        m = agent.batch_size
        if m == 1:
            return search.best(acquisition, posterior)
        actions = []
        for i in range(m):
            actions.append(search.best(acquisition, posterior))
            if i + 1 < m:
                posterior.hallucinate(actions[-1])
        posterior.rollback()
        return np.concatenate(actions)

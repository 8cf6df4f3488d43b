"""qEI by the kriging believer.

Paper: Ginsbourger, Le Riche & Carraro (2008), as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. the sequential heuristic, not the joint q-point improvement; 2. those of `EI`.
"""

from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions.rules import Improvement
from gpbandits_env.agents.batch import Batch
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class QEI(GPAgent):
    """EI, one action after the other, each as if those before it had given their posterior means.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        incumbent: as of `EI`.
        margin: as of `EI`.
        batch: a batch rule.
        parts: those of `GPAgent`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        incumbent: str = "posterior-mean",
        margin: float = 0.0,
        batch: Batch = "believer",
        **parts: Any,
    ) -> None:
        rule = Improvement("improvement", incumbent, margin)
        super().__init__(problem, rng, rule, batch=batch, **parts)

"""Most probable improvement (MPI), also known as probability of improvement.

Paper: Mockus (1989), as a baseline of srinivas2010, Section 6.
Assumes: Gaussian noise of known variance.
Departures: 1. computed in logarithms, the same argmax; 2. the incumbent is the largest posterior
mean at a sampled arm and the margin 0.01, since srinivas2010 does not say; 3. those of `GPAgent`.
"""

from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import Acquisition, LogPI
from gpbandits_env.agents.improvement import ImprovementAgent
from gpbandits_env.problem import Problem


class MPI(ImprovementAgent):
    """The arm of the largest probability P(f(x) > incumbent + margin).

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        margin: without one, the arm played last is as probable to improve as any other.
        settings: those of `ImprovementAgent`.
    """

    def __init__(
        self, problem: Problem, rng: np.random.Generator, *, margin: float = 0.01, **settings: Any
    ) -> None:
        super().__init__(problem, rng, margin=margin, **settings)

    def acquisition(self) -> Acquisition:  # noqa: D102
        return LogPI(self.incumbent, self.margin)

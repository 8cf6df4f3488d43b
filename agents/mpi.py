"""Most probable improvement (MPI), also known as probability of improvement.

Paper: Mockus (1989), as a baseline of srinivas2010, Section 6; the other form is bedi2022's.
Assumes: Gaussian noise of known variance.
Departures: 1. computed in logarithms, the same argmax; 2. the incumbent is the largest posterior
mean at a sampled arm and the margin 0.01, since srinivas2010 does not say; 3. those of `GPAgent`.
"""

from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import Acquisition, LogEI, LogPI
from gpbandits_env.agents.improvement import ImprovementAgent
from gpbandits_env.errors import unknown
from gpbandits_env.problem import Problem

FORMS = {"probability": LogPI, "improvement": LogEI}


class MPI(ImprovementAgent):
    """The arm of the largest probability P(f(x) > incumbent + margin).

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        form: "probability"; or "improvement", sigma phi(z) + (mu - xi) Phi(z) with
            z = (mu - xi) / sigma, which bedi2022 calls MPI, with xi = max_x mu(x): its settings are
            form="improvement", incumbent="max-mean", margin=0. ERRATUM: it prints xi = argmax.
        margin: without one, the arm played last is as probable to improve as any other.
        settings: those of `ImprovementAgent`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        form: str = "probability",
        margin: float = 0.01,
        **settings: Any,
    ) -> None:
        if not isinstance(form, str) or form not in FORMS:
            raise unknown("form of MPI", form, FORMS)
        self._form = FORMS[form]
        super().__init__(problem, rng, margin=margin, **settings)

    def acquisition(self) -> Acquisition:
        return self._form(self.incumbent, self.margin)

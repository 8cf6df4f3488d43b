"""Budgeted Kernel Bandits (BKB) with GP-UCB, EI and MPI.

Paper: Calandriello et al. (2019), "Gaussian Process Optimization with Adaptive Sketching: Scalable
and No Regret", Algorithm 1; with EI and MPI as bedi2022 compares them. Each is a combination that
any agent takes part in by the setting ``qbar``.
Assumes: k(x, x) <= 1, Gaussian noise of known variance above 0, a function that stands still.
Departures: 1. lambda is the noise variance, and the posterior standard deviation sqrt(lambda)
sigma~, as bedi2022 compares them; 2. beta_t is that of bedi2022, Theorem 3.2, not BKB's own;
3. qbar is 5; its theory asks for `theory.bkb_qbar`, hundreds; 4. the first dictionary is drawn like
the others, and holds what was told first; 5. those of `GPAgent`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.compressed import THEOREM_32
from gpbandits_env.agents.ei import EI
from gpbandits_env.agents.gp_ucb import GPUCB
from gpbandits_env.agents.mpi import MPI
from gpbandits_env.agents.schedules import Schedule
from gpbandits_env.posterior.nystrom import QBAR
from gpbandits_env.problem import Problem


class BKBUCB(GPUCB):
    """GP-UCB under a Nystrom posterior.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness: the dictionaries are drawn from it.
        beta: as of `GPUCB`; Theorem 1 in full by default.
        qbar: as of `GPAgent`.
        settings: those of `GPUCB`.
    """

    DEFAULT_BETA = THEOREM_32

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        beta: Mapping[str, Any] | Schedule | float | None = None,
        qbar: float = QBAR,
        **settings: Any,
    ) -> None:
        super().__init__(problem, rng, beta=beta, qbar=qbar, **settings)


class BKBEI(EI):
    """EI over the best reward under a Nystrom posterior.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness: the dictionaries are drawn from it.
        incumbent: as of `ImprovementAgent`.
        qbar: as of `GPAgent`.
        settings: those of `EI`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        incumbent: str = "observed",
        qbar: float = QBAR,
        **settings: Any,
    ) -> None:
        super().__init__(problem, rng, incumbent=incumbent, qbar=qbar, **settings)


class BKBMPI(MPI):
    """MPI as in bedi2022 under a Nystrom posterior.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness: the dictionaries are drawn from it.
        form: as of `MPI`.
        incumbent: as of `ImprovementAgent`.
        margin: as of `MPI`.
        qbar: as of `GPAgent`.
        settings: those of `MPI`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        form: str = "improvement",
        incumbent: str = "max-mean",
        margin: float = 0.0,
        qbar: float = QBAR,
        **settings: Any,
    ) -> None:
        super().__init__(
            problem, rng, form=form, incumbent=incumbent, margin=margin, qbar=qbar, **settings
        )

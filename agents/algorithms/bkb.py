"""Budgeted Kernel Bandits (BKB) with GP-UCB, EI and MPI.

Paper: Calandriello et al. (2019), "Gaussian Process Optimization with Adaptive Sketching: Scalable
and No Regret", Algorithm 1; with EI and MPI as bedi2022 compares them. Any agent takes part by the
setting ``posterior``.
Assumes: k(x, x) <= 1, Gaussian noise of known variance above 0, a function that does not drift.
Departures: 1. lambda is the noise variance, and the posterior standard deviation sqrt(lambda)
sigma~, as bedi2022 compares them; 2. beta_t is that of bedi2022, Theorem 3.2, not BKB's own;
3. qbar is 5; its theory asks for `theory.bkb_qbar`, hundreds; 4. the first dictionary is drawn like
the others, and holds what was observed first; 5. those of `GPAgent`.
"""

from collections.abc import Mapping
from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound, Improvement
from gpbandits_env.agents.acquisitions.schedules import THEOREM_1, Beta
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.posterior.nystrom import QBAR
from gpbandits_env.problem import Problem

NYSTROM: Mapping[str, Any] = {"type": "nystrom", "qbar": QBAR}


class BKBUCB(GPAgent):
    r"""GP-UCB under a Nystrom posterior.

    .. math:: x_t = \arg\max_x \tilde\mu_{t-1}(x) + \sqrt{\beta_t} \, \tilde\sigma_{t-1}(x)

    Mean and variance are those of the Nystrom posterior.

    Args:
        beta: as of `GPUCB`; Theorem 1 in full by default.
        posterior: as of `GPAgent`; its qbar sets the size of the dictionary.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        beta: Beta = THEOREM_1,
        posterior: Mapping[str, Any] | str = NYSTROM,
        **parts: Any,
    ) -> None:
        super().__init__(problem, rng, ConfidenceBound(beta), posterior=posterior, **parts)


class BKBEI(GPAgent):
    """EI over the best reward under a Nystrom posterior.

    Args:
        incumbent: as of `EI`.
        margin: as of `EI`.
        posterior: as of `GPAgent`; its qbar sets the size of the dictionary.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        incumbent: str = "observed",
        margin: float = 0.0,
        posterior: Mapping[str, Any] | str = NYSTROM,
        **parts: Any,
    ) -> None:
        super().__init__(
            problem,
            rng,
            Improvement("improvement", incumbent, margin),
            posterior=posterior,
            **parts,
        )


class BKBMPI(GPAgent):
    """MPI as in bedi2022 under a Nystrom posterior.

    Args:
        variant: as of `MPI`.
        incumbent: as of `EI`.
        margin: as of `EI`.
        posterior: as of `GPAgent`; its qbar sets the size of the dictionary.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        variant: str = "improvement",
        incumbent: str = "max-mean",
        margin: float = 0.0,
        posterior: Mapping[str, Any] | str = NYSTROM,
        **parts: Any,
    ) -> None:
        super().__init__(
            problem, rng, Improvement(variant, incumbent, margin), posterior=posterior, **parts
        )

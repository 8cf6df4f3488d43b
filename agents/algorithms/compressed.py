"""Compressed GP-UCB (CUB), compressed EI (CEI) and compressed MPI (CMPI).

Paper: bedi2022, Algorithm 1: GP-UCB (eq. (2.5)), EI (eq. (2.6)) or MPI whose posterior takes only
the observations that pass the test of eq. (2.12). Any agent takes part by the setting ``compress``.
Assumes: k(x, x) <= 1, Gaussian noise of known variance.
Departures: 1. EI and MPI are computed in logarithms, the same argmax; 2. ERRATUM: the paper prints
xi = argmax mu in MPI, its value is meant; 3. epsilon is the paper's 1e-4, with which an arm is
first rejected after about 1/(exp(2 epsilon) - 1) = 5000 pulls; 4. those of `GPAgent`. An action
that is rejected is asked for again until something changes (for GP-UCB, beta_t grows).
"""

from collections.abc import Mapping
from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound, Improvement
from gpbandits_env.agents.acquisitions.schedules import THEOREM_1, Beta
from gpbandits_env.agents.data.compression import Budget
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem

EPSILON = 1e-4


class CUB(GPAgent):
    r"""GP-UCB that learns only from informative pulls.

    .. math:: \sigma^2(x_t) > s^2 (e^{2 \epsilon} - 1)

    An observation at x_t is informative where this holds, with s^2 the noise variance.

    Args:
        beta: as of `GPUCB`; Theorem 1 in full by default.
        compress: as of `GPAgent`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        beta: Beta = THEOREM_1,
        compress: Mapping[str, Any] | Budget | float | None = EPSILON,
        **parts: Any,
    ) -> None:
        super().__init__(problem, rng, ConfidenceBound(beta), compress=compress, **parts)


class CEI(GPAgent):
    """EI over the largest informative reward, learning only from informative pulls.

    Args:
        incumbent: as of `EI`.
        margin: as of `EI`.
        compress: as of `GPAgent`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        incumbent: str = "observed",
        margin: float = 0.0,
        compress: Mapping[str, Any] | Budget | float | None = EPSILON,
        **parts: Any,
    ) -> None:
        super().__init__(
            problem, rng, Improvement("improvement", incumbent, margin), compress=compress, **parts
        )


class CMPI(GPAgent):
    """The paper's MPI, learning only from informative pulls.

    Args:
        variant: as of `MPI`.
        incumbent: as of `EI`.
        margin: as of `EI`.
        compress: as of `GPAgent`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        variant: str = "improvement",
        incumbent: str = "max-mean",
        margin: float = 0.0,
        compress: Mapping[str, Any] | Budget | float | None = EPSILON,
        **parts: Any,
    ) -> None:
        super().__init__(
            problem, rng, Improvement(variant, incumbent, margin), compress=compress, **parts
        )

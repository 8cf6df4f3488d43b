r"""Which observations are informative enough for the posterior of a compressed agent.

.. math:: \sigma_D^2(x_t) > s^2 (e^{2\epsilon} - 1)

(bedi2022, eq. (2.12)): the conditional entropy of y_t must exceed that of the noise by more than
epsilon nats. The test needs no reward, so what it rejects need not be evaluated at all.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import Posterior
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family
from gpbandits_env.theory.compression import compression_budget, compression_threshold


class Budget(ABC):
    """How the budget epsilon is set, as a declaration.

    Attributes:
        noise_var: s^2 of the test; None takes that of the agent's model.
    """

    noise_var: float | None = None

    @abstractmethod
    def budget(self, problem: Problem) -> float:
        """Epsilon in nats, at least 0."""


COMPRESSIONS: Family[Budget] = Family("compression")


@COMPRESSIONS.register("constant")
@dataclass(frozen=True)
class ConstantBudget(Budget):
    """The same epsilon whatever the horizon, which bounds the model for ever.

    Args:
        epsilon: in nats, at least 0; with 0 everything is informative.
        noise_var: s^2 > 0 of the test; that of the agent's model by default. Give it where the
            posterior is fitted with a smaller regularizer than the noise of the observations.
    Source: bedi2022, Theorem 3.1.
    """

    epsilon: float
    noise_var: float | None = None

    def __post_init__(self) -> None:
        positive(self.epsilon, "the compression's epsilon", zero=True)
        _check_noise_var(self.noise_var)

    def budget(self, problem: Problem) -> float:
        return float(self.epsilon)


@COMPRESSIONS.register("horizon")
@dataclass(frozen=True)
class HorizonBudget(Budget):
    """epsilon = 1/2 log(1 + T^-alpha), for a model of order T^(alpha p) in p dimensions.

    Args:
        alpha: at least 0; the theory wants 0 < alpha < 1/p.
        horizon: T; the problem's when left out.
        noise_var: as of `ConstantBudget`.
    Source: bedi2022, Theorem 3.1.
    """

    alpha: float
    horizon: int | None = None
    noise_var: float | None = None

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha", zero=True)
        _check_noise_var(self.noise_var)
        if self.horizon is not None:
            whole(self.horizon, "horizon")

    def budget(self, problem: Problem) -> float:
        horizon = problem.horizon if self.horizon is None else self.horizon
        if horizon is None:
            raise InvalidInput(
                "the compression 'horizon' needs a horizon: give it one, or the problem"
            )
        return float(compression_budget(horizon, self.alpha))


class Compression:
    """The test of eq. (2.12), before the posterior.

    Args:
        epsilon: the budget in nats; with 0 everything is informative, whatever a variance's
            rounding.
        noise_var: s^2.
    Raises:
        InvalidInput: a budget above 0 without noise, where every observation is informative.
    """

    def __init__(self, epsilon: float, noise_var: float) -> None:
        if epsilon > 0.0 and noise_var == 0.0:
            raise InvalidInput(
                "compression weighs the variance against the noise: it needs a noise_var above 0 "
                "(or an epsilon of 0, with which every observation is informative)"
            )
        self.epsilon = epsilon
        self.off = epsilon == 0.0
        self.threshold = compression_threshold(epsilon, noise_var)

    def informative(self, posterior: Posterior, points: NDArray[Any]) -> NDArray[np.bool_]:
        """Which observations are informative, (k,), each given the informative ones before it.

        The posterior is unchanged, but for hallucinated points, which it drops. The points are (k,)
        checked indices of arms, or (k, d).
        """
        passed = np.ones(len(points), dtype=np.bool_)
        if self.off:
            return passed
        posterior.rollback()
        for i in range(len(points)):
            one = points[i : i + 1]
            passed[i] = posterior.var_at(one).item() > self.threshold  # eq. (2.12)
            if passed[i] and i + 1 < len(points):
                posterior.hallucinate(one)
        posterior.rollback()
        return passed


def compression_for(
    spec: Mapping[str, Any] | Budget | float | None, problem: Problem
) -> Compression:
    """The compression of a dict, a number (a constant budget), a rule, or None (everything passes).

    Raises:
        InvalidInput: a number out of range, no horizon to be had, or no noise.
        UnknownName: no such type or field.
    """
    if spec is None:
        return Compression(0.0, problem.noise_var)
    number = isinstance(spec, (int, float)) and not isinstance(spec, bool)
    if number:
        spec = ConstantBudget(positive(spec, "compress", zero=True))  # type: ignore[arg-type]
    rule = COMPRESSIONS.from_dict(spec)  # type: ignore[arg-type]
    noise_var = problem.noise_var if rule.noise_var is None else rule.noise_var
    return Compression(rule.budget(problem), noise_var)


def _check_noise_var(noise_var: float | None) -> None:
    if noise_var is not None:
        positive(noise_var, "the compression's noise_var")

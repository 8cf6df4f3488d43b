r"""Compression: the test of which observations are informative enough for the posterior.

.. math:: \sigma_D^2(x_t) > s^2 (e^{2\epsilon} - 1)

This is eq. (2.12) of bedi2022. The conditional entropy of y_t must exceed that of the noise by more
than epsilon nats. The test needs no reward, so a rejected action need not be evaluated.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Points, Settings, is_number, positive
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.gp.theory.compression import compression_budget, compression_threshold
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family

COMPRESSIONS: Family["Compression | HorizonCompression"] = Family("compression")


@COMPRESSIONS.register("constant")
@dataclass(frozen=True)
class Compression:
    """The same epsilon for every horizon, which bounds the model order for all time.

    Args:
        epsilon: the budget in nats, at least 0; with 0 every observation is informative, in spite
            of rounding.
        noise_var: s^2 > 0 of the test; by default that of the agent's model. Give it if the
            posterior uses a smaller regularizer than the variance of the noise.
    Source: bedi2022, Theorem 3.1.
    """

    epsilon: float
    noise_var: float | None = None

    def __post_init__(self) -> None:
        positive(self.epsilon, "the compression's epsilon", zero=True)
        if self.noise_var is not None:
            positive(self.noise_var, "the compression's noise_var")

    def of(self, problem: Problem) -> "Compression":
        """The test with what it takes from a problem."""
        return self

    def threshold(self, posterior: Posterior) -> float:
        """The variance that an observation must exceed under a posterior."""
        noise_var = posterior.noise_var if self.noise_var is None else self.noise_var
        return float(compression_threshold(self.epsilon, noise_var))

    def informative(
        self, posterior: Posterior, points: Points, pending: Points | None = None
    ) -> NDArray[np.bool_]:
        """Whether each observation is informative given the informative ones before it, (k,).

        The posterior is unchanged, except that hallucinated points are dropped.

        Args:
            posterior: the posterior, before the observations.
            points: checked points, (k,) indices of arms or (k, d).
            pending: points that count as observed too.
        """
        passed = np.ones(len(points), dtype=np.bool_)
        if not self.epsilon:
            return passed
        threshold = self.threshold(posterior)
        posterior.rollback()
        if pending is not None and len(pending):
            posterior.hallucinate(pending)
        for i in range(len(points)):
            one = points[i : i + 1]
            passed[i] = posterior.var_at(one).item() > threshold  # eq. (2.12)
            if passed[i] and i + 1 < len(points):
                posterior.hallucinate(one)
        posterior.rollback()
        return passed


@COMPRESSIONS.register("horizon")
@dataclass(frozen=True)
class HorizonCompression:
    """epsilon = 1/2 log(1 + T^-alpha), for a model of order T^(alpha p) in p dimensions.

    T is the horizon of the problem.

    Args:
        alpha: the exponent, at least 0; the theory requires 0 < alpha < 1/p.
    Source: bedi2022, Theorem 3.1.
    """

    alpha: float

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha", zero=True)

    def of(self, problem: Problem) -> Compression:
        """The test with the horizon of a problem."""
        if problem.horizon is None:
            raise InvalidInput(
                "the compression 'horizon' needs a horizon: give one to the problem or to the agent"
            )
        return Compression(float(compression_budget(problem.horizon, self.alpha)))


def compression_for(
    spec: Settings | Compression | HorizonCompression | float | None, problem: Problem
) -> Compression:
    """Make a compression from a dict, a number (a constant epsilon), a rule, or None (no test).

    Raises:
        InvalidInput: a number is out of range, the horizon is unknown, or there is no noise.
        UnknownName: there is no such type or field.
    """
    if spec is None or is_number(spec):
        spec = Compression(0.0 if spec is None else positive(spec, "compress", zero=True))  # type: ignore[arg-type]
    made = COMPRESSIONS.from_dict(spec).of(problem)  # type: ignore[arg-type]
    if made.epsilon and problem.noise_var == 0.0 and made.noise_var is None:
        raise InvalidInput(
            "compression compares the variance with that of the noise: give a noise_var above 0 "
            "(or an epsilon of 0, with which every observation is informative)"
        )
    return made

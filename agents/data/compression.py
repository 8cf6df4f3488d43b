r"""Compression: the test of which observations are informative enough for the posterior.

.. math:: \sigma_D^2(x_t) > s^2 (e^{2\epsilon} - 1)

This is eq. (2.12) of bedi2022. The conditional entropy of y_t must exceed that of the noise by more
than epsilon nats. The test needs no reward, so a rejected action need not be evaluated.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Points, Settings, is_number, mapping, positive
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.gp.theory.compression import compression_budget, compression_threshold
from gpbandits_env.problem import Problem


@dataclass(frozen=True)
class Compression:
    """The test with its epsilon, which bounds the model order for all time.

    Args:
        epsilon: the budget in nats, at least 0; with 0 every observation is informative, in spite
            of rounding.
        noise_var: s^2 > 0 of the test; by default that of the agent's model.
    Source: bedi2022, Theorem 3.1.
    """

    epsilon: float
    noise_var: float | None = None

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


def compression_for(spec: Settings | float | None, problem: Problem) -> Compression:
    """Make a compression from the setting ``compress``.

    Args:
        spec: a dict with an epsilon, or with an exponent alpha >= 0: epsilon is then
            1/2 log(1 + T^-alpha) with the horizon T of the problem, for a model of order
            T^(alpha p) in p dimensions; the theory requires 0 < alpha < 1/p. It may state the
            noise_var of the test too, if the posterior uses a smaller regularizer than the
            variance of the noise. A number is an epsilon; with None there is no test.
        problem: the problem of the agent.
    Raises:
        InvalidInput: a number is out of range, the horizon is unknown, or there is no noise.
        UnknownName: there is no such field.
    Source: bedi2022, Theorem 3.1.
    """
    epsilon_only = spec is None or is_number(spec)
    given, kind = {}, "a number or a dict"
    fields = {"epsilon": spec or 0.0} if epsilon_only else mapping(spec, "compress", kind)
    for name, value in fields.items():
        one_of(name, ("epsilon", "alpha", "noise_var"), "field of the setting 'compress'")
        given[name] = positive(value, f"compress: {name}", zero=name != "noise_var")  # type: ignore[arg-type]
    if ("epsilon" in given) == ("alpha" in given):
        raise InvalidInput(f"compress needs epsilon or alpha, and not both, got {shown(spec)}")
    if "alpha" in given:
        if problem.horizon is None:
            raise InvalidInput(
                "compress: alpha needs a horizon: give one to the problem or to the agent"
            )
        given["epsilon"] = float(compression_budget(problem.horizon, given.pop("alpha")))
    if given["epsilon"] and problem.noise_var == 0.0 and "noise_var" not in given:
        raise InvalidInput(
            "compression compares the variance with that of the noise: give a noise_var above 0 "
            "(or an epsilon of 0, with which every observation is informative)"
        )
    return Compression(**given)

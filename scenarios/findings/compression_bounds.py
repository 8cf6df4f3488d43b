"""The bounds of bedi2022 as curves that a plot can lay over a result."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env import theory
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios.findings.bounds import BOUNDS, Bound


@dataclass(frozen=True)
class Compressed(Bound):
    """A bound about one action a round among finitely many arms.

    Args:
        epsilon: the compression budget in nats.
    """

    epsilon: float

    def gains(self, problem: Problem, horizon: int) -> tuple[Array, Array]:
        """After each round: the largest model order there can be, and gamma of it; (T,) each.

        Both from the greedy gain of this very problem (srinivas2010, eq. 5).
        """
        if not isinstance(problem.domain, Arms) or problem.batch_size != 1:
            raise InvalidInput(
                "the bounds of bedi2022 are about one action a round among finitely many arms"
            )
        gain = theory.information_gain_bound(
            problem.domain, problem.kernel, problem.noise_var, horizon
        )
        largest = theory.model_order_bound_by_gain(gain, self.epsilon)
        order = np.minimum(np.arange(1, horizon + 1), largest)
        return order.astype(np.float64), gain[order - 1]


@BOUNDS.register("bedi3.2")
@dataclass(frozen=True)
class Theorem32(Compressed):
    """Of compressed GP-UCB with the beta of srinivas2010, Theorem 1.

    Args:
        delta: the probability that it fails.
        metric: what it bounds.
    Source: bedi2022, Theorem 3.2, eq. (3.2).
    """

    delta: float = 0.1
    metric: str = "average_regret"

    @property
    def title(self) -> str:
        return f"eq. (3.2), epsilon = {self.epsilon:g}, delta = {self.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        _, gain = self.gains(problem, horizon)
        assert isinstance(problem.domain, Arms)
        rounds = np.arange(1, horizon + 1)
        variance = float(problem.kernel.diagonal(problem.domain.coordinates).max())
        beta = theory.beta_finite(rounds, problem.domain.size, self.delta)
        bound = theory.regret_bound_compressed(
            rounds, beta, gain, problem.noise_var, self.epsilon, variance
        )
        average: Array = bound / rounds
        return average


@BOUNDS.register("bedi-model-order")
@dataclass(frozen=True)
class ModelOrderBound(Compressed):
    """Of the model order, with no unknown constant: the largest M with gamma_M > M epsilon.

    Args:
        metric: what it bounds.
    Source: srinivas2010, Lemma 5.3, and bedi2022, eq. (2.12); the paper's own, eq. (3.1), has a
        constant that it leaves unnamed.
    """

    metric: str = "model_order"

    @property
    def title(self) -> str:
        return f"model order, epsilon = {self.epsilon:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        return self.gains(problem, horizon)[0]

"""Theory curves that a plot can lay over a result.

They are computed when a study starts and kept in its store, so that plots need the store only.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from gpbandits_env import theory
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family


class Bound(ABC):
    """A curve over rounds, from what a learner is told of the world."""

    metric: str

    @property
    @abstractmethod
    def title(self) -> str:
        """Its name in a legend."""

    @abstractmethod
    def curve(self, problem: Problem, horizon: int) -> Array:
        """The curve, (horizon,), in the units of ``metric``."""


BOUNDS: Family[Bound] = Family("bound")


@BOUNDS.register("theorem1")
@dataclass(frozen=True)
class Theorem1(Bound):
    """The regret bound of srinivas2010, Theorem 1, with the greedy bound on gamma_T (Eq. 5).

    Holds with probability 1 - delta for GP-UCB with the theorem's own beta, unscaled.

    Args:
        delta: the probability that it fails.
    """

    delta: float = 0.1
    metric: str = "average_regret"

    @property
    def title(self) -> str:
        return f"Theorem 1, delta = {self.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        if not isinstance(problem.domain, Arms) or problem.batch_size != 1:
            raise InvalidInput("Theorem 1 is about one action a round among finitely many arms")
        arms, kernel, noise_var = problem.domain, problem.kernel, problem.noise_var
        gain = theory.information_gain_bound(arms, kernel, noise_var, horizon)
        variance = float(kernel.diagonal(arms.coordinates).max())
        bound = theory.regret_bound_theorem1(gain, arms.size, self.delta, noise_var, variance)
        average: Array = bound / np.arange(1, horizon + 1)
        return average

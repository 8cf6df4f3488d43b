"""What acquisition rules and batch rules see of an agent: one round, and nothing else."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from gpbandits_env.agents.acquisitions.functions import Acquisition
from gpbandits_env.agents.search.base import Search
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class AcquisitionRule(ABC):
    """Makes the acquisition of each round, whose parameters change with the round and the data."""

    def prepared(self, problem: Problem, arms: int | None) -> Self:
        """The same rule with what it needs of the problem.

        Args:
            problem: the agent's.
            arms: the number of arms that the posterior is on; None in a box.
        Raises:
            InvalidInput: the problem does not say what is needed.
        """
        return self

    @abstractmethod
    def at(self, now: "Round") -> Acquisition:
        """The acquisition of a round."""


class Fixed(AcquisitionRule):
    """The same acquisition in every round.

    Args:
        acquisition: that one.
    """

    def __init__(self, acquisition: Acquisition) -> None:
        self._acquisition = acquisition

    def at(self, now: "Round") -> Acquisition:
        return self._acquisition


class Round:
    """One round that is about to be played.

    Args:
        posterior: what is known; hallucinated points are rolled back by whoever added them.
        search: finds actions under it.
        rule: makes the acquisition; None for an agent that draws samples of the function instead.
        rng: the randomness of the round.
        m: the number of actions to choose.
        t: the number of the round, from 1.
        best_reward: the largest reward that the posterior is conditioned on; -inf without data.
    """

    __slots__ = ("best_reward", "m", "posterior", "rng", "rule", "search", "t")

    def __init__(
        self,
        posterior: Any,
        search: Search,
        rule: AcquisitionRule | None,
        rng: np.random.Generator,
        m: int,
        t: int,
        best_reward: float,
    ) -> None:
        self.posterior, self.search, self.rule, self.rng = posterior, search, rule, rng
        self.m, self.t, self.best_reward = m, t, best_reward

    def acquisition(self) -> Acquisition:
        """The acquisition of this round.

        Raises:
            InvalidInput: the agent has none.
        """
        if self.rule is None:
            raise InvalidInput("this agent has no acquisition: it draws samples of the function")
        return self.rule.at(self)

"""RExp3: Exp3 with restarts. It does not use the correlation between arms.

Paper: Besbes, Gur and Zeevi (2014), "Stochastic Multi-Armed-Bandit Problem with Non-stationary
Rewards", Algorithm 1 and Theorem 2; the baseline of bogunovic2016, Section 5.2, footnote 3.
Assumes: rewards within known limits, and means whose total variation over the horizon is bounded.
Departures: 1. rewards are scaled from [low, high] to [0, 1] and clipped; the default limits are two
prior standard deviations around the prior means; 2. all m actions of a round are drawn from the
same weights; 3. in a box it chooses among candidate points, like `GPAgent` with ``candidates``;
4. a reward that arrives late is divided by the probability with which its arm was drawn, and is
dropped after the weights were reset.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.embeddings.action_map import action_map_for
from gpbandits_env.arrays import MOST, Array, Points, State, finite_array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class RExp3(Agent):
    """Exponential weights on K arms, which are reset to equal weights after each block of rounds.

    Args:
        reset_every: the number of rounds per block; by default that of Theorem 2,
            ceil((K log K)^(1/3) (T / V)^(2/3)), with T = 1000 if the horizon is unknown.
        variation: V > 0, the total variation of the scaled means over the horizon.
        low: the smallest reward expected.
        high: the largest reward expected.
        candidates: in a box, the number of points to choose among.
    Raises:
        InvalidInput: a setting is out of range.
    Source: Besbes, Gur and Zeevi (2014), Algorithm 1.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        reset_every: int | None = None,
        variation: float = 1.0,
        low: float | None = None,
        high: float | None = None,
        candidates: int = 1024,
    ) -> None:
        super().__init__(problem, rng)
        start = repr(rng.bit_generator.state)
        self._map = action_map_for(problem, whole(candidates, "candidates", 2), rng)
        points = self._map.inner.domain.span
        arms = len(points)
        effort = arms * math.log(max(arms, 2))  # K log K
        if reset_every is None:
            rounds = (problem.horizon or 1000) / positive(variation, "variation")
            reset_every = math.ceil(min(effort ** (1.0 / 3.0) * rounds ** (2.0 / 3.0), MOST))
        self.reset_every = whole(reset_every, "reset_every")
        self.exploration = min(1.0, math.sqrt(effort / ((math.e - 1.0) * self.reset_every)))
        mean, reach = problem.prior_mean, 2.0 * np.sqrt(problem.kernel.diagonal(points))
        self.low = float(np.min(mean - reach) if low is None else finite_array(low, "low", 0))
        self.high = float(np.max(mean + reach) if high is None else finite_array(high, "high", 0))
        if self.low >= self.high:
            raise InvalidInput(f"low must be below high, got {self.low:g} and {self.high:g}")
        self._log_weights: Array = np.zeros(arms)
        self._seeded = "" if repr(rng.bit_generator.state) == start else start

    @property
    def probabilities(self) -> Array:
        """The probability of each arm, (K,): (1 - gamma) w / sum(w) + gamma / K."""
        weights = np.exp(self._log_weights - self._log_weights.max())
        weights *= (1.0 - self.exploration) / weights.sum()
        return weights + self.exploration / len(weights)

    def ask(self) -> Points:
        arms = self.rng.choice(len(self._log_weights), self.batch_size, p=self.probabilities)
        return self._map.actions(np.asarray(arms, dtype=np.int64))

    def tell(self, *given: Any, **named: Any) -> None:
        super().tell(*given, **named)
        if self.round % self.reset_every == 0:
            self._log_weights[:] = 0.0

    def _placed(self, actions: Points, context: ArrayLike | None) -> Array:
        """The arms and their probabilities, (k, 2)."""
        arms = self._map.points(super()._placed(actions, context))
        return np.column_stack([arms, self.probabilities[arms]])

    def _process(self, seen: Observed) -> None:
        arms, chances = seen.points.T
        gains = np.clip((seen.rewards - self.low) / (self.high - self.low), 0.0, 1.0)
        # w_k <- w_k exp(gamma X_k / (K p_k))
        steps = self.exploration * gains / (len(self._log_weights) * chances)
        if seen.source == "late":  # the weights of an earlier block are gone
            steps[(seen.rounds - 1) // self.reset_every != self.round // self.reset_every] = 0.0
        np.add.at(self._log_weights, arms.astype(np.int64), steps)

    def reset(self) -> None:
        super().reset()
        self._log_weights[:] = 0.0

    def snapshot(self) -> State:
        return super().snapshot() | {"log_weights": self._log_weights.copy()}

    def _restore(self, state: State) -> None:
        self._log_weights[:] = finite_array(state["log_weights"], "log_weights", 1)
        super()._restore(state)

"""Ask and tell: what every agent offers."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.policy import Policy
from gpbandits_env.arrays import Array
from gpbandits_env.display import Displayed
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.problem import Problem

# What reading a snapshot of something else may raise.
BROKEN = (
    *(KeyError, TypeError, ValueError, AttributeError),
    *(IndexError, OverflowError, RecursionError, AssertionError),
)


class Agent(Displayed, ABC):
    """An agent of one problem.

    It learns only what it would learn without an environment: actions and noisy rewards.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.

    Attributes:
        problem: as given.
        rng: as given.
        round: how many rounds it has learned.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.round = 0
        self._policy = Policy(self)

    def _facts(self) -> dict[str, Any]:
        problem = self.problem
        return {
            "domain": problem.domain,
            "kernel": problem.kernel,
            "noise_var": problem.noise_var,
            "batch_size": problem.batch_size,
            "round": self.round,
        }

    @abstractmethod
    def ask(self) -> NDArray[Any]:
        """The next m actions, fresh: (m,) arms or (m, d) points, fit for `env.step`.

        What the agent knows does not change; a second `ask` chooses again (or draws anew).
        """

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        """Learn the rewards of one round, also of actions that `ask` did not choose.

        Args:
            actions: (k,) arms or (k, d) points, k >= 1.
            rewards: (k,) noisy rewards.
            observed: (k,) bool, which of the actions were evaluated; all when left out. The
                rewards of the others may be anything, and teach nothing; the round counts even if
                none was.
        Raises:
            InvalidInput: wrong shapes, actions outside the domain, rewards that are not finite;
                nothing has changed then.
        """
        self._learn(*self.problem.domain.observations(actions, rewards, observed, 1))
        self.round += 1

    def prior_data(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Learn what was known before round 1; no round is counted, and no time passes.

        Args:
            actions: (k,) arms or (k, d) points, k >= 1.
            rewards: (k,) noisy rewards.
        Raises:
            InvalidInput: as `tell`; nothing has changed then.
        """
        self._learn(*self.problem.domain.observations(actions, rewards, None, 1))

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:
        """Which of these actions would be informative if they were evaluated now, (m,) fresh.

        All of them, unless the agent compresses its data. The others need not be evaluated; say so
        by ``tell(actions, rewards, observed=...)``.

        Args:
            actions: (m,) arms or (m, d) points; those of `ask`, before they are evaluated.
        Raises:
            InvalidInput: wrong shape, or actions outside the domain.
        """
        return np.ones(len(self.problem.domain.check(actions)), dtype=np.bool_)

    def _learn(self, actions: NDArray[Any], rewards: Array) -> None:
        """Learn checked observations: (k,) or (k, d) actions and (k,) rewards; k may be 0."""
        return

    def reset(self) -> None:
        """Forget all observations; the generator is not reset."""
        self.round = 0

    def predict(
        self,
        observation: Mapping[str, ArrayLike],
        state: Any = None,
        episode_start: ArrayLike | None = None,
        deterministic: bool = True,
    ) -> tuple[NDArray[Any], None]:
        """The next actions for an observation, in the form of stable-baselines3's policies.

        Learns from the observation before it acts; see `Policy`.
        """
        return self._policy(observation, episode_start), None

    def snapshot(self) -> dict[str, Any]:
        """All that changes, as plain copied data, the generator included; it pickles.

        Of an agent that acts in several environment instances by `predict`, only the first; pickle
        it to keep all.
        """
        return {"round": self.round, "rng": copy.deepcopy(self.rng.bit_generator.state)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a snapshot of this agent or of one made alike (in a box: of the same seed).

        Raises:
            InvalidInput: the snapshot is of another kind of agent; nothing has changed then.
        """
        before = self.snapshot()
        if not isinstance(state, Mapping) or set(state) != set(before):
            raise InvalidInput(f"not a snapshot of {type(self).__name__}: it needs {list(before)}")
        try:
            self._restore(state)
        except BROKEN as error:
            self._restore(before)
            raise InvalidInput(
                f"not a snapshot of such a {type(self).__name__}: {shown(error)}"
            ) from None

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.rng.bit_generator.state = copy.deepcopy(state["rng"])
        self.round = int(state["round"])

    @property
    def batch_size(self) -> int:
        """The number of actions m in a round."""
        return self.problem.batch_size

    def belief(self, points: ArrayLike | None = None) -> tuple[Array, Array] | None:
        """Posterior mean and standard deviation at the arms, or None for an agent without.

        In a box they are those at the points (n, d).
        """
        return None

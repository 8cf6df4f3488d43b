"""Ask and tell: what every learner offers."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.predict import Policy
from gpbandits_env.arrays import Array, finite_array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


class Agent(ABC):
    """A learner of one problem.

    It is told only what it would be told in the field: actions and noisy rewards.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.

    Attributes:
        problem: as given.
        rng: as given.
        round: how many rounds it has been told.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.round = 0
        self._policy = Policy(self)

    @abstractmethod
    def ask(self) -> NDArray[Any]:
        """The next m actions, fresh: (m,) arms or (m, d) points, fit for `env.step`.

        What the agent believes does not change; it may be asked again (one that draws, draws anew).
        """

    def tell(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Learn the rewards of one round; also of actions that were never asked for.

        Args:
            actions: (k,) arms or (k, d) points, k >= 1.
            rewards: (k,) noisy rewards.
        Raises:
            InvalidInput: wrong shapes, actions outside the domain, rewards that are not finite;
                nothing has changed then.
        """
        given = rewards if type(rewards) is np.ndarray else finite_array(rewards, "rewards")
        if given.size == 0:
            raise InvalidInput("tell needs at least one action and its reward, got none")
        self._learn(actions, given)
        self.round += 1

    def _learn(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Check first, then absorb; an agent that learns nothing only checks."""
        checked = self.problem.domain.check(actions)
        values = finite_array(rewards, "rewards", ndim=1)
        if len(values) != len(checked):
            raise InvalidInput(
                f"rewards must have shape ({len(checked)},), one per action, got {values.shape}"
            )

    def reset(self) -> None:
        """Forget everything told; the generator goes on where it is."""
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

        Of an agent that plays several worlds by `predict`, only the first; pickle it to keep all.
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
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._restore(before)
            raise InvalidInput(f"not a snapshot of such a {type(self).__name__}: {error}") from None

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.rng.bit_generator.state = copy.deepcopy(state["rng"])
        self.round = int(state["round"])

    @property
    def batch_size(self) -> int:
        """The number of actions m in a round."""
        return self.problem.batch_size

    def belief(self) -> tuple[Array, Array] | None:
        """Posterior mean and standard deviation at the arms, or None for an agent without."""
        return None

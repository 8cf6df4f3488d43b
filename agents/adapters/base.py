"""What adapters share: the data, handed to another library anew at every ask."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.base import Agent
from gpbandits_env.agents.search.starts import near, spread
from gpbandits_env.arrays import Array, finite_array, whole
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Radial
from gpbandits_env.problem import Problem

# Around so many of the best told, further points of a box are looked at.
BEST_TOLD = 5


class Adapter(Agent):
    """An agent whose choice is another library's.

    All that changes is the data and the generator: so an adapter can be stopped, copied and carried
    on like our own agents, whatever the library keeps to itself. It can be told of any action.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness; the library's is seeded from it at every ask.
        candidates: points of a box that are looked at.
    """

    def __init__(
        self, problem: Problem, rng: np.random.Generator, *, candidates: int = 512
    ) -> None:
        super().__init__(problem, rng)
        self.candidates = whole(candidates, "candidates", 2)
        self._actions = problem.domain.sample(np.random.default_rng(0), 0)
        self._rewards: Array = np.zeros(0)

    def ask(self) -> NDArray[Any]:
        seed = int(self.rng.integers(2**31))
        if not len(self._rewards):
            return self.problem.domain.sample(np.random.default_rng(seed), self.batch_size)
        return self.choose(seed)

    @abstractmethod
    def choose(self, seed: int) -> NDArray[Any]:
        """The next m actions given some data.

        Args:
            seed: of all that is random in it, the library's own draws too.
        """

    def _options(self, seed: int) -> NDArray[Any]:
        """All arms, or points of the box, some of them near the best told."""
        domain, rng = self.problem.domain, np.random.default_rng(seed)
        if isinstance(domain, Arms):
            return np.arange(domain.size)
        assert isinstance(domain, Box)
        best = self._actions[np.argsort(-self._rewards, kind="stable")[:BEST_TOLD]]
        return np.concatenate([spread(domain, self.candidates, rng), near(domain, best, rng)])

    @property
    def _points(self) -> Array:
        """(t, d) the points told of."""
        return self.problem.domain.points(self._actions)

    def _learn(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        super()._learn(actions, rewards)  # it checks
        checked = self.problem.domain.check(actions)
        self._actions = np.concatenate([self._actions, checked])
        self._rewards = np.concatenate([self._rewards, finite_array(rewards, "rewards")])

    def reset(self) -> None:
        super().reset()
        self._actions, self._rewards = self._actions[:0].copy(), np.zeros(0)

    def snapshot(self) -> dict[str, Any]:
        data = {"actions": self._actions.copy(), "rewards": self._rewards.copy()}
        return super().snapshot() | data

    def _restore(self, state: Mapping[str, Any]) -> None:
        actions = self.problem.domain.check(state["actions"])
        rewards = finite_array(state["rewards"], "rewards", ndim=1)
        if len(actions) != len(rewards):
            raise InvalidInput("the snapshot has another number of rewards than of actions")
        super()._restore(state)
        self._actions, self._rewards = actions.copy(), rewards.copy()


def stationary(problem: Problem, whose: str) -> Radial:
    """The kernel of a problem, for a library that knows stationary ones.

    Raises:
        InvalidInput: another kernel, or one mean an arm.
    """
    kernel = problem.kernel.radial
    if kernel is None or kernel.type_name not in NU:
        raise InvalidInput(
            f"{whose} is given the problem's kernel, one of {', '.join(NU)}; this one is another: "
            "give it kernel={'type': 'matern52', 'lengthscale': ...}"
        )
    if np.ndim(problem.prior_mean):
        raise InvalidInput(f"{whose} knows no prior mean for each arm: give it a prior_mean")
    return kernel


# Smoothness of the kernels that other libraries have too.
NU = {"se": np.inf, "matern12": 0.5, "matern32": 1.5, "matern52": 2.5}

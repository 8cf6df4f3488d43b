"""What all adapters share: they pass all data to another library at every `ask`."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from types import ModuleType

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.agent import Agent
from gpbandits_env.arrays import Array, Points, State, finite_array
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, optional
from gpbandits_env.problem import Problem

# Held while another library runs: warning filters, torch's generator and Optuna's logging belong
# to the whole process, so only one thread may change them at a time.
_others = RLock()


@contextmanager
def alone_and_quiet() -> Iterator[None]:
    """While another library runs: no other thread may use one, and its warnings are ignored."""
    with _others, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Adapter(Agent):
    """An agent whose choice is made by another library.

    The state consists of the data and the generator, from which the library is seeded at every
    `ask`. An adapter can therefore be stopped, copied and resumed like other agents. It accepts
    observations of any action. Pending actions are passed on in the way the library supports.
    """

    def __init__(self, problem: Problem, rng: Generator) -> None:
        super().__init__(problem, rng)
        assert isinstance(problem.domain, (Arms, Box))
        self._domain = problem.domain
        self._actions: Points = problem.domain.sample(np.random.default_rng(0), 0)
        self._rewards: Array = np.zeros(0)

    def ask(self) -> Points:
        seed = int(self.rng.integers(2**31))
        if not len(self._rewards):
            return self._domain.sample(np.random.default_rng(seed), self.batch_size)
        # Warnings of fits that stop early, lengthscales at their limits, experimental options.
        with alone_and_quiet():
            return self.choose(seed)

    @abstractmethod
    def choose(self, seed: int) -> Points:
        """The next m actions given some data; the seed determines all randomness."""

    @property
    def _points(self) -> Array:
        """The observed points, (t, d)."""
        return self._domain.points(self._actions)

    @property
    def _pending_actions(self) -> Points:
        """The actions whose rewards have not arrived, (k,) or (k, d)."""
        return np.array([p.action for p in self.pending], self._actions.dtype).reshape(
            -1, *self._actions.shape[1:]
        )

    def _learn(self, actions: Points, rewards: Array) -> None:
        self._actions = np.concatenate([self._actions, actions])
        self._rewards = np.concatenate([self._rewards, rewards])

    def reset(self) -> None:
        super().reset()
        self._actions, self._rewards = self._actions[:0].copy(), np.zeros(0)

    def snapshot(self) -> State:
        data = {"actions": self._actions.copy(), "rewards": self._rewards.copy()}
        return super().snapshot() | data

    def _restore(self, state: State) -> None:
        actions = self._domain.check(state["actions"])
        rewards = finite_array(state["rewards"], "rewards", ndim=1)
        if len(actions) != len(rewards):
            raise InvalidInput("the numbers of rewards and actions in the snapshot differ")
        super()._restore(state)
        self._actions, self._rewards = actions.copy(), rewards.copy()


def imported(module: str, extra: str) -> ModuleType:
    """A module of an optional dependency; raises `MissingExtra` if it is not installed."""
    with alone_and_quiet():
        return optional(module, extra)

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
from gpbandits_env.agents.data.columns import Data
from gpbandits_env.arrays import Array, Points, State
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import optional
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
        self._data = Data(problem.domain)

    def ask(self) -> Points:
        seed = int(self.rng.integers(2**31))
        if not self._data.size:
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
        return self._domain.points(self._data.points)

    @property
    def _pending_actions(self) -> Points:
        """The actions whose rewards have not arrived, (k,) or (k, d)."""
        none = self._data.points[:0]
        return np.array([p.action for p in self.pending], none.dtype).reshape(-1, *none.shape[1:])

    def _learn(self, actions: Points, rewards: Array) -> None:
        self._data.add(actions, rewards, float(self.round), self.clock)

    def reset(self) -> None:
        super().reset()
        self._data.clear()

    def snapshot(self) -> State:
        return super().snapshot() | {"data": self._data.state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._data.restore(state["data"])


def imported(module: str, extra: str) -> ModuleType:
    """A module of an optional dependency; raises `MissingExtra` if it is not installed."""
    with alone_and_quiet():
        return optional(module, extra)

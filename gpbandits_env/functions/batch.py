"""Several functions side by side, evaluated in one array operation where that is the same."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.functions.base import Function
from gpbandits_env.functions.tables import ArmFunction


class Batch(ABC):
    """The current functions of B worlds.

    Attributes:
        optimum: (B,) their maxima.
        best_action: (B,) arms or (B, d) points.
    """

    optimum: Array
    best_action: NDArray[Any]

    @abstractmethod
    def put(self, world: int, function: Function) -> None:
        """The function of one world from now on."""

    @abstractmethod
    def get(self, world: int) -> Function:
        """The function of one world."""

    @abstractmethod
    def __call__(self, actions: NDArray[Any]) -> Array:
        """Values (B, m) of checked actions (B, m) or (B, m, d); a new array."""


class ArmBatch(Batch):
    """B functions on the same n arms: one gather evaluates all.

    Args:
        worlds: the number of functions B.
        size: the number of arms n.
    """

    def __init__(self, worlds: int, size: int) -> None:
        self._values = np.zeros((worlds, size))
        self._flat = self._values.reshape(-1)
        self._offsets = np.arange(worlds)[:, None] * size
        self.optimum = np.zeros(worlds)
        self.best_action = np.zeros(worlds, dtype=np.int64)

    def put(self, world: int, function: Function) -> None:
        assert isinstance(function, ArmFunction)
        self._values[world] = function.values
        self.optimum[world] = function.optimum
        self.best_action[world] = function.best_action

    def get(self, world: int) -> ArmFunction:
        return ArmFunction(self._values[world].copy())

    def __call__(self, actions: NDArray[Any]) -> Array:
        values: Array = self._flat[actions + self._offsets]
        return values

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._flat = self._values.reshape(-1)


class FunctionList(Batch):
    """B functions in a box, evaluated one after the other.

    One matrix product over all worlds would round differently from a single environment's, and
    save little: the features of m points cost far more than the call.

    Args:
        worlds: the number of functions B.
        dim: the number of coordinates d.
    """

    def __init__(self, worlds: int, dim: int) -> None:
        self._functions: list[Function | None] = [None] * worlds
        self.optimum = np.zeros(worlds)
        self.best_action = np.zeros((worlds, dim))

    def put(self, world: int, function: Function) -> None:
        self._functions[world] = function
        self.optimum[world] = function.optimum
        self.best_action[world] = function.best_action

    def get(self, world: int) -> Function:
        function = self._functions[world]
        assert function is not None
        return function

    def __call__(self, actions: NDArray[Any]) -> Array:
        return np.stack([self.get(i)(points) for i, points in enumerate(actions)])


def batch_of(domain: Domain, worlds: int) -> Batch:
    """An empty batch for the functions of ``worlds`` worlds on a domain."""
    if isinstance(domain, Arms):
        return ArmBatch(worlds, domain.size)
    return FunctionList(worlds, domain.dim)

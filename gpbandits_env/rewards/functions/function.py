"""The interface of a reward function, functions as tables on arms, and batches of functions."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from gpbandits_env.arrays import Array, Points, frozen
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput, shown


class Function(ABC):
    """One reward function. It never changes after it is drawn.

    Attributes:
        optimum: the maximum over the domain.
        best_action: the maximizer: the index of an arm, or a point (d,), read-only.
        accuracy: no value exceeds ``optimum + accuracy``; 0 by default.
        noisy: a function with its own noise has a method ``noisy(actions, rng) -> rewards`` (m,),
            which replaces values plus noise.
    """

    optimum: float
    best_action: int | Array
    accuracy: float = 0.0
    noisy: ClassVar[Callable[..., Array] | None] = None

    @abstractmethod
    def __call__(self, actions: Points) -> Array:
        """The noiseless values (m,) of checked actions; a new array."""


class ArmFunction(Function):
    """A function on n arms, given by its values (n,), which are stored and marked read-only."""

    def __init__(self, values: Array) -> None:
        self.values: Array = frozen(values)
        best = int(values.argmax())
        self.best_action = best
        self.optimum = float(values[best])
        if not math.isfinite(np.add.reduce(self.values)):
            raise InvalidInput(f"a function on arms needs finite values, got {shown(values)}")

    def __call__(self, actions: Points) -> Array:
        return self.values[actions]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.values,)


class FunctionBatch:
    """The current functions of B environment instances: their ``optimum`` and ``best_action``.

    Tables of values on arms are evaluated together by one gather. Other functions are evaluated one
    by one by their owner: a matrix product over all instances would round differently from a single
    environment, and would save little.
    """

    def __init__(self, domain: Domain, instances: int) -> None:
        size = domain.size
        self._others = set(range(instances))  # instances whose functions are not tables
        self._table: Array = np.zeros((instances, size))
        self._offsets = np.arange(instances)[:, None] * size
        self.optimum: Array = np.zeros(instances)
        self.best_action: Points = (
            np.zeros(instances, dtype=np.int64) if size else np.zeros((instances, domain.dim))
        )

    def __setitem__(self, i: int, function: Function) -> None:
        """Set the function of one instance."""
        self.optimum[i] = function.optimum
        self.best_action[i] = function.best_action
        # A subclass may return other values than its table.
        if type(function) is ArmFunction:
            self._table[i] = function.values
            self._others.discard(i)
        else:
            self._others.add(i)

    def gathered(self, actions: Points) -> Array | None:
        """Values (B, m) of checked actions (B, m), a new array; None if not all are tables."""
        return None if self._others else self._table.take(actions + self._offsets)

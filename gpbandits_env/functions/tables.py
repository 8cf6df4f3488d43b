"""Functions on arms: a value an arm; and rows of a table as functions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, finite_array, frozen
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.functions.base import Function, Source


class ArmFunction(Function):
    """A function on n arms.

    Args:
        values: (n,) its values; kept, and marked read-only.
    """

    __slots__ = ("values",)

    def __init__(self, values: Array) -> None:
        self.values: Array = frozen(values)
        best = int(values.argmax())
        self.best_action = best
        self.optimum = float(values[best])
        self.accuracy = 0.0

    def __call__(self, actions: NDArray[Any]) -> Array:
        values: Array = self.values[actions]
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.values,)

    def state(self) -> dict[str, Any]:
        return {"values": self.values}


class Rows(Source):
    """The rows of a table: each is a function on the arms, drawn uniformly with replacement.

    Args:
        arms: the n arms.
        table: (rows, n) values.
    Raises:
        InvalidInput: no rows, numbers that are not finite, or a width other than n.
    """

    def __init__(self, arms: Arms, table: Array) -> None:
        values = finite_array(table, "table", ndim=2)
        if not len(values) or values.shape[1] != arms.size:
            raise InvalidInput(f"the table must have shape (rows, {arms.size}), got {values.shape}")
        self.domain: Arms = arms
        self.table: Array = frozen(np.array(values))

    def draw(self, rng: np.random.Generator) -> ArmFunction:
        return ArmFunction(self.table[rng.integers(len(self.table))])

    def revive(self, state: dict[str, Any]) -> ArmFunction:
        return ArmFunction(np.array(state["values"]))

    def bounds(self) -> tuple[float, float]:
        return float(self.table.min()), float(self.table.max())

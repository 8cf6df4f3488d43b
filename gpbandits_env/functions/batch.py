"""Several functions side by side, evaluated in one array operation where that is the same."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.functions.base import Function
from gpbandits_env.functions.tables import ArmFunction


class FunctionBatch:
    """The current functions of B environment instances.

    Tables of values on arms are evaluated by one gather. Other functions are evaluated one after
    the other: a matrix product over all instances would round differently from a single
    environment's, and save little.

    Args:
        domain: where the functions live.
        instances: the number of functions B.

    Attributes:
        optimum: (B,) their maxima.
        best_action: (B,) arms or (B, d) points.
    """

    def __init__(self, domain: Domain, instances: int) -> None:
        arms = isinstance(domain, Arms)
        self._functions: list[Function | None] = [None] * instances
        self._tabled = np.zeros(instances, dtype=np.bool_)
        self._table: Array = np.zeros((instances, domain.size if isinstance(domain, Arms) else 0))
        self._offsets = np.arange(instances)[:, None] * self._table.shape[1]
        self.optimum: Array = np.zeros(instances)
        self.best_action: NDArray[Any] = (
            np.zeros(instances, dtype=np.int64) if arms else np.zeros((instances, domain.dim))
        )

    def __getitem__(self, i: int) -> Function:
        """The function of one instance."""
        function = self._functions[i]
        assert function is not None
        return function

    def __setitem__(self, i: int, function: Function) -> None:
        """The function of one instance from now on."""
        self._functions[i] = function
        self.optimum[i] = function.optimum
        self.best_action[i] = function.best_action
        # A subclass may answer otherwise than its table.
        if isinstance(function, ArmFunction) and type(function).__call__ is ArmFunction.__call__:
            self._table[i] = function.values
            self._tabled[i] = True
        else:
            self._tabled[i] = False

    def __call__(self, actions: NDArray[Any]) -> Array:
        """Values (B, m) of checked actions (B, m) or (B, m, d); a new array."""
        if self._tabled.all():
            return self._table.take(actions + self._offsets)
        return np.stack([self[i](own) for i, own in enumerate(actions)])

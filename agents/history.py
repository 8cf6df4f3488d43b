"""What a posterior on arms was told, kept so that another model can be told it anew."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array

# Arms, their rewards, and by how much all data faded after them.
Told: TypeAlias = tuple[NDArray[Any], Array, float]


class History:
    """Data in the order in which a posterior was told them."""

    def __init__(self) -> None:
        self._told: list[Told] = []

    def add(self, arms: NDArray[Any], rewards: Array) -> None:
        """Some more, whose arrays are kept as they are."""
        self._told.append((arms, rewards, 0.0))

    def faded(self, epsilon: float) -> None:
        """All data so far lost correlation by sqrt(1 - epsilon)."""
        if self._told:
            arms, rewards, before = self._told[-1]
            self._told[-1] = (arms, rewards, 1.0 - (1.0 - before) * (1.0 - epsilon))

    def clear(self) -> None:
        """Forget everything."""
        self._told.clear()

    @property
    def log(self) -> list[Told]:
        """All of it, for `Posterior.replay`; not to be changed."""
        return self._told

    def snapshot(self) -> list[Told]:
        """The data, copied."""
        return [(a.copy(), r.copy(), e) for a, r, e in self._told]

    def restore(self, state: Sequence[Told]) -> None:
        """Back to a snapshot."""
        self._told = [(np.array(a), np.array(r), float(e)) for a, r, e in state]

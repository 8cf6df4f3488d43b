"""What a reward function is, and what it is drawn from."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Domain

# A double-precision normal variate beyond 40 standard deviations has probability below 1e-340:
# it does not occur, so 40 of them bound what a Gaussian can show.
NEVER_BEYOND = 40.0


class Function(ABC):
    """One reward function. It never changes after it was drawn.

    Attributes:
        optimum: its maximum over the domain.
        best_action: where: an arm's index, or a point (d,), read-only.
        accuracy: no action is worth more than ``optimum + accuracy``; 0 on arms.
    """

    __slots__ = ("accuracy", "best_action", "optimum")

    optimum: float
    best_action: int | Array
    accuracy: float

    @abstractmethod
    def __call__(self, actions: NDArray[Any]) -> Array:
        """The noiseless values (m,) of checked actions; a new array."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What identifies the function to its `Source.revive`: plain arrays and numbers."""


class Source(ABC):
    """What functions are drawn from: a law over functions on a domain."""

    domain: Domain

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Function:
        """A function, independent of those drawn before."""

    @abstractmethod
    def revive(self, state: dict[str, Any]) -> Function:
        """The function whose `Function.state` this is, equal bit for bit."""

    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Two numbers between which every value of every function lies."""

"""What a search offers, on arms and in boxes alike."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.arrays import Array

# Of means and variances (n,): where to look, (n,) bool.
Within: TypeAlias = Callable[[Array, Array], NDArray[np.bool_]]


class Search(ABC):
    """Finds actions under a posterior: arms (m,), or points (m, d) of a box.

    What is hallucinated counts in the variance, never in the mean.
    """

    @abstractmethod
    def best(self, acquisition: Acquisition, posterior: Any, allowed: Any = None) -> NDArray[Any]:
        """The action of the best score, (1,) or (1, d), fresh.

        Args:
            acquisition: what scores.
            posterior: what is known.
            allowed: from `region`; None for everywhere.
        """

    @abstractmethod
    def region(self, posterior: Any, within: Within) -> Any:
        """Where a condition holds under the posterior as it is now, to hand to `best` later.

        Args:
            posterior: what is known.
            within: the condition on mean and variance.
        """

    @abstractmethod
    def sampled(
        self, posterior: Any, rng: np.random.Generator, size: int
    ) -> tuple[NDArray[Any], Array]:
        """Where ``size`` joint samples of the posterior are largest, and their maxima (size,)."""

    @abstractmethod
    def options(self, posterior: Any) -> tuple[NDArray[Any], Array, Array]:
        """Finitely many actions (n, ...) to draw from, their means and variances (n,)."""

    @abstractmethod
    def largest_mean(self, posterior: Any) -> float:
        """The largest posterior mean of any action."""

    def renew(self) -> None:
        """Drop what is held between calls, so that the next one depends on the generator alone."""
        return

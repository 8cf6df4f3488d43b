"""The interface of a search on arms and in boxes, and the search over arms."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition, Mean, leader
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import ArmPosterior, BoxPosterior, NystromPosterior

# Of means and variances (n,): where to look, (n,) bool.
Within: TypeAlias = Callable[[Array, Array], NDArray[np.bool_]]


class Search(ABC):
    """Finds actions under a posterior: arms (m,), or points (m, d) of a box.

    Hallucinated points count in the variance, never in the mean. Every call has a posterior of its
    own.
    """

    @abstractmethod
    def best(self, acquisition: Acquisition, posterior: Any, allowed: Any = None) -> NDArray[Any]:
        """The action of the best score, (1,) or (1, d), fresh.

        Args:
            acquisition: what scores.
            posterior: what is known.
            allowed: from `region`; None for everywhere.
        """

    def region(self, posterior: Any, within: Within) -> Any:
        """Where a condition on mean and variance holds under the present posterior; for `best`."""
        return Region(posterior, within)

    @abstractmethod
    def sampled(
        self, posterior: Any, rng: np.random.Generator, size: int
    ) -> tuple[NDArray[Any], Array]:
        """Where ``size`` joint samples of the posterior are largest, and their maxima (size,)."""

    @abstractmethod
    def options(self, posterior: Any) -> tuple[NDArray[Any], Array, Array]:
        """Finitely many actions (n, ...) to draw from, their means and variances (n,)."""

    def largest_mean(self, posterior: Any) -> float:
        """The largest posterior mean of any action."""
        return float(posterior.mean_at(self.best(Mean(), posterior))[0])

    def renew(self) -> None:
        """Drop what is held between calls; the next one then depends on the generator alone."""
        return


class ArmSearch(Search):
    """Exact: O(n) a call."""

    def best(
        self,
        acquisition: Acquisition,
        posterior: ArmPosterior | NystromPosterior,
        allowed: NDArray[np.bool_] | None = None,
    ) -> IntArray:
        score = acquisition.score(posterior.mean, posterior.var)
        if allowed is not None:
            if not allowed.any():
                raise InvalidInput("the region to search holds no arm")
            score[~allowed] = -np.inf
        return leader(score, posterior.mean, allowed)

    def region(
        self, posterior: ArmPosterior | NystromPosterior, within: Within
    ) -> NDArray[np.bool_]:
        return within(posterior.mean, posterior.var)

    def sampled(
        self, posterior: ArmPosterior | NystromPosterior, rng: np.random.Generator, size: int
    ) -> tuple[IntArray, Array]:
        values = posterior.sample(rng, size)
        arms = values.argmax(axis=1)
        return arms, values[np.arange(size), arms]

    def options(self, posterior: ArmPosterior | NystromPosterior) -> tuple[IntArray, Array, Array]:
        return np.arange(posterior.arms.size), posterior.mean.copy(), posterior.var.copy()

    def largest_mean(self, posterior: ArmPosterior | NystromPosterior) -> float:
        return float(posterior.mean.max())


class Region:
    """Where a condition on mean and variance holds under a copy of the posterior, O(t^2)."""

    def __init__(self, posterior: BoxPosterior, within: Within) -> None:
        model = (posterior.kernel, posterior.noise_var, posterior.prior_mean)
        self._held, self._within = BoxPosterior(posterior.box, *model), within
        self._held.restore(posterior.snapshot())
        self._seen: tuple[Array, NDArray[np.bool_]] | None = None

    def among(self, candidates: Array) -> NDArray[np.bool_]:
        """The same for candidates (n, d), computed once as long as they are the same array."""
        if self._seen is None or self._seen[0] is not candidates:
            self._seen = candidates, self(candidates)
        return self._seen[1]

    def __call__(self, x: Array) -> NDArray[np.bool_]:
        """Which of the points (n, d) lie inside, (n,)."""
        return self._within(*self._held.moments(x))

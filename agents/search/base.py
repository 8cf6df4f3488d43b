"""The interface of searches on arms and in boxes, and the search over arms."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition, Feasibility, Mean, leader
from gpbandits_env.agents.data.part import Part
from gpbandits_env.arrays import Array, IntArray, Points, Settings, leading
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import ArmPosterior, BoxPosterior, NystromPosterior

# Maps means and variances (n,) to a mask (n,) of the points to search.
Within: TypeAlias = Callable[[Array, Array], NDArray[np.bool_]]


class Search(Part, ABC):
    """Finds actions under a posterior: arms (m,), or points (m, d) of a box.

    Hallucinated points affect the variance, never the mean. Each call receives the posterior. A
    search that remembers does so as a `Part`, and may prepare for a round by `follow`.

    Attributes:
        feasibility: if given, acquisitions are multiplied by the probability of feasibility, and
            samples are maximized over their feasible points.
        scale: the factor of the difference between posterior samples and the posterior mean.
        excluded: arms that are not chosen while others may be; None for no arm, and in a box.
        fingerprint: a number that differs between agents with different seeds; 0 if the search has
            no randomness but that of the generators it receives.
        usual_beta: the beta_t of "ucb" for an algorithm with this search, if it is its own.
    """

    fingerprint = 0
    usual_beta: Settings | None = None

    feasibility: Feasibility | None = None
    scale: float = 1.0
    excluded: IntArray | None = None

    def follow(self, t: int, posterior: Any) -> None:
        """Prepare for round t, at the end of the round before and after other data arrived."""
        return

    def first_points(self, posterior: Any, m: int) -> Points | None:
        """The m actions of a round that are chosen without an acquisition; None in other rounds."""
        return None

    @abstractmethod
    def best(self, acquisition: Acquisition, posterior: Any, allowed: Any = None) -> Points:
        """The action with the best score, a new array (1,) or (1, d).

        Args:
            acquisition: the score.
            posterior: the posterior.
            allowed: a result of `region`; None searches everywhere.
        """

    def region(self, posterior: Any, within: Within) -> Any:
        """The region where a condition on mean and variance holds now, as an argument of `best`."""
        return Region(posterior, within)

    @abstractmethod
    def sampled(self, posterior: Any, rng: np.random.Generator, size: int) -> tuple[Points, Array]:
        """The maximizers of ``size`` joint posterior samples, and their maxima (size,).

        A maximum is -inf if no point is feasible in the samples of the constraints; the action is
        then that of the smallest violation.
        """

    def check_samples(self, posterior: Any) -> None:
        """Check that `sampled` can draw from a posterior; by default it can.

        Raises:
            InvalidInput: it cannot; the message says why.
        """
        return

    def uniform(self, posterior: Any, rng: np.random.Generator, size: int) -> Points:
        """Independent uniformly random actions, (size,) or (size, d)."""
        drawn: Points = posterior.domain.sample(rng, size)
        return drawn

    def best_mean(self, posterior: Any) -> Points:
        """The action with the largest posterior mean, a new array (1,) or (1, d)."""
        return self.best(Mean(), posterior)

    @abstractmethod
    def candidates_of(self, posterior: Any) -> tuple[Points, Array, Array]:
        """A finite set of actions (n, ...) to draw from, with means and variances (n,)."""

    def largest_mean(self, posterior: Any) -> float:
        """The largest posterior mean of any action."""
        return float(posterior.mean_at(self.best(Mean(), posterior))[0])

    def fix(self, domain: Domain, point: Array | None) -> None:
        """Search only the points of the domain that agree with a point in some coordinates.

        Args:
            domain: the domain of the posterior.
            point: (d,) the fixed coordinates, NaN where a coordinate is free; None frees all.
        Raises:
            InvalidInput: no arm agrees, or the search does not support it.
        """
        raise InvalidInput(
            f"{type(self).__name__} cannot fix coordinates, such as those of a context: use the "
            "search 'gradient'"
        )

    def incumbents(self, posterior: Any) -> Points | None:
        """The points whose largest posterior mean is the incumbent while coordinates are fixed.

        They are the observed points, moved to the fixed coordinates, or on arms that `fix` has
        restricted all of these arms. None while none are fixed.
        """
        return None

    def renew(self) -> None:
        """Drop what is kept between calls; the next call then depends only on the generator."""
        return

    def _incumbent(self, posterior: Any) -> float:
        """The largest posterior mean of an observed point that is likely feasible, or -inf."""
        assert self.feasibility is not None
        observed, mean = posterior.observed, posterior.mean_at_observed()
        likely = self.feasibility.likely(observed)
        return float(mean[likely].max(initial=-np.inf))

    def _scaled(self, values: Array, mean: Array) -> Array:
        """Samples (size, n) whose difference from the mean (n,) is multiplied by the scale."""
        return values if self.scale == 1.0 else mean + self.scale * (values - mean)

    def _largest(
        self, values: Array, points: Points, rng: np.random.Generator
    ) -> tuple[IntArray, Array]:
        """The index of the largest of each sample (size, n) at points, and its value."""
        own, feasible = np.arange(len(values)), None
        if self.feasibility is not None:
            values, feasible = self.feasibility.drawn(rng, len(values)).ranked(values, points)
        first = leading(values)
        tops = values[own, first]
        if feasible is not None:
            tops[~feasible[own, first]] = -np.inf
        return first, tops


class ArmSearch(Search):
    """The exact search over n arms, O(n) per call.

    Args:
        size: the number n of arms.

    Attributes:
        searched: the arms to search, as an index of arrays (n,); None for all. A slice stands for
            the arms in one context, and its step is the number of contexts.
    """

    def __init__(self, size: int) -> None:
        self.searched: slice | IntArray | None = None
        self._every = np.arange(size)

    def best(
        self,
        acquisition: Acquisition,
        posterior: ArmPosterior | NystromPosterior,
        allowed: NDArray[np.bool_] | None = None,
    ) -> IntArray:
        mean, var = posterior.mean, posterior.var
        if self.searched is not None:
            mean, var = mean[self.searched], var[self.searched]
        score = acquisition.score(mean, var)
        if self.feasibility is not None:
            acquisition = acquisition.in_logarithms(float(score.min()), self._incumbent(posterior))
            score = acquisition.score(mean, var)
            score += self.feasibility.log_probability(self._searched)
        if allowed is not None and not allowed.any():
            raise InvalidInput("the region to search contains no arm")
        if (fresh := self._fresh(allowed)) is not None:
            allowed = fresh
        if allowed is not None:
            score[~allowed] = -np.inf
        return self._arms(leader(acquisition, score, mean, var, allowed)[0])

    def region(
        self, posterior: ArmPosterior | NystromPosterior, within: Within
    ) -> NDArray[np.bool_]:
        if self.searched is None:
            return within(posterior.mean, posterior.var)
        return within(posterior.mean[self.searched], posterior.var[self.searched])

    def sampled(
        self, posterior: ArmPosterior | NystromPosterior, rng: np.random.Generator, size: int
    ) -> tuple[IntArray, Array]:
        values = self._scaled(posterior.sample(rng, size), posterior.mean)
        if self.searched is not None:
            values = values[:, self.searched]
        fresh = self._fresh(None)
        if fresh is not None:
            values = np.where(fresh, values, values.min(axis=1, keepdims=True) - 1.0)
        arms, tops = self._largest(values, self._searched, rng)
        return self._arms(arms), tops

    @property
    def _searched(self) -> IntArray:
        """The arms that are searched, a view."""
        return self._every if self.searched is None else self._every[self.searched]

    def _fresh(self, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """The allowed arms that are not excluded, (n,); None if none is left or none excluded."""
        if self.excluded is None:
            return None
        fresh = np.ones(len(self._every), dtype=np.bool_)
        fresh[self.excluded] = False
        if self.searched is not None:
            fresh = fresh[self.searched]
        if allowed is not None:
            fresh &= allowed
        return fresh if fresh.any() else None

    def candidates_of(
        self, posterior: ArmPosterior | NystromPosterior
    ) -> tuple[IntArray, Array, Array]:
        arms = self._searched.copy()
        return arms, posterior.mean[arms], posterior.var[arms]

    def largest_mean(self, posterior: ArmPosterior | NystromPosterior) -> float:
        if self.feasibility is not None:
            return super().largest_mean(posterior)
        return float(
            (posterior.mean if self.searched is None else posterior.mean[self.searched]).max()
        )

    def fix(self, domain: Domain, point: Array | None) -> None:
        assert isinstance(domain, Arms)
        self.searched = None
        if point is not None:
            fixed = ~np.isnan(point)
            agree = (domain.coordinates[:, fixed] == point[fixed]).all(axis=1)
            if not agree.any():
                raise InvalidInput("no arm has the fixed coordinates")
            self.searched = np.flatnonzero(agree)

    def incumbents(self, posterior: ArmPosterior | NystromPosterior) -> IntArray | None:
        if not isinstance(self.searched, slice):
            return self.searched
        return (
            np.unique(posterior.observed // self.searched.step) * self.searched.step
            + self.searched.start
        )

    def _arms(self, indices: IntArray) -> IntArray:
        """The arms with these indices among those that are searched."""
        return indices if self.searched is None else self._searched[indices]


class Region:
    """Where a condition on mean and variance holds under a copy of the posterior, O(t^2)."""

    def __init__(self, posterior: BoxPosterior, within: Within) -> None:
        self._held, self._within = deepcopy(posterior), within
        self._seen: tuple[Array, NDArray[np.bool_]] | None = None

    def at_candidates(self, candidates: Array) -> NDArray[np.bool_]:
        """The same for candidates (n, d); the result is kept while they are the same array."""
        if self._seen is None or self._seen[0] is not candidates:
            self._seen = candidates, self(candidates)
        return self._seen[1]

    def __call__(self, x: Array) -> NDArray[np.bool_]:
        """Whether each of the points (n, d) lies in the region, (n,)."""
        return self._within(*self._held.moments(x))


class PlacedArmSearch(Search):
    """The exact search over n arms in one context of a box, O(n t (d + t)) per call.

    Args:
        arms: the arms; the other coordinates are fixed by `fix` before the first call.
    """

    def __init__(self, arms: Arms) -> None:
        self._coordinates = self._points = arms.coordinates

    def fix(self, domain: Domain, point: Array | None) -> None:
        if point is None:
            raise InvalidInput("arms cannot be searched without a context")
        fixed = point[self._coordinates.shape[1] :]
        rows = np.broadcast_to(fixed, (len(self._coordinates), len(fixed)))
        self._points = np.hstack([self._coordinates, rows])

    def best(
        self,
        acquisition: Acquisition,
        posterior: BoxPosterior,
        allowed: NDArray[np.bool_] | None = None,
    ) -> Array:
        mean, var = posterior.moments(self._points)
        score = acquisition.score(mean, var)
        if allowed is not None:
            if not allowed.any():
                raise InvalidInput("the region to search contains no arm")
            score[~allowed] = -np.inf
        return self._points[leader(acquisition, score, mean, var, allowed)[0]]

    def region(self, posterior: BoxPosterior, within: Within) -> NDArray[np.bool_]:
        return within(*posterior.moments(self._points))

    def sampled(
        self, posterior: BoxPosterior, rng: np.random.Generator, size: int
    ) -> tuple[Array, Array]:
        values = posterior.sample(rng, size, self._points)
        values = self._scaled(values, posterior.mean_at(self._points))
        top = leading(values)
        return self._points[top], values[np.arange(size), top]

    def uniform(self, posterior: BoxPosterior, rng: np.random.Generator, size: int) -> Array:
        return self._points[rng.integers(len(self._points), size=size)]

    def candidates_of(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        return self._points.copy(), *posterior.moments(self._points)

    def incumbents(self, posterior: BoxPosterior) -> Array:
        moved, d = posterior.observed, self._coordinates.shape[1]
        moved[:, d:] = self._points[0, d:]
        return moved

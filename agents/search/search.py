"""The interface of searches on arms and in boxes, and the search over arms."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition, Feasibility, Mean, leader
from gpbandits_env.agents.acquisitions.feasibility import coincident
from gpbandits_env.agents.data.part import Part
from gpbandits_env.arrays import Array, IntArray, Points, Settings, leading
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import ArmPosterior, BoxPosterior, NystromPosterior

# A posterior with moments at all arms, and joint samples.
OnArms: TypeAlias = ArmPosterior | NystromPosterior
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
        takes_level: whether `BoxSearch` also takes an ascent's end that is level with the best
            candidate. Near a maximum all scores are level, and only its ends come closer.
        refines: whether `best` improves the best of the listed actions.
        draws_paths: whether `sampled` needs `BoxPosterior.paths`, which not every kernel has.
        usual_beta: the beta_t of "ucb" for an algorithm with this search, if it is its own.
    """

    refines: ClassVar[bool] = False
    draws_paths: bool = False
    usual_beta: Settings | None = None

    feasibility: Feasibility | None = None
    scale: float = 1.0
    excluded: IntArray | None = None
    takes_level: bool = False

    def follow(self, t: int, posterior: Any) -> None:
        """Prepare for round t, at the end of the round before and after other data arrived."""
        return

    def best(self, acquisition: Acquisition, posterior: Any, allowed: Any = None) -> Points:
        """The action with the best score, a new array (1,) or (1, d).

        Args:
            acquisition: the score.
            posterior: the posterior.
            allowed: a result of `region`; None searches everywhere. `InvalidInput` if it is empty.
        """
        actions, mean, var = self._listed(posterior)
        if self.feasibility is None:
            score = acquisition.score(mean, var)
        else:
            acquisition, score = self._feasible(acquisition, posterior, actions, mean, var)
        if self.excluded is not None:
            allowed = self._fresh(actions, allowed)
        if allowed is not None:
            if not allowed.any():
                raise InvalidInput(
                    "no candidate lies in the region to search: in a box, raise candidates"
                )
            score[~allowed] = -np.inf
        first, tied = leader(acquisition, score, mean, var, allowed)
        # A region is known only at the listed actions.
        if allowed is not None or not self.refines:
            return actions[first]
        return self._refined(actions[first], score[first] + tied, acquisition, posterior)

    def region(self, posterior: Any, within: Within) -> Any:
        """The region where a condition on mean and variance holds now, as an argument of `best`."""
        return within(*self._listed(posterior)[1:])

    def sampled(self, posterior: Any, rng: Generator, size: int) -> tuple[Points, Array]:
        """The maximizers of ``size`` joint posterior samples, and their maxima (size,).

        A maximum is -inf if no point is feasible in the samples of the constraints; the action is
        then that of the smallest violation.
        """
        actions, values = self._samples(posterior, rng, size)
        if self.excluded is not None and (fresh := self._fresh(actions, None)) is not None:
            values = np.where(fresh, values, values.min(axis=1, keepdims=True) - 1.0)
        own, feasible = np.arange(size), None
        if self.feasibility is not None:
            slacks = self.feasibility.sampled(rng, size)
            values, feasible = slacks.ranked(values, actions)
        first = leading(values)
        tops = values[own, first]
        if feasible is not None:
            tops[~feasible[own, first]] = -np.inf
        return actions[first], tops

    def uniform(self, posterior: Any, rng: Generator, size: int) -> Points:
        """Independent uniformly random actions, (size,) or (size, d)."""
        actions: Points = posterior.domain.sample(rng, size)
        return actions

    def best_mean(self, posterior: Any) -> Points:
        """The action with the largest posterior mean, a new array (1,) or (1, d)."""
        return self.best(Mean(), posterior)

    def candidates_of(self, posterior: Any) -> tuple[Points, Array, Array]:
        """A finite set of actions (n, ...) to draw from, with means and variances (n,).

        Those that are excluded, or would fail again, are left out while there are others.
        """
        actions, mean, var = self._listed(posterior)
        left = np.ones(len(actions), dtype=np.bool_)
        if self.feasibility is not None and self.feasibility.failed is not None:
            left = ~coincident(actions, self.feasibility.failed)
        if self.excluded is not None:
            left &= np.isin(actions, self.excluded, invert=True)
        if not left.any():
            left[:] = True
        return actions[left], mean[left], var[left]

    def largest_mean(self, posterior: Any) -> float:
        """The largest posterior mean of any action."""
        return float(posterior.mean_at(self.best(Mean(), posterior))[0])

    def fix(self, domain: Domain, point: Array | None) -> None:
        """Search only the points of the domain that agree with a point in some coordinates.

        Args:
            domain: the domain of the posterior.
            point: (d,) the fixed coordinates, NaN where a coordinate is free; None frees all.
        """
        raise InvalidInput(
            f"{type(self).__name__} cannot fix coordinates, such as those of a context: use the "
            "search 'gradient'"
        )

    def incumbents(self, posterior: Any) -> Points | None:
        """The points of which one is the incumbent while coordinates are fixed; None otherwise.

        They are the observed points, moved to the fixed coordinates, or the arms that `fix` left.
        """
        return None

    def renew(self) -> None:
        """Drop what is kept between calls; the next call then depends only on the generator."""
        return

    @abstractmethod
    def _listed(self, posterior: Any) -> tuple[Points, Array, Array]:
        """The actions (n, ...) that are scored, with means and variances (n,); none is a copy."""

    @abstractmethod
    def _samples(self, posterior: Any, rng: Generator, size: int) -> tuple[Points, Array]:
        """Actions (n, ...), and joint posterior samples (size, n) there, with the scale."""

    def _refined(
        self, action: Points, least: Array, acquisition: Acquisition, posterior: Any
    ) -> Points:
        """A better action than the best of those listed, with a score above ``least``, or that."""
        return action

    def _feasible(
        self, acquisition: Acquisition, posterior: Any, actions: Points, mean: Array, var: Array
    ) -> tuple[Acquisition, Array]:
        """The acquisition in logarithms, and its scores plus those of the feasibility."""
        assert self.feasibility is not None
        likely = self.feasibility.likely(posterior.observed)
        incumbent = posterior.mean_at_observed()[likely].max(initial=-np.inf)
        floor = float(acquisition.score(mean, var).min())
        acquisition = acquisition.in_logarithms(floor, float(incumbent))
        return acquisition, acquisition.score(mean, var) + self.feasibility.at_candidates(actions)

    def _scaled(self, values: Array, mean: Array) -> Array:
        """Samples (size, n) whose difference from the mean (n,) is multiplied by the scale."""
        return values if self.scale == 1.0 else mean + self.scale * (values - mean)

    def _fresh(
        self, actions: Points, allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_] | None:
        """The allowed actions that are not excluded, (n,), or if none is left, those allowed."""
        assert self.excluded is not None
        fresh = np.isin(actions, self.excluded, invert=True)
        if allowed is not None:
            fresh &= allowed
        return fresh if fresh.any() else allowed


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

    def _listed(self, posterior: OnArms) -> tuple[IntArray, Array, Array]:
        # What a feasibility keeps for the same array may be old, so it receives a new view.
        arms = self._every if self.feasibility is None else self._every[:]
        mean, var = posterior.mean, posterior.var
        if self.searched is None:
            return arms, mean, var
        return arms[self.searched], mean[self.searched], var[self.searched]

    def _samples(self, posterior: OnArms, rng: Generator, size: int) -> tuple[IntArray, Array]:
        values = self._scaled(posterior.sample(rng, size), posterior.mean)
        if self.searched is None:
            return self._every, values
        return self._every[self.searched], values[:, self.searched]

    def largest_mean(self, posterior: OnArms) -> float:
        if self.feasibility is not None:
            return super().largest_mean(posterior)
        mean = posterior.mean if self.searched is None else posterior.mean[self.searched]
        return float(mean.max())

    def uniform(self, posterior: OnArms, rng: Generator, size: int) -> IntArray:
        arms = self.candidates_of(posterior)[0]
        return arms[rng.integers(len(arms), size=size)]

    def fix(self, domain: Domain, point: Array | None) -> None:
        assert isinstance(domain, Arms)
        self.searched = None
        if point is not None:
            fixed = ~np.isnan(point)
            agree = (domain.coordinates[:, fixed] == point[fixed]).all(axis=1)
            if not agree.any():
                raise InvalidInput("no arm has the fixed coordinates")
            self.searched = np.flatnonzero(agree)

    def incumbents(self, posterior: OnArms) -> IntArray | None:
        if not isinstance(self.searched, slice):
            return self.searched
        of, count = self.searched.start, self.searched.step
        return np.unique(posterior.observed // count) * count + of


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

    def _listed(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        return self._points, *posterior.moments(self._points)

    def _samples(self, posterior: BoxPosterior, rng: Generator, size: int) -> tuple[Array, Array]:
        values = posterior.sample(rng, size, self._points)
        return self._points, self._scaled(values, posterior.mean_at(self._points))

    def uniform(self, posterior: BoxPosterior, rng: Generator, size: int) -> Array:
        return self._points[rng.integers(len(self._points), size=size)]

    def incumbents(self, posterior: BoxPosterior) -> Array:
        moved, d = posterior.observed, self._coordinates.shape[1]
        moved[:, d:] = self._points[0, d:]
        return moved

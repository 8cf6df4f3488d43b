"""The search over a box: many candidates looked at in one batch, the best of them climbed from.

Departures of all that search a box: 1. the maximum found is local: the best of those above the
starts; 2. under a constraint a climb stops at the region's edge and does not follow it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import Acquisition, Mean
from gpbandits_env.agents.search.base import Search, Within
from gpbandits_env.agents.search.crossed import crossed
from gpbandits_env.agents.search.held import Candidates
from gpbandits_env.agents.search.lbfgs import climb
from gpbandits_env.agents.search.starts import MOST_SOBOL, best_told, distinct, near, spread
from gpbandits_env.agents.search.within import Region, penalised
from gpbandits_env.arrays import Array, IntArray, whole
from gpbandits_env.domains import Box, Domain
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.posterior import BoxPosterior
from gpbandits_env.specs import Family


@dataclass(frozen=True)
class BoxSettings:
    """How a box is searched; a member of `SEARCHES`."""


SEARCHES: Family[BoxSettings] = Family("search")


@SEARCHES.register("gradient")
@dataclass(frozen=True)
class Gradient(BoxSettings):
    """Candidates, and L-BFGS from the best of them.

    Args:
        starts: climbs for the best action, at least 0 (0: the best candidate is taken). Of two or
            more above 20 dimensions one further climb begins between their ends; see `crossed`.
        candidates: points spread over the box, at least 1; points near the best told are added.
        evaluations: the most points at which values and gradients are asked for in all climbs of
            one call together.
        sample_starts: climbs for each posterior sample; they share evaluations / starts points
            each.
    Raises:
        InvalidInput: out of range.
    """

    starts: int = 10
    candidates: int = 1024
    evaluations: int = 1000
    sample_starts: int = 2

    def __post_init__(self) -> None:
        whole(self.starts, "starts", 0)
        whole(self.candidates, "candidates")
        whole(self.evaluations, "evaluations", 0)
        whole(self.sample_starts, "sample_starts", 0)


@SEARCHES.register("candidates")
@dataclass(frozen=True)
class Drawn(BoxSettings):
    """The best of points drawn anew every round.

    Args:
        count: points spread over the box, at least 1; points near the best told are added.
    Raises:
        InvalidInput: out of range.
    """

    count: int = 1024

    def __post_init__(self) -> None:
        whole(self.count, "count")


class BoxSearch(Search):
    """Local and from many starts; a call costs its candidates' moments and its climbs.

    Candidates are drawn anew in every call, but for this: as long as points are hallucinated those
    of the first call stay, and their variances are kept up at O(n t) a point instead of O(n t^2).
    Nothing else is kept between calls, so the generator's state is all there is to save.

    Args:
        box: where.
        rng: draws the candidates.
        settings: those of `Gradient`.
    Raises:
        InvalidInput: out of range.
    """

    def __init__(self, box: Box, rng: np.random.Generator, **settings: int) -> None:
        self.box, self.rng, self.settings = box, rng, Gradient(**settings)
        self._held: Candidates | None = None

    def best(
        self,
        acquisition: Acquisition,
        posterior: BoxPosterior,
        allowed: Region | None = None,
        *,
        starts: int | Array | None = None,
    ) -> Array:
        """The point of the best score found, (1, d).

        Where the best score is -inf, or 0 (a logarithm without digits), the largest mean decides.

        Args:
            acquisition: what scores.
            posterior: what is known.
            allowed: from `region`; None for everywhere.
            starts: another number of climbs than usual; or points (k, d), which are climbed from
                without any candidates.
        Raises:
            InvalidInput: no candidate lies in the region.
        """
        if isinstance(starts, np.ndarray):
            points = self.box.check(starts)
            mean, var = posterior.moments(points)
        else:
            held = self._candidates(posterior)
            points, mean, var = held.points, held.mean, held.var
        score = acquisition.score(mean, var)
        if allowed is not None:
            inside = allowed.among(points)
            points, mean, score = points[inside], mean[inside], score[inside]
            if not len(points):
                raise InvalidInput("no candidate lies in the region to search; raise candidates")
        first = leader(score, mean)
        if isinstance(starts, np.ndarray):
            chosen = np.arange(len(points))
        else:
            count = min(self.settings.starts if starts is None else starts, len(points))
            if not count:
                return points[first : first + 1].copy()
            chosen = distinct(self.box, points, score[None], count)[0]
        climbed = surface(acquisition, posterior, allowed)
        if self.box.dim <= MOST_SOBOL or len(chosen) == 1 or isinstance(starts, np.ndarray):
            found, values = self._climb(climbed, points[chosen], self.settings.evaluations)
        else:
            score_at = _scored(acquisition, posterior, allowed)
            found, values = self._climb_and_cross(climbed, score_at, points[chosen])
        top = int(values.argmax())
        if values[top] > score[first]:
            return found[top : top + 1].copy()
        return points[first : first + 1].copy()

    def region(self, posterior: BoxPosterior, within: Within) -> Region:
        return Region(posterior, within)

    def sampled(
        self, posterior: BoxPosterior, rng: np.random.Generator, size: int
    ) -> tuple[Array, Array]:
        paths = posterior.paths(rng, size)
        points = self._draw(posterior)
        values = paths(points)
        own, first = np.arange(size), values.argmax(axis=1)
        actions, best = points[first], values[own, first]
        count = min(self.settings.sample_starts, len(points))
        if not count or not size:
            return actions, best
        starts = points[distinct(self.box, points, values, count).ravel()]
        budget = self.settings.evaluations * count * size // max(self.settings.starts, 1)
        found, tops = climb(
            lambda x, rows: paths.climb(x, rows // count),
            starts,
            self.box.low,
            self.box.high,
            evaluations=budget,
        )
        tops = tops.reshape(size, count)
        top = tops.argmax(axis=1)
        # Values at candidates are in single precision; a climb begins at the best and never falls.
        return found.reshape(size, count, -1)[own, top], tops[own, top]

    def options(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        held = self._candidates(posterior)
        return held.points.copy(), held.mean.copy(), held.var.copy()

    def largest_mean(self, posterior: BoxPosterior) -> float:
        return float(posterior.mean_at(self.best(Mean(), posterior))[0])

    def renew(self) -> None:
        self._held = None

    def _climb(self, surface: Any, starts: Array, budget: int) -> tuple[Array, Array]:
        return climb(surface, starts, self.box.low, self.box.high, evaluations=budget)

    def _climb_and_cross(self, surface: Any, score: Any, starts: Array) -> tuple[Array, Array]:
        """The ends of climbs, and of one more that begins between them."""
        last = self.settings.evaluations // (len(starts) + 1)
        ends, values = self._climb(surface, starts, self.settings.evaluations - last)
        between = self._admitted(crossed(score, ends, values, self.rng)[0][None])
        end, value = self._climb(surface, between, last)
        return np.concatenate([ends, end]), np.concatenate([values, value])

    def _admitted(self, points: Array) -> Array:
        """The points that may be played nearest to some: here all may."""
        return points

    def _candidates(self, posterior: BoxPosterior) -> Candidates:
        """This round's: the held ones while points are hallucinated, otherwise fresh."""
        held = self._held
        hallucinated = len(posterior.conditioned) > len(posterior.observed)
        if held is None or not hallucinated or not held.follow(posterior):
            held = self._held = Candidates(self._draw(posterior), posterior)
        return held

    def _draw(self, posterior: BoxPosterior) -> Array:
        points = spread(self.box, self.settings.candidates, self.rng)
        told = best_told(posterior)
        chosen = posterior.conditioned[len(posterior.observed) :]
        if not len(told) and not len(chosen):
            return points
        return np.concatenate([points, told, chosen, near(self.box, told, self.rng)])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}


def box_search(
    domain: Domain, spec: Mapping[str, Any] | str, rng: np.random.Generator
) -> BoxSearch:
    """The search a dict describes: {"type": "gradient", "starts": 10, ...}, or a type's name.

    Args:
        domain: a box.
        spec: of `SEARCHES`; without a type "gradient" is meant.
        rng: draws the candidates.
    Raises:
        InvalidInput: no box, or settings out of range.
        UnknownName: no such type or setting.
    """
    if not isinstance(domain, Box):
        raise InvalidInput(f"this search is for boxes, got {type(domain).__name__}")
    if not isinstance(spec, (str, Mapping)):
        raise InvalidInput(f"search is a dict or a type's name, got {shown(spec)}")
    named = {"type": spec} if isinstance(spec, str) else {"type": "gradient", **spec}
    settings = SEARCHES.from_dict(named)
    if isinstance(settings, Drawn):
        return BoxSearch(domain, rng, starts=0, candidates=settings.count, sample_starts=0)
    if not isinstance(settings, Gradient):
        raise InvalidInput(f"this box is searched by gradient or candidates, got {shown(spec)}")
    return BoxSearch(domain, rng, **vars(settings))


def surface(acquisition: Acquisition, posterior: BoxPosterior, allowed: Region | None) -> Any:
    """The acquisition and its gradient by the chain rule."""

    def climbed(x: Array, rows: IntArray) -> tuple[Array, Array]:
        mean, var, mean_slope, var_slope = posterior.gradients(x)
        values, in_mean, in_var = acquisition.score_and_gradient(mean, var)
        mean_slope *= in_mean[:, None]
        var_slope *= in_var[:, None]
        mean_slope += var_slope
        return (
            (values, mean_slope) if allowed is None else penalised(allowed(x), values, mean_slope)
        )

    return climbed


def _scored(acquisition: Acquisition, posterior: BoxPosterior, allowed: Region | None) -> Any:
    """The acquisition alone."""

    def score(x: Array) -> Array:
        found = acquisition.score(*posterior.moments(x))
        return found if allowed is None else np.where(allowed(x), found, -np.inf)

    return score


def leader(score: Array, mean: Array) -> int:
    """The best candidate: the lowest of several, or the largest mean where scores lack digits."""
    first = int(score.argmax())
    if score[first] in (-np.inf, 0.0):
        tied = np.flatnonzero(score == score[first])
        return int(tied[mean[tied].argmax()])
    return first

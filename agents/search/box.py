"""The search over a box: many candidates are scored at once, and ascents start from the best.

With a coordinate map it searches the image of a small box: a line or an embedding.

Departures of all searches of a box: 1. the result is the best of several local maxima, of ties (see
`leader`) the first; 2. under a constraint, an ascent stops at the boundary of the region and does
not follow it; 3. steps of an ascent end on a grid of 2^-20 of the sides (see `climb`), and ascents
along linear constraints on one of 2^-16.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions import Acquisition, Mean, leader
from gpbandits_env.agents.embeddings.embedding import BoxMap, Coordinates
from gpbandits_env.agents.search.candidates import (
    MOST_SOBOL,
    CandidateSearch,
    HeldCandidates,
    best_observed,
    crossed,
    distinct,
    near,
    spread,
)
from gpbandits_env.agents.search.climb import (
    Score,
    Surface,
    along,
    climb,
    confined,
    pulled,
    surfaces,
)
from gpbandits_env.agents.search.exchange import LEAST_GAIN, alternated, least_gain
from gpbandits_env.agents.search.search import Region, Within
from gpbandits_env.arrays import TIE, Array, IntArray, descending, flag, leading, whole
from gpbandits_env.domains import Box, Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.gp.posterior import BoxPosterior


@dataclass(frozen=True)
class Gradient:
    """Scores candidates, and runs L-BFGS from the best of them.

    Args:
        starts: the number of ascents for the best action, at least 0; with 0 the best candidate is
            the result. With two or more, above 20 dimensions one further ascent starts from a
            crossover of their ends; see `crossed`.
        candidates: the number of points spread over the box, at least 1.
        evaluations: the budget of gradient evaluations for all ascents of a call; those after
            exchanges of integers and choices, and along linear constraints, are not included.
        sample_starts: the number of ascents for each posterior sample; each has a budget of
            evaluations / starts.
        near_best: whether points near the best observed ones are candidates too.
    Raises:
        InvalidInput: a setting is out of range.
    """

    starts: int = 10
    candidates: int = 1024
    evaluations: int = 1000
    sample_starts: int = 2
    near_best: bool = True

    def __post_init__(self) -> None:
        flag(self.near_best, "near_best")
        whole(self.candidates, "candidates")
        for name in ("starts", "evaluations", "sample_starts"):
            whole(getattr(self, name), name, 0)

    def search(self, box: Box, rng: Generator, through: BoxMap | None) -> "BoxSearch":
        """That search of a box, or of the image of a map in it."""
        return BoxSearch(box, rng, self, through)


class BoxSearch(CandidateSearch):
    """A local search from many starts.

    Each call draws new candidates. While points are hallucinated, the candidates of the first call
    are kept, and their variances are updated at O(n t) per point instead of O(n t^2). Nothing else
    is kept between calls, so the state of the generator is the whole state. With a map, each call
    draws new candidates; those near the best are then the points whose images are nearest to the
    observed points with the largest means.

    Args:
        box: the box of the posterior.
        rng: the generator of the candidates.
        settings: how to search.
        through: if given, the map whose image is searched. It may be replaced at any time by a map
            of the same small box.
    """

    draws_paths = True

    def __init__(
        self,
        box: Box,
        rng: Generator,
        settings: Gradient | None = None,
        through: BoxMap | None = None,
    ) -> None:
        self.box = box if through is None else through.small
        self._fixed = False
        self.rng, self.through, self.settings = rng, through, settings or Gradient()
        self.renew()

    def best(
        self, acquisition: Acquisition, posterior: BoxPosterior, allowed: Region | None = None
    ) -> Array:
        """See `Search`; raises `InvalidInput` if no candidate lies in the region."""
        held = self._candidates(posterior)
        y, points, mean, var = self._unlifted, held.points, held.mean, held.var
        if self.feasibility is None:
            score = acquisition.score(mean, var)
        else:
            acquisition, score = self._feasible(acquisition, posterior, points, mean, var)
        if allowed is not None:
            inside = allowed.at_candidates(points)
            y, points, score = y[inside], points[inside], score[inside]
            mean, var = mean[inside], var[inside]
            if not len(points):
                raise InvalidInput("no candidate lies in the region to search; raise candidates")
        leads = leader(acquisition, score, mean, var)
        climbed = surfaces(acquisition, posterior, allowed, self.feasibility)
        found = self._ascended(y, score, leads, *climbed, acquisition.logarithmic)
        return points[leads[0]] if found is None else found

    def best_mean(self, posterior: BoxPosterior) -> Array:
        """See `Search`; without variances, O(n t) for n candidates instead of O(n t^2)."""
        if self.feasibility is not None or len(posterior.conditioned) > len(posterior.observed):
            return super().best_mean(posterior)
        y = self._draw(posterior)
        points = self._lift(y)
        mean = posterior.mean_at(points)

        def climbed(x: Array, rows: IntArray) -> tuple[Array, Array]:
            return posterior.mean_gradient(x)

        leads = leader(Mean(), mean, mean, np.zeros_like(mean))
        found = self._ascended(y, mean, leads, climbed, posterior.mean_at)
        return points[leads[0]] if found is None else found

    def _ascended(
        self,
        y: Array,
        score: Array,
        leads: tuple[IntArray, float],
        climbed: Surface,
        alone: Score,
        logarithmic: bool = False,
    ) -> Array | None:
        """The best end, (1, d), of ascents from candidates y; None if the leader stays."""
        (first, tolerance), count = leads, min(self.settings.starts, len(y))
        if not count:
            return None
        starts = y
        if count < len(y):
            starts = y[distinct(self.box, y, score[None], count, tolerance / TIE)[0]]
        climbed, alone = pulled(climbed, self.through), self._limited(alone)
        if self.box.dim <= MOST_SOBOL or count == 1:
            found, values = self._climb(climbed, starts, self.settings.evaluations)
        else:
            found, values = self._climb_and_cross(climbed, alone, starts)
        if self.box.free is not None:
            budget = self.settings.evaluations // 4

            def again(y: Array) -> tuple[Array, Array]:
                return self._climb(climbed, y, budget)

            least = LEAST_GAIN if logarithmic else least_gain(score)
            found, values = alternated(self.box, alone, again, found, values, least)
        top = int(leading(values, tolerance / TIE))
        gain = values[top] - score[first]
        taken = gain >= -tolerance if self.takes_level else gain > tolerance
        return self._lift(found[[top]]) if taken else None

    def sampled(self, posterior: BoxPosterior, rng: Generator, size: int) -> tuple[Array, Array]:
        count = self.settings.sample_starts
        if not count or not size:
            return super().sampled(posterior, rng, size)
        paths = posterior.paths(rng, size, scale=self.scale)
        y = self._draw(posterior)
        points = self._lift(y)
        values = paths(points)
        least = [least_gain(each) for each in values] if self.box.free is not None else []
        surface: Surface = paths.climb
        if self.feasibility is not None:
            slacks = self.feasibility.sampled(rng, size)
            values, _ = slacks.ranked(values, points)
            surface = confined(surface, slacks.holds)
        count = min(count, len(points))
        starts = y[distinct(self.box, y, values, count).ravel()]
        budget = self.settings.evaluations * count * size // max(self.settings.starts, 1)
        climbed = pulled(lambda x, rows: surface(x, rows // count), self.through)
        found, tops = self._climb(climbed, starts, budget)
        tops = tops.reshape(size, count)
        if self.box.free is not None:
            ends = found.reshape(size, count, -1)
            best = [self._exchanged(surface, i, ends[i], tops[i], least[i]) for i in range(size)]
            return np.array([x for x, _ in best]), np.array([value for _, value in best])
        own, top = np.arange(size), leading(tops)
        # Candidates are scored in single precision; an ascent starts at the best, never descending.
        return self._lift(self.box.snap(found.reshape(size, count, -1)[own, top])), tops[own, top]

    def _samples(self, posterior: BoxPosterior, rng: Generator, size: int) -> tuple[Array, Array]:
        paths = posterior.paths(rng, size, scale=self.scale)
        points = self._lift(self._draw(posterior))
        return points, paths(points)

    def region(self, posterior: BoxPosterior, within: Within) -> Region:
        return Region(posterior, within)

    def _limited(self, score: Score) -> Score:
        """A score that is -inf where a linear constraint of the box is violated."""
        linear = self.box.linear
        if linear is None:
            return score
        return lambda x: np.where(linear.proposable(x), score(x), -np.inf)

    def fix(self, domain: Domain, point: Array | None) -> None:
        assert isinstance(domain, Box)
        self._fixed = point is not None
        self.box, self.through = domain, None
        if point is not None:
            free = np.flatnonzero(np.isnan(point))
            fill = InputScaling.of(domain).scale(point[None])
            self.through = BoxMap(Coordinates(free, fill), domain)
            self.box = self.through.small
        self.renew()

    def incumbents(self, posterior: BoxPosterior) -> Array | None:
        """The observed points, moved to the fixed coordinates."""
        if not self._fixed or self.through is None:
            return None
        return self.through.lift(self.through.lower(posterior.observed))

    def _climb(self, climbed: Surface, starts: Array, budget: int) -> tuple[Array, Array]:
        moved, linear = along(climbed, self.box.free), self.box.linear
        if linear is None:
            return climb(moved, starts, self.box.low, self.box.high, evaluations=budget)
        inside = confined(moved, lambda x, rows: linear.proposable(x))
        ends = climb(inside, starts, self.box.low, self.box.high, evaluations=budget)
        return linear.slid(moved, *ends)

    def _exchanged(
        self, sampled: Surface, which: int, ends: Array, values: Array, least: float
    ) -> tuple[Array, float]:
        """The best end of a sample after exchanges of discrete values, and its value."""

        def one(x: Array, rows: IntArray) -> tuple[Array, Array]:
            return sampled(x, np.full(len(x), which))

        def again(y: Array) -> tuple[Array, Array]:
            return self._climb(one, y, self.settings.evaluations // 8)

        def score(y: Array) -> Array:
            return sampled(y, np.full(len(y), which))[0]

        points, scores = alternated(self.box, score, again, ends, values, least)
        top = int(leading(scores))
        return points[top], scores.item(top)

    def _climb_and_cross(
        self, climbed: Surface, score: Score, starts: Array
    ) -> tuple[Array, Array]:
        """The ends of the ascents, and of one more that starts from a crossover of them."""
        last = self.settings.evaluations // (len(starts) + 1)
        ends, values = self._climb(climbed, starts, self.settings.evaluations - last)
        between = crossed(lambda y: score(self._lift(y)), ends, values, self.rng)[0][None]
        end, value = self._climb(climbed, self.box.snap(between), last)
        return np.concatenate([ends, end]), np.concatenate([values, value])

    def _lift(self, y: Array) -> Array:
        """The images in the posterior's box of points of the searched box."""
        return y if self.through is None else self.through.lift(y)

    def _candidates(self, posterior: BoxPosterior) -> HeldCandidates:
        """The candidates of this call: those kept while points are hallucinated, or new ones."""
        held = self._held
        hallucinated = len(posterior.conditioned) > len(posterior.observed)
        kept = hallucinated and self.through is None
        if held is None or not kept or not held.follow(posterior):
            self._unlifted = self._draw(posterior)
            held = self._held = HeldCandidates(self._lift(self._unlifted), posterior)
        return held

    def _draw(self, posterior: BoxPosterior) -> Array:
        """Candidates in the searched box, spread and near the best so far, rounded to values."""
        y = self._around(posterior)
        if self.box.free is None and self.box.linear is None:
            return y
        y = np.unique(self.box.snap(y), axis=0)
        if self.box.linear is None:
            return y
        y = y[self.box.linear.proposable(y)]
        if not len(y):
            raise InvalidInput(
                "no candidate satisfies the linear constraints after its integers and choices were "
                "rounded; raise candidates of the search"
            )
        return y

    def _around(self, posterior: BoxPosterior) -> Array:
        y = spread(self.box, self.settings.candidates, self.rng)
        if not self.settings.near_best:
            return y
        if self.through is not None:
            best = descending(posterior.mean_at_observed())[: self.settings.starts]
            return np.concatenate([y, self.through.lower(posterior.observed[best])])
        observed = best_observed(posterior)
        chosen = posterior.conditioned[len(posterior.observed) :]
        return np.concatenate([y, observed, chosen, near(self.box, observed, self.rng)])

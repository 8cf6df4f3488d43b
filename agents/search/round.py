"""The search among candidates that are drawn anew every round, as in most published batch code.

All calls of a round use the same points: samples are exact and joint there, and the best point of a
score is found among them and then refined by a few steps of ascent.

It is the search of the public code of ren2024, with its Adam, and its scenarios use it. On Ackley
in [-5, 5]^2 and ^3 (20 to 160 observations, three seeds, prior standard deviation 3.2) tops of the
mean raise the largest mean of the candidates by 0.5 and 1.6, and Adam a bound (beta = 4) by 0.09
and 0.26. L-BFGS ends as high as `ascend` from the same starts, but takes twice the time.

Departures: 1. the maximum found is that of the candidates, up to the refinement; 2. among more
than `MOST_EXACT` candidates samples are drawn by random features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition, Mean, leader
from gpbandits_env.agents.embeddings.base import BoxMap
from gpbandits_env.agents.search.base import Search, Within
from gpbandits_env.agents.search.candidates import HeldCandidates
from gpbandits_env.agents.search.climb import chained
from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import BoxPosterior

# Points (k, d) -> values (k,) and gradients (k, d).
Slope: TypeAlias = Callable[[Array], tuple[Array, Array]]

# Up to so many candidates samples are exact; the factor of so many takes about a second.
MOST_EXACT = 4096
# Tops of the mean that are nearer to each other, in parts of the box's sides, are one.
APART = 1e-3
# The first step of an ascent, and the longest, as parts of the box's sides.
FIRST, LONGEST = 0.02, 0.2
# Adam's decay rates of the means of the slope and of its square, and its epsilon.
KEPT, KEPT_SQUARE, TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class RoundCandidates:
    """Candidates drawn anew every round.

    Args:
        candidates: uniformly random points, at least 1; tops of the posterior mean are added.
        refine: steps of Adam from the best candidate of a score, at least 0.
        rate: the length of these in each coordinate, in the units of x.
        tops: the most climbs of the posterior mean, at least 0, from the best candidate and from
            observed points above it; their ends are further candidates.
        climb: steps of each of these climbs.
    Raises:
        InvalidInput: out of range.
    """

    candidates: int = 1000
    refine: int = 10
    rate: float = 0.01
    tops: int = 50
    climb: int = 20

    def __post_init__(self) -> None:
        whole(self.candidates, "candidates")
        for name in ("refine", "tops", "climb"):
            whole(getattr(self, name), name, 0)
        positive(self.rate, "rate")

    def search(self, box: Box, rng: np.random.Generator, through: BoxMap | None) -> "RoundSearch":
        """That search of a box; there is none through a map."""
        if through is not None:
            raise InvalidInput(
                "a line, or an embedding of a posterior on x, is searched by gradient or "
                "candidates; leave out search='round'"
            )
        return RoundSearch(box, rng, self)


class RoundSearch(Search):
    """The search of `RoundCandidates`; they stay from one `renew` to the next observation.

    Cost: O(n t (d + t)) a round, O(n t) an action, and O(n^3) a round in which samples are drawn.
    """

    def __init__(
        self, box: Box, rng: np.random.Generator, settings: RoundCandidates | None = None
    ) -> None:
        self.box, self.rng, self.settings = box, rng, settings or RoundCandidates()
        self.renew()

    def best(
        self,
        acquisition: Acquisition,
        posterior: BoxPosterior,
        allowed: NDArray[np.bool_] | None = None,
    ) -> Array:
        held, settings = self._candidates(posterior), self.settings
        score = acquisition.score(held.mean, held.var)
        if allowed is not None:
            if not allowed.any():
                raise InvalidInput("no candidate lies in the region to search; raise candidates")
            score[~allowed] = -np.inf
        first = leader(score, held.mean, allowed)
        point = held.points[first]
        # Of a region only the candidates are known.
        if allowed is not None or not settings.refine:
            return point
        slope, box = slope_of(acquisition, posterior), self.box
        found, value = adam(slope, point, box.low, box.high, settings.refine, settings.rate)
        return found if value[0] > score[first] else point

    def region(self, posterior: BoxPosterior, within: Within) -> NDArray[np.bool_]:
        """Which of the round's candidates lie inside, (n,)."""
        held = self._candidates(posterior)
        return within(held.mean, held.var)

    def sampled(
        self, posterior: BoxPosterior, rng: np.random.Generator, size: int
    ) -> tuple[Array, Array]:
        held = self._candidates(posterior)
        if len(held.points) > MOST_EXACT:
            values = posterior.paths(rng, size)(held.points)
        else:
            values = held.draw(rng, size)
        first = values.argmax(axis=1)
        return held.points[first], values[np.arange(size), first]

    def options(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        held = self._candidates(posterior)
        return held.points.copy(), held.mean.copy(), held.var.copy()

    def largest_mean(self, posterior: BoxPosterior) -> float:
        return float(self._candidates(posterior).mean.max())

    def renew(self) -> None:
        self._held: HeldCandidates | None = None

    def _candidates(self, posterior: BoxPosterior) -> HeldCandidates:
        if self._held is None or not self._held.follow(posterior):
            self._held = HeldCandidates(self._draw(posterior), posterior)
        return self._held

    def _draw(self, posterior: BoxPosterior) -> Array:
        points, observed = self.box.sample(self.rng, self.settings.candidates), posterior.observed
        if not len(observed) or not self.settings.tops:
            return points
        mean, there = posterior.mean_at(points), posterior.mean_at_observed()
        order = np.argsort(-there, kind="stable")[: self.settings.tops - 1]
        higher = observed[order[there[order] > mean.max()]]
        starts = np.concatenate([points[[mean.argmax()]], higher])
        slope, steps = slope_of(Mean(), posterior), self.settings.climb
        ends, height = ascend(slope, starts, self.box.low, self.box.high, steps)
        return np.concatenate([points, apart(self.box, ends[np.argsort(-height)])])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}


def slope_of(acquisition: Acquisition, posterior: BoxPosterior) -> Slope:
    """An acquisition's values and gradients at points."""
    return lambda x: chained(acquisition, *posterior.gradients(x))


def apart(box: Box, points: Array) -> Array:
    """Of points (k, d) those that are not near one before them."""
    kept: list[Array] = []
    for point in points:
        if all(np.abs((point - other) / (box.high - box.low)).max() > APART for other in kept):
            kept.append(point)
    return np.array(kept)


def ascend(
    surface: Slope, points: Array, low: Array, high: Array, steps: int
) -> tuple[Array, Array]:
    """The points (k, d) after so many steps of ascent in a box, and their values (k,).

    None ends below its start. The step along the gradient is that of Barzilai and Borwein (1988),
    which needs no memory; one that does not gain is not taken, and the next is shorter. The surface
    is called steps + 1 times.
    """
    sides = high - low
    at, (value, slope) = points, surface(points)
    # In coordinates of [0, 1]^d.
    slope = slope * sides
    length = FIRST / _largest(slope)
    for _ in range(steps):
        outside = ((at <= low) & (slope < 0.0)) | ((at >= high) & (slope > 0.0))
        uphill = np.where(outside, 0.0, slope)
        length = np.minimum(length, LONGEST / _largest(uphill))
        trial = np.clip(at + length[:, None] * uphill * sides, low, high)
        height, there = surface(trial)
        there = there * sides
        step = (trial - at) / sides
        fall = np.einsum("ij,ij->i", step, slope - there)
        size = np.einsum("ij,ij->i", step, step)
        secant = np.divide(size, fall, out=2.0 * length, where=fall > 0.0)
        better = height > value
        length = np.where(better, secant, np.minimum(secant, 0.25 * length))
        value = np.where(better, height, value)
        at, slope = np.where(better[:, None], trial, at), np.where(better[:, None], there, slope)
    return at, value


def adam(
    surface: Slope, points: Array, low: Array, high: Array, steps: int, rate: float
) -> tuple[Array, Array]:
    """The best points (k, d) of so many steps of Adam in a box, and their values (k,).

    None is below its start. A step has about the length ``rate`` in each coordinate, in the units
    of x. The surface is called steps + 1 times.

    Source: Kingma & Ba (2015), Algorithm 1, clipped to the box.
    """
    at, (value, slope) = points, surface(points)
    best = at
    mean, square = np.zeros_like(at), np.zeros_like(at)
    for step in range(1, steps + 1):
        mean = KEPT * mean + (1.0 - KEPT) * slope
        square = KEPT_SQUARE * square + (1.0 - KEPT_SQUARE) * slope**2
        typical = np.sqrt(square / (1.0 - KEPT_SQUARE**step)) + TINY
        at = np.clip(at + rate / (1.0 - KEPT**step) * mean / typical, low, high)
        height, slope = surface(at)
        better = height > value
        value, best = np.where(better, height, value), np.where(better[:, None], at, best)
    return best, value


def _largest(slope: Array) -> Array:
    size: Array = np.abs(slope).max(axis=1)
    return np.maximum(size, 1e-300)

"""The search among candidates that are drawn in each round, as in most published batch code.

All calls of a round use the same points. Samples are exact and joint there. The best point of a
score is found among them and then refined by a few steps of ascent.

The public code of ren2024 searches in this way, with Adam, and the scenarios of ren2024 use it. On
Ackley in [-5, 5]^2 and [-5, 5]^3 (20 to 160 observations, three seeds, prior standard deviation
3.2), local maxima of the mean raise the largest mean of the candidates by 0.5 and 1.6, and Adam
raises an upper confidence bound (beta = 4) by 0.09 and 0.26. L-BFGS ends as high as `ascend` from
the same starts, but takes twice the time.

Departures: 1. the maximum found is that of the candidates, up to the refinement; 2. with more
than `MOST_EXACT` candidates, samples are drawn with random features; 3. steps of an ascent end on a
grid of 2^-16 of the sides of the box.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions import Acquisition, Feasibility, Mean
from gpbandits_env.agents.embeddings.embedding import BoxMap
from gpbandits_env.agents.search.candidates import CandidateSearch, HeldCandidates
from gpbandits_env.agents.search.climb import largest, surfaces
from gpbandits_env.arrays import Array, descending, leading, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import BoxPosterior

# Maps points (k, d) to values (k,) and gradients (k, d).
Slope: TypeAlias = Callable[[Array], tuple[Array, Array]]

# Up to this many candidates samples are exact; the factorization takes about a second there.
MOST_EXACT = 4096
# Local maxima of the mean closer than this, relative to the sides of the box, count as one.
APART = 1e-3
# The number of steps of an ascent of the mean, and the first and the longest of them, relative to
# the sides of the box.
CLIMB = 20
FIRST, LONGEST = 0.02, 0.2
# Steps end on a grid of this many steps along a side of the box, as in `climb`. It is coarser,
# because ascents without a line search magnify what processors round differently by more.
GRID = 2.0**16
# Adam's decay rates for the means of the gradient and of its square, and its epsilon.
KEPT, KEPT_SQUARE, TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class RoundCandidates:
    """Candidates that are drawn in each round.

    Args:
        candidates: the number of uniformly random points, at least 1; local maxima of the posterior
            mean are added.
        refine: the number of Adam steps from the best candidate of a score, at least 0.
        rate: the length of these steps in each coordinate, in the units of x.
        tops: the largest number of ascents of the posterior mean, at least 0. They start from the
            best candidate and from observed points above it, and their ends are candidates too.
    Raises:
        InvalidInput: a setting is out of range.
    """

    candidates: int = 1000
    refine: int = 10
    rate: float = 0.01
    tops: int = 50

    def __post_init__(self) -> None:
        whole(self.candidates, "candidates")
        for name in ("refine", "tops"):
            whole(getattr(self, name), name, 0)
        positive(self.rate, "rate")

    def search(self, box: Box, rng: Generator, through: BoxMap | None) -> "RoundSearch":
        """The search of a box with these settings; a map is not supported."""
        if through is not None:
            raise InvalidInput("search='round' does not support lines and embeddings: leave it out")
        return RoundSearch(box, rng, self)


class RoundSearch(CandidateSearch):
    """The search of `RoundCandidates`, which are kept from `renew` to the next observation.

    Cost: O(n t (d + t)) per round, O(n t) per action, and O(n^3) per round with samples.
    """

    refines: ClassVar[bool] = True

    def __init__(self, box: Box, rng: Generator, settings: RoundCandidates | None = None) -> None:
        self.box, self.rng, self.settings = box, rng, settings or RoundCandidates()
        self.draws_paths = self.settings.candidates > MOST_EXACT
        self.renew()

    def _refined(
        self, action: Array, least: Array, acquisition: Acquisition, posterior: BoxPosterior
    ) -> Array:
        settings, box = self.settings, self.box
        if not settings.refine:
            return action
        slope = slope_of(acquisition, posterior, self.feasibility)
        found, value = adam(slope, action, box.low, box.high, settings.refine, settings.rate)
        return found if value[0] > least[0] else action

    def _samples(self, posterior: BoxPosterior, rng: Generator, size: int) -> tuple[Array, Array]:
        held = self._candidates(posterior)
        if self.draws_paths:
            return held.points, posterior.paths(rng, size, scale=self.scale)(held.points)
        return held.points, self._scaled(held.draw(rng, size), held.mean)

    def largest_mean(self, posterior: BoxPosterior) -> float:
        if self.feasibility is not None:
            return super().largest_mean(posterior)
        return float(self._candidates(posterior).mean.max())

    def _candidates(self, posterior: BoxPosterior) -> HeldCandidates:
        if self._held is None or not self._held.follow(posterior):
            self._held = HeldCandidates(self._draw(posterior), posterior)
        return self._held

    def _draw(self, posterior: BoxPosterior) -> Array:
        points, observed = self.box.sample(self.rng, self.settings.candidates), posterior.observed
        if not len(observed) or not self.settings.tops:
            return points
        mean, there = posterior.mean_at(points), posterior.mean_at_observed()
        order = descending(there)[: self.settings.tops - 1]
        higher = observed[order[there[order] > mean.max()]]
        starts = np.concatenate([points[leading(mean)[None]], higher])
        slope = slope_of(Mean(), posterior)
        ends, height = ascend(slope, starts, self.box.low, self.box.high, CLIMB)
        return np.concatenate([points, apart(self.box, ends[descending(height)])])


def slope_of(
    acquisition: Acquisition, posterior: BoxPosterior, feasibility: Feasibility | None = None
) -> Slope:
    """The values and gradients of an acquisition at points; see `climb.surfaces`."""
    climbed, _ = surfaces(acquisition, posterior, None, feasibility)
    return lambda x: climbed(x, np.arange(len(x)))


def apart(box: Box, points: Array) -> Array:
    """The points of (k, d) that are not close to an earlier one."""
    kept: list[Array] = []
    for point in points:
        if all(np.abs((point - other) / (box.high - box.low)).max() > APART for other in kept):
            kept.append(point)
    return np.array(kept)


def moved(points: Array, moves: Array, low: Array, high: Array) -> Array:
    """Points (k, d) of a box after moves, on the grid; what does not move stays."""
    step = (high - low) / GRID
    after = np.minimum(np.maximum(points + moves, low), high)
    near = np.rint((after - low) / step)
    near *= step
    near += low
    np.copyto(after, np.minimum(near, high, out=near), where=after != points)
    return after


def ascend(
    surface: Slope, points: Array, low: Array, high: Array, steps: int
) -> tuple[Array, Array]:
    """The points (k, d) after the given steps of ascent in a box, and their values (k,).

    No point ends below its start. Step lengths are those of Barzilai and Borwein (1988), which
    need no memory. A step without gain is rejected, and the next one is shorter. The surface is
    called steps + 1 times.
    """
    sides = high - low
    at, (value, slope) = points, surface(points)
    # Coordinates are scaled to [0, 1]^d.
    slope = slope * sides
    length = FIRST / largest(slope)
    for _ in range(steps):
        outside = ((at <= low) & (slope < 0.0)) | ((at >= high) & (slope > 0.0))
        uphill = np.where(outside, 0.0, slope)
        length = np.minimum(length, LONGEST / largest(uphill))
        trial = moved(at, length[:, None] * uphill * sides, low, high)
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
    """The best points (k, d) of the given steps of Adam in a box, and their values (k,).

    No point ends below its start. The length of a step is about ``rate`` in each coordinate, in the
    units of x. The surface is called steps + 1 times.

    Source: Kingma & Ba (2015), Algorithm 1, clipped to the box.
    """
    at, (value, slope) = points, surface(points)
    best = at
    mean, square = np.zeros_like(at), np.zeros_like(at)
    for step in range(1, steps + 1):
        mean = KEPT * mean + (1.0 - KEPT) * slope
        square = KEPT_SQUARE * square + (1.0 - KEPT_SQUARE) * slope**2
        typical = np.sqrt(square / (1.0 - KEPT_SQUARE**step)) + TINY
        at = moved(at, rate / (1.0 - KEPT**step) * mean / typical, low, high)
        height, slope = surface(at)
        better = height > value
        value, best = np.where(better, height, value), np.where(better[:, None], at, best)
    return best, value

"""The search among candidates that are drawn anew every round, as in most published batch code.

All that is asked in a round is asked of the same points: samples are exact and joint there, the
best point of a score is found among them and then refined by a few steps of ascent.

Departures: 1. the maximum found is that of the candidates, up to the refinement; 2. among more
than `MOST_EXACT` candidates samples are drawn by random features.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition, Mean
from gpbandits_env.agents.search.ascent import Slope, adam, ascend
from gpbandits_env.agents.search.base import Search, Within
from gpbandits_env.agents.search.box import SEARCHES, BoxSettings, leader, surface
from gpbandits_env.agents.search.held import Candidates
from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.domains import Box, Domain
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.posterior import BoxPosterior

# A factor of so many points takes about a second; a round's samples are exact up to here.
MOST_EXACT = 4096
# Tops of the mean that are nearer to each other, in parts of the box's sides, are one.
APART = 1e-3


@SEARCHES.register("round")
@dataclass(frozen=True)
class Round(BoxSettings):
    """Candidates drawn anew every round.

    Args:
        candidates: uniformly random points, at least 1; tops of the posterior mean are added.
        refine: steps of Adam from the best candidate of a score; 0 takes it as it is.
        rate: the length of these in each coordinate, in the units of x.
        tops: the most climbs of the posterior mean, from the best candidate and from points told
            that are above it; where they end are further candidates. At least 0.
        climb: steps of each of these.
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


class RoundSearch(Search):
    """Costs a round O(n t (d + t)), and O(n^3) where samples are drawn; O(n t) an action.

    The candidates stay from one `renew` to the next, as long as nothing is told.

    Args:
        box: where.
        rng: draws the candidates.
        settings: how many, and how they are refined.
    """

    def __init__(self, box: Box, rng: np.random.Generator, settings: Round | None = None) -> None:
        self.box, self.rng = box, rng
        self.settings = Round() if settings is None else settings
        self.renew()

    def best(
        self,
        acquisition: Acquisition,
        posterior: BoxPosterior,
        allowed: NDArray[np.bool_] | None = None,
    ) -> Array:
        held = self._candidates(posterior)
        score = acquisition.score(held.mean, held.var)
        if allowed is not None:
            if not allowed.any():
                raise InvalidInput("no candidate lies in the region to search; raise candidates")
            score[~allowed] = -np.inf
        first = leader(score, held.mean)
        point = held.points[first : first + 1].copy()
        # Of a region only the candidates are known.
        if allowed is not None or not self.settings.refine:
            return point
        slope, steps, rate = (
            slope_of(acquisition, posterior),
            self.settings.refine,
            self.settings.rate,
        )
        found, value = adam(slope, point, self.box.low, self.box.high, steps, rate)
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
        self._held: Candidates | None = None

    def _candidates(self, posterior: BoxPosterior) -> Candidates:
        if self._held is None or not self._held.follow(posterior):
            self._held = Candidates(self._draw(posterior), posterior)
        return self._held

    def _draw(self, posterior: BoxPosterior) -> Array:
        points = self.box.sample(self.rng, self.settings.candidates)
        if not len(posterior.observed) or not self.settings.tops:
            return points
        mean, told = posterior.mean_at(points), posterior.mean_at_observed()
        order = np.argsort(-told, kind="stable")[: self.settings.tops - 1]
        higher = posterior.observed[order[told[order] > mean.max()]]
        starts = np.concatenate([points[[mean.argmax()]], higher])
        slope, steps = slope_of(Mean(), posterior), self.settings.climb
        ends, height = ascend(slope, starts, self.box.low, self.box.high, steps)
        return np.concatenate([points, apart(self.box, ends[np.argsort(-height)])])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}


def round_search(
    domain: Domain, spec: Mapping[str, Any] | str, rng: np.random.Generator
) -> RoundSearch:
    """The search that {"type": "round", ...} or "round" describes.

    Args:
        domain: a box.
        spec: settings of `Round`.
        rng: draws the candidates.
    Raises:
        InvalidInput: no box, or settings out of range.
        UnknownName: no such setting.
    """
    if not isinstance(domain, Box):
        raise InvalidInput(f"this search is for boxes, got {type(domain).__name__}")
    settings = SEARCHES.from_dict({"type": spec} if isinstance(spec, str) else spec)
    if not isinstance(settings, Round):
        raise InvalidInput(f"a round's search has the type 'round', got {shown(spec)}")
    return RoundSearch(domain, rng, settings)


def slope_of(acquisition: Acquisition, posterior: BoxPosterior) -> Slope:
    """An acquisition's values and gradients at points."""
    climbed = surface(acquisition, posterior, None)
    return lambda x: climbed(x, None)


def apart(box: Box, points: Array) -> Array:
    """Of points (k, d) those that are not near one before them."""
    kept: list[Array] = []
    for point in points:
        if all(np.abs((point - other) / (box.high - box.low)).max() > APART for other in kept):
            kept.append(point)
    return np.array(kept)

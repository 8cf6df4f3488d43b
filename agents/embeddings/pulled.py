"""The search through an embedding of a belief about the whole box."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions import Acquisition, Mean
from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.agents.search import Search, Within
from gpbandits_env.agents.search.box import box_search
from gpbandits_env.agents.search.lbfgs import climb
from gpbandits_env.agents.search.starts import distinct, spread
from gpbandits_env.agents.search.within import Region, penalised
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.learning import InputScaling
from gpbandits_env.posterior import BoxPosterior


class PulledSearch(Search):
    """Finds points y of a small box whose lifts score best: candidates, and climbs from the best.

    Among the candidates are those y whose lifts are nearest to the points of the largest means.

    Args:
        embedding: gives that of the time being; its small box is always the same.
        scaling: of the large box to the cube.
        half: (d,) of the small box.
        spec: how the small box is searched, as of `box_search`.
        rng: draws the candidates.
    """

    def __init__(
        self,
        embedding: Callable[[], Embedding],
        scaling: InputScaling,
        half: Array,
        spec: Mapping[str, Any] | str | None,
        rng: np.random.Generator,
    ) -> None:
        self._embedding, self._scaling, self._rng = embedding, scaling, rng
        self._box = Box(-half, half)
        self._settings = box_search(self._box, spec or {}, rng).settings

    def best(
        self, acquisition: Acquisition, posterior: BoxPosterior, allowed: Region | None = None
    ) -> Array:
        y, x, mean, var = self._candidates(posterior)
        score = acquisition.score(mean, var)
        if allowed is not None:
            inside = allowed(x)
            if not inside.any():
                raise InvalidInput("no candidate lies in the region to search; raise candidates")
            score = np.where(inside, score, -np.inf)
        first = int(score.argmax())
        if not self._settings.starts:
            return x[[first]]
        starts = distinct(self._box, y, score[None], min(self._settings.starts, len(y)))[0]

        def surface(points: Array, rows: IntArray) -> tuple[Array, Array]:
            at = self._lift(points)
            mean, var, mean_slope, var_slope = posterior.gradients(at)
            values, by_mean, by_var = acquisition.score_and_gradient(mean, var)
            slope = by_mean[:, None] * mean_slope + by_var[:, None] * var_slope
            pulled = self._pull(points, slope)
            return (values, pulled) if allowed is None else penalised(allowed(at), values, pulled)

        ends, values = self._climb(surface, y[starts], self._settings.evaluations)
        top = int(values.argmax())
        return self._lift(ends[[top]]) if values[top] > score[first] else x[[first]]

    def region(self, posterior: BoxPosterior, within: Within) -> Region:
        return Region(posterior, within)

    def sampled(
        self, posterior: BoxPosterior, rng: np.random.Generator, size: int
    ) -> tuple[Array, Array]:
        paths = posterior.paths(rng, size)
        y, x, _, _ = self._candidates(posterior)
        values = paths(x)
        count = max(1, self._settings.sample_starts)
        starts = y[distinct(self._box, y, values, count).ravel()]

        def surface(points: Array, rows: IntArray) -> tuple[Array, Array]:
            heights, slopes = paths.climb(self._lift(points), rows // count)
            return heights, self._pull(points, slopes)

        ends, tops = self._climb(surface, starts, self._settings.evaluations * size)
        tops = tops.reshape(size, count)
        own, top = np.arange(size), tops.argmax(axis=1)
        return self._lift(ends.reshape(size, count, -1)[own, top]), tops[own, top]

    def options(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        _, x, mean, var = self._candidates(posterior)
        return x, mean, var

    def largest_mean(self, posterior: BoxPosterior) -> float:
        return float(posterior.mean_at(self.best(Mean(), posterior))[0])

    def _candidates(self, posterior: BoxPosterior) -> tuple[Array, Array, Array, Array]:
        """Points y (n, d), their lifts (n, D), and what is known there (n,)."""
        y = spread(self._box, self._settings.candidates, self._rng)
        if len(posterior.observed):
            best = np.argsort(-posterior.mean_at_observed(), kind="stable")[: self._settings.starts]
            y = np.concatenate([y, self._lower(posterior.observed[best])])
        x = self._lift(y)
        return y, x, *posterior.moments(x)

    def _climb(self, surface: Any, starts: Array, budget: int) -> tuple[Array, Array]:
        return climb(surface, starts, self._box.low, self._box.high, evaluations=budget)

    def _lift(self, y: Array) -> Array:
        return self._scaling.unscale(self._embedding().lift(y))

    def _lower(self, x: Array) -> Array:
        return self._embedding().lower(self._scaling.scale(x))

    def _pull(self, y: Array, gradients: Array) -> Array:
        return self._embedding().pull(y, gradients * self._scaling.unit)

"""TuRBO with one trust region (TuRBO-1).

Paper: Eriksson, Pearce, Gardner, Turner & Poloczek (2019), "Scalable Global Optimization via Local
Bayesian Optimization", Section 2 and Appendix B.
Assumes: Gaussian noise of known variance, unless it is learned.
Departures: 1. candidates are a shifted Sobol sequence up to 20 dimensions and uniform above, where
the paper scrambles a Sobol sequence; one of their coordinates at least differs from the center; 2.
with more than 4096 candidates, samples are drawn with random features; 3. the model is fitted when
``learn`` says so, under priors, and not in every round by maximum likelihood; 4. the first points
of a region are a shifted Sobol sequence (uniform above 20 dimensions), where the paper takes a
Latin hypercube; 5. the paper has no late rewards; 6. those of `GPAgent`.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import Named
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.embeddings.action_map import box_of
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.search import SearchSpec
from gpbandits_env.agents.search.candidates import spread
from gpbandits_env.agents.search.round import RoundCandidates, RoundSearch
from gpbandits_env.arrays import Array, Points, leading, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams

# Each coordinate of a candidate differs from the center with probability min(1, CHANGED / d).
CHANGED = 20
# The base side length of a region at first, at most and at least, for the unit cube.
FIRST, LONGEST, SHORTEST = 0.8, 1.6, 0.5**7
# The number of successes in a row that double the length.
SUCCESSES = 3
# The number of candidates per dimension, and at most.
PER_DIMENSION, MOST = 100, 5000


class TrustRegionSearch(RoundSearch):
    """The best of ``count`` candidates in a box around the best point, drawn anew in each round.

    A region is a stage of the data: when it ends, all of them are discarded.

    Attributes:
        length: the base length L.
        regions: the number of regions that have ended.
        low: (d,) the lower corner of the region.
        high: (d,) its upper corner.
        center: (d,) the center; outside the box the region is cut off.
    """

    REMEMBERS = ("length", "regions", "_seen", "_successes", "_failures", "_changed")

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        keep: Keep,
        spec: SearchSpec,
        *,
        n_initial: int | None,
        candidates: int | None,
    ) -> None:
        if spec is not None:
            raise InvalidInput("turbo searches its region: leave out search, and use candidates")
        box = box_of(problem)
        count = min(PER_DIMENSION * box.dim, MOST) if candidates is None else candidates
        self._first = whole(2 * box.dim if n_initial is None else n_initial, "n_initial")
        self._keep, self._streams = keep, Streams(rng)
        self._patience = math.ceil(box.dim / problem.batch_size)
        super().__init__(box, rng, RoundCandidates(count, refine=0, tops=0))
        self.begin()

    def begin(self) -> None:
        self.regions = 0
        self.low, self.high = self.box.low, self.box.high
        self.center = 0.5 * (self.low + self.high)
        self._start(0)

    def _start(self, t: int) -> None:
        """The state of a region that starts after round t."""
        self.length, self._seen = FIRST, 0
        self._successes, self._failures = 0, 0
        self._changed = t  # the round in which the region last changed

    def observe(self, seen: Observed, before: Any) -> None:
        rounds = seen.each_round
        mine = rounds >= self._keep.stage
        local = self._seen >= self._first
        self._seen += int(mine.sum())
        # Actions of the region since it last changed.
        judged = mine & (rounds > self._changed) & (seen.source != "prior")
        if not local and self._seen >= self._first:
            self._changed = seen.round  # the search of the region starts
        if local and judged.any():
            self._judge(bool(seen.rewards[judged].max() > before.best_reward), seen.round)

    def _judge(self, success: bool, t: int) -> None:
        """Count a success or a failure; Section 2, "Trust region updates"."""
        before = self.length
        self._successes = self._successes + 1 if success else 0
        self._failures = 0 if success else self._failures + 1
        if self._successes == SUCCESSES:
            self.length, self._successes = min(2.0 * self.length, LONGEST), 0
        elif self._failures == self._patience:
            self.length, self._failures = 0.5 * self.length, 0
        if self.length != before:
            self._changed = t
        if self.length < SHORTEST:  # discard the region and its data, and the learned model
            self.regions += 1
            self._start(t)
            self._keep.stage = t + 0.5
            self._keep.stages += 1

    def follow(self, t: int, posterior: BoxPosterior) -> None:
        """Place the region around the best point."""
        observed = posterior.observed
        if len(observed):
            self.center, sides = observed[leading(posterior.mean_at_observed())], self._sides
            half = 0.5 * sides(posterior)
            self.low = np.maximum(self.center - half, self.box.low)
            self.high = np.minimum(self.center + half, self.box.high)

    def _sides(self, posterior: BoxPosterior) -> Array:
        """The sides L_i of the region, (d,), in the units of the box."""
        scaling, radial = InputScaling.of(self.box), posterior.kernel.radial
        weights = np.ones(self.box.dim) if radial is None else scaling.lengthscales(radial)
        logs = np.log(np.broadcast_to(weights, (self.box.dim,)))
        width = self.box.high - self.box.low
        return np.asarray(width * self.length * np.exp(logs - logs.mean()))

    def planned(self, posterior: BoxPosterior, m: int) -> Points | None:
        """The first points of a region, which are spread over the box."""
        observed = len(posterior.observed)
        if observed and self._seen >= self._first:
            return None
        # They depend on the region and on the number of observed and pending points, and so do
        # those without data, which a reset has discarded.
        done = self._seen + len(posterior.conditioned) - observed
        points = spread(self.box, max(self._first, done + m), self._streams.at(self.regions))
        return self.box.snap(points[done : done + m])

    def _draw(self, posterior: BoxPosterior) -> Array:
        count, d = self.settings.candidates, self.box.dim
        points = spread(Box(self.low, self.high), count, self.rng)
        if d > CHANGED:
            changed = self.rng.random((count, d)) < CHANGED / d
            # A candidate without any change would be the center.
            changed[np.arange(count), self.rng.integers(d, size=count)] = True
            points = np.where(changed, points, self.center)
        return self.box.snap(points)


class TuRBO(GPAgent):
    r"""Thompson sampling in a box around the best point, which grows or shrinks with success.

    .. math::
        L_i = \lambda_i L / \Big(\prod_j \lambda_j\Big)^{1/d}

    The domain must be a box, which is scaled to the unit cube. The region's center is the observed
    point with the largest posterior mean, lambda_i are the lengthscales, and L is the base length:
    0.8 at first, doubled (up to 1.6) after 3 rounds in a row with a larger reward than all before
    in the region, and halved after ceil(d / m) rounds in a row without. When L falls below 2^-7,
    all data are discarded, and a new region starts with points spread over the box. A reward that
    arrives late is a success or a failure only if its action was chosen since the length last
    changed, and prior data are neither.

    Args:
        n_initial: the number of points that are spread over the box when a region starts; prior
            data count. By default 2 d.
        candidates: the number of points in the region that are scored; by default min(100 d, 5000).
        acquisition: "ts", "ei", "mpi" or "ucb"; see `Named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5.
        search: not supported; the region is searched among candidates.
    """

    PARTS = Parts(
        acquisition=partial(Named, acquisition="ts", beta=None),
        own_search=partial(TrustRegionSearch, n_initial=None, candidates=None),
    )
    search: TrustRegionSearch

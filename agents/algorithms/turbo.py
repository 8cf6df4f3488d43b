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
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from gpbandits_env.agents.acquisitions.rules import Round, rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import ActionMap, box_of
from gpbandits_env.agents.data.pending import Played
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.search import SearchSpec
from gpbandits_env.agents.search.candidates import spread
from gpbandits_env.agents.search.round import RoundCandidates, RoundSearch
from gpbandits_env.arrays import Array, Points, State, leading, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams

# Each coordinate of a candidate differs from the center with probability min(1, CHANGED / d).
CHANGED = 20


class TrustRegionSearch(RoundSearch):
    """The best of ``count`` candidates in a box around a center, drawn anew in each round.

    Attributes:
        low: (d,) the lower corner of the region.
        high: (d,) its upper corner.
        center: (d,) the center; outside the box the region is cut off.
    """

    def __init__(self, box: Box, rng: np.random.Generator, count: int) -> None:
        self.low, self.high = box.low, box.high
        self.center = 0.5 * (box.low + box.high)
        super().__init__(box, rng, RoundCandidates(count, refine=0, tops=0))

    def place(self, center: Array, sides: Array) -> None:
        """Place the region at a center (d,) of the box, with sides (d,) in its units."""
        self.center = center
        self.low = np.maximum(center - 0.5 * sides, self.box.low)
        self.high = np.minimum(center + 0.5 * sides, self.box.high)

    def _draw(self, posterior: BoxPosterior) -> Array:
        count, d = self.settings.candidates, self.box.dim
        points = spread(Box(self.low, self.high), count, self.rng)
        if d > CHANGED:
            changed = self.rng.random((count, d)) < CHANGED / d
            # A candidate without any change would be the center.
            changed[np.arange(count), self.rng.integers(d, size=count)] = True
            points = np.where(changed, points, self.center)
        return self.box.snap(points)


# The base side length of a region at first, at most and at least, for the unit cube.
FIRST, LONGEST, SHORTEST = 0.8, 1.6, 0.5**7
# The number of successes in a row that double the length.
SUCCESSES = 3
# The number of candidates per dimension, and at most.
PER_DIMENSION, MOST = 100, 5000


class TuRBO(GPAgent):
    r"""Thompson sampling in a box around the best point, which grows and shrinks with success.

    .. math::
        L_i = \lambda_i L / \Big(\prod_j \lambda_j\Big)^{1/d}

    The domain must be a box, which is scaled to the unit cube. The region's center is the observed
    point with the largest posterior mean, lambda_i are the lengthscales, and L is the base length:
    0.8 at first, doubled (up to 1.6) after 3 rounds in a row with a larger reward than all before,
    and halved after ceil(d / m) rounds in a row without. When L falls below 2^-7, all data are
    discarded, and a new region starts with points spread over the box. A reward that arrives late
    is a success or a failure only if its action was chosen since the length last changed.

    Args:
        n_initial: the number of points that are spread over the box when a region starts; prior
            data count. By default 2 d.
        candidates: the number of points in the region that are scored; by default min(100 d, 5000).
        acquisition: "ts", "ei", "mpi" or "ucb"; see `rule_named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5.
        search: not supported; the region is searched among candidates.

    Attributes:
        length: the base length L.
        regions: the number of regions that have ended.
    """

    search: TrustRegionSearch
    posterior: BoxPosterior

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        n_initial: int | None = None,
        candidates: int | None = None,
        acquisition: str = "ts",
        beta: Beta | None = None,
        search: SearchSpec = None,
        **parts: Any,
    ) -> None:
        if search is not None:
            raise InvalidInput("turbo searches its region: leave out search, and use candidates")
        self._box = box = box_of(problem, self)
        count = min(PER_DIMENSION * box.dim, MOST) if candidates is None else candidates
        first = 2 * box.dim if n_initial is None else n_initial
        self._first = whole(first, "n_initial")
        self._streams = Streams(rng)
        self._patience = math.ceil(box.dim / problem.batch_size)
        super().__init__(
            problem,
            rng,
            rule_named(acquisition, beta, box),
            ActionMap(problem, self._streams.fingerprint),
            **parts,
        )
        self.search = TrustRegionSearch(box, rng, whole(count, "candidates"))
        self.regions = 0
        self._start()

    def _start(self) -> None:
        """The state of a new region."""
        self.length, self._seen = FIRST, 0
        self._successes, self._failures = 0, 0
        self._changed = self.round  # the round in which the region last changed

    def next_round(self) -> Round:
        """The next round; its search is placed at the best point."""
        observed = self.posterior.observed
        if len(observed):
            center = observed[leading(self.posterior.mean_at_observed())]
            self.search.place(center, self.sides)
        return super().next_round()

    @property
    def sides(self) -> Array:
        """The sides L_i of the region, (d,), in the units of the box."""
        scaling, radial = InputScaling.of(self._box), self.posterior.kernel.radial
        weights = np.ones(self._box.dim) if radial is None else scaling.lengthscales(radial)
        logs = np.log(np.broadcast_to(weights, (self._box.dim,)))
        width = self._box.high - self._box.low
        return np.asarray(width * self.length * np.exp(logs - logs.mean()))

    def choose(self) -> Points:
        observed = len(self.posterior.observed)
        if observed and self._seen >= self._first:
            return super().choose()
        # The first points depend on the region and on the number of observed and pending points,
        # and so do those without data, which a reset has discarded.
        done = self._seen + len(self.posterior.conditioned) - observed
        m = self.problem.batch_size
        points = spread(self._box, max(self._first, done + m), self._streams.at(self.regions))
        return self._box.snap(points[done : done + m])

    def tell(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        observed: ArrayLike | None = None,
        *more: ArrayLike | None,
        **named: ArrayLike | None,
    ) -> None:
        values = self.problem.domain.observations(actions, rewards, observed, 1)[1]
        before, local = self.log.best_reward, self._seen >= self._first
        super().tell(actions, rewards, observed, *more, **named)
        self._count(len(values))
        if local and len(values):
            self._judge(bool(values.max() > before))

    def _learn_late(self, played: Sequence[Played], rewards: Array) -> None:
        before, changed = self.log.best_reward, self._changed
        local = self._seen >= self._first
        super()._learn_late(played, rewards)
        own = [p.note is not None for p in played]
        self._count(sum(own))
        values = rewards[[mine and p.round > changed for mine, p in zip(own, played, strict=True)]]
        if local and len(values):
            self._judge(bool(values.max() > before))

    def _count(self, rewards: int) -> None:
        """Count rewards; the last of the first points starts the search of the region."""
        first = self._seen < self._first
        self._seen += rewards
        if first and self._seen >= self._first:
            self._changed = self.round

    def _judge(self, success: bool) -> None:
        """Count a success or a failure; Section 2, "Trust region updates"."""
        before = self.length
        self._successes = self._successes + 1 if success else 0
        self._failures = 0 if success else self._failures + 1
        if self._successes == SUCCESSES:
            self.length, self._successes = min(2.0 * self.length, LONGEST), 0
        elif self._failures == self._patience:
            self.length, self._failures = 0.5 * self.length, 0
        if self.length != before:
            self._changed = self.round
        if self.length < SHORTEST:
            self._restart()

    def _restart(self) -> None:
        """Discard the region and its data; the generator and the number of rounds go on."""
        self.regions += 1
        self._start()
        self.pending = [played._replace(note=None) for played in self.pending]
        self.posterior.forget()
        self.log.clear()
        if self.refit is not None:
            self.refit.clear()
            self._use(self.refit.model)

    def prior_data(self, actions: ArrayLike, rewards: ArrayLike, *more: Any, **named: Any) -> None:
        super().prior_data(actions, rewards, *more, **named)
        self._seen += len(self.problem.domain.observations(actions, rewards)[1])

    def reset(self) -> None:
        super().reset()
        self.regions = 0
        self._start()

    def snapshot(self) -> State:
        own = {
            "length": self.length,
            "regions": self.regions,
            "counts": (self._seen, self._successes, self._failures, self._changed),
        }
        return super().snapshot() | {"turbo": own}

    def _restore(self, state: State) -> None:
        own = state["turbo"]
        length, regions = float(own["length"]), whole(own["regions"], "regions", 0)
        counts = [whole(count, "count", 0) for count in own["counts"]]
        super()._restore(state)
        self.length, self.regions = length, regions
        self._seen, self._successes, self._failures, self._changed = counts

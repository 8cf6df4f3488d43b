"""The search of MS-UCB: many subspaces of a box at once.

All subspaces are screened at a few points each, in one batch. Ascents of the acquisition start from
the best of these points. Then all subspaces are screened at the ends of these ascents, and ascents
start from the best again. With random starts nothing is screened, and no start is near the best
observed point.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.search.climb import chained, climb
from gpbandits_env.agents.search.search import Region, Search, Within
from gpbandits_env.arrays import TIE, Array, IntArray, descending, flag, leading, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import BoxPosterior, Subspaces
from gpbandits_env.gp.theory import new_subspaces
from gpbandits_env.seeding import Streams

# With this exponent, round 10 alone adds a hundred million subspaces.
MOST_ALPHA = 8
# The number of values (32 MB) of subspaces that are drawn at a time.
STRIP = 1 << 22
# The distances from the best observed point of some screened points, relative to the sides.
NEAR = (0.02, 0.1)
# All subspaces are screened again at the ends of this many best ascents.
ENDS = 2
# With more subspaces than this, this many leading ones are screened more closely.
LEADERS = 8


@dataclass(frozen=True)
class Growth:
    """The number of subspaces and the effort of their search: settings of `MSUCB`.

    Raises:
        InvalidInput: a setting is out of range.
    """

    n0: int = 1
    alpha: float = 0.0
    cap: int | None = None
    candidates: int = 1024
    refine: int = 16
    evaluations: int = 800
    random_starts: bool = False
    z_share: float = 1.0

    def __post_init__(self) -> None:
        flag(self.random_starts, "random_starts")
        if positive(self.z_share, "z_share") > 1.0:
            raise InvalidInput(f"z_share must be at most 1, got {self.z_share:g}")
        for name in ("n0", "candidates", "refine", "evaluations"):
            whole(getattr(self, name), name)
        if positive(self.alpha, "alpha", zero=True) > MOST_ALPHA:
            raise InvalidInput(f"alpha must be at most {MOST_ALPHA}, got {self.alpha:g}")
        if self.cap is not None:
            whole(self.cap, "cap")

    def added(self, t: int, present: int) -> int:
        """The number of subspaces that round t adds to those present: Algorithm 1, line 4."""
        count = int(new_subspaces(t, self.n0, self.alpha))
        return count if self.cap is None else min(count, self.cap - present)


class SubspaceSearch(Search):
    """Searches the subspaces Z_t of Algorithm 1 for actions.

    The search is over the last d coordinates of the box. The draws of round t depend only on the
    streams and t, so that t is the whole state.

    Attributes:
        subspaces: the fixed coordinates Z_t.
        round: the round t.
    """

    draws_paths = True

    def __init__(self, box: Box, d: int, streams: Streams, growth: Growth) -> None:
        self.box, self._streams, self._growth = box, streams, growth
        self._active: IntArray = np.arange(box.dim - d, box.dim)
        self._low, self._high = box.low[self._active], box.high[self._active]
        self.restart()

    @property
    def size(self) -> int:
        """The number of subspaces |Z_t|."""
        return self.subspaces.size

    def restart(self) -> None:
        """Return to round 1 and Z_1."""
        self.subspaces = Subspaces(self.box, self._active)
        self.round = 0
        self._reach(1)

    def follow(self, t: int, posterior: BoxPosterior) -> None:
        """Go to round t >= 1, with the subspaces of all rounds up to t."""
        if t < self.round:
            self.restart()
        self.subspaces.follow(posterior)
        self._reach(t)

    def _reach(self, t: int) -> None:
        inactive = self.subspaces.inactive
        low, high = self.box.low[inactive], self.box.high[inactive]
        cut = 0.5 * (1.0 - self._growth.z_share) * (high - low)
        low, high = low + cut, high - cut
        step = max(1, STRIP // max(len(inactive), 1))
        for now in range(self.round + 1, t + 1):
            rng = self._streams.at(now, 0)
            count = self._growth.added(now, self.size)
            for start in range(0, count, step):
                shape = (min(step, count - start), len(inactive))
                self.subspaces.add(rng.uniform(low, high, shape))
        self.round = t

    def best(
        self, acquisition: Acquisition, posterior: BoxPosterior, allowed: Region | None = None
    ) -> Array:
        if self._growth.random_starts and allowed is None and len(self._active):
            return self._from_random_starts(acquisition, posterior)
        y, rows, mean, var = self._screened(posterior)
        score = acquisition.score(mean, var)
        if allowed is not None:
            inside = allowed(self.subspaces.points(y, rows))
            if not inside.any():
                raise InvalidInput("the region to search contains none of the screened points")
            score = np.where(inside, score, -np.inf)
        first = self._promising(score, rows)
        # Under a constraint the points are screened, without ascents.
        if len(self._active) == 0 or allowed is not None:
            return self.subspaces.points(y[first[:1]], rows[first[:1]])
        starts, within = y[first], rows[first]
        if self.size > LEADERS:
            starts, within = self._closer(acquisition, starts, within)
        half = self._growth.evaluations // 2
        ends, of, values = self._climbed(acquisition, starts, within, half)
        again, of_again, values_again = self._elsewhere(acquisition, ends, values)
        tolerance = TIE * acquisition.size(mean, var, first.item(0))
        if values_again.max() > values.max() + tolerance:
            ends, of, values = again, of_again, values_again
        top = int(leading(values, tolerance / TIE))
        return self.subspaces.points(ends[[top]], of[[top]])

    def _from_random_starts(self, acquisition: Acquisition, posterior: BoxPosterior) -> Array:
        """The best end of ascents from uniform points, spread evenly over the subspaces."""
        self.subspaces.follow(posterior)
        count, rng = self._growth.refine, self._streams.at(self.round, 3)
        even = np.arange(count) % self.size
        rows = even if self.size <= count else rng.integers(self.size, size=count)
        y = rng.uniform(self._low, self._high, (count, len(self._active)))
        ends, of, values = self._climbed(acquisition, y, rows, self._growth.evaluations)
        top = [int(leading(values))]
        return self.subspaces.points(ends[top], of[top])

    def _closer(self, acquisition: Acquisition, y: Array, rows: IntArray) -> tuple[Array, IntArray]:
        """Replace half of the starts by the best of many points in the few leading subspaces."""
        leaders = np.unique(rows[:LEADERS])
        each = max(2, self._growth.candidates // len(leaders))
        more_rows = np.repeat(leaders, each)
        more = self._points_of_round(2, len(leaders), each).reshape(len(more_rows), -1)
        score = acquisition.score(*self.subspaces.moments(more, more_rows))
        top = descending(score, most=self._growth.refine // 2)
        kept = self._growth.refine - len(top)
        return np.concatenate([y[:kept], more[top]]), np.concatenate([rows[:kept], more_rows[top]])

    def _climbed(
        self, acquisition: Acquisition, y: Array, of: IntArray, budget: int
    ) -> tuple[Array, IntArray, Array]:
        """The ends of ascents from y (K, d) in subspaces (K,), their subspaces and values."""

        def surface(points: Array, which: IntArray) -> tuple[Array, Array]:
            return chained(acquisition, *self.subspaces.gradients(points, of[which]))

        ends, values = climb(surface, y, self._low, self._high, evaluations=budget)
        return ends, of, values

    def _elsewhere(
        self, acquisition: Acquisition, ends: Array, values: Array
    ) -> tuple[Array, IntArray, Array]:
        """Ascents from the ends of the first ones, in the subspaces that are best there."""
        # The best values of the few searched coordinates depend little on the many fixed ones.
        best = descending(values)[:ENDS]
        rows = np.repeat(np.arange(self.size), len(best))
        y = np.tile(ends[best], (self.size, 1))
        score = acquisition.score(*self.subspaces.moments(y, rows))
        first = self._promising(score, rows)
        half = self._growth.evaluations // 2
        return self._climbed(acquisition, y[first], rows[first], half)

    def _samples(self, posterior: BoxPosterior, rng: Generator, size: int) -> tuple[Array, Array]:
        y, rows, mean, var = self._screened(posterior)
        # A sample needs the points themselves; only those that may be largest are computed.
        kept = descending(mean + 3.0 * np.sqrt(var), most=self._growth.candidates)
        points = self.subspaces.points(y[kept], rows[kept])
        return points, posterior.paths(rng, size, scale=self.scale)(points)

    def region(self, posterior: BoxPosterior, within: Within) -> Region:
        return Region(posterior, within)

    def _listed(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        y, rows, mean, var = self._screened(posterior)
        most = self._growth.candidates
        return self.subspaces.points(y[:most], rows[:most]), mean[:most], var[:most]

    def _screened(self, posterior: BoxPosterior) -> tuple[Array, IntArray, Array, Array]:
        """Screened points y (n, d) in subspaces (n,), with means and variances (n,)."""
        self.subspaces.follow(posterior)
        count, d = self.size, len(self._active)
        each = 1 if d == 0 else max(2, -(-self._growth.candidates // count))
        rows = np.repeat(np.arange(count), each)
        y = self._points_of_round(1, count, each).reshape(count * each, d)
        return y, rows, *self.subspaces.moments(y, rows)

    def _points_of_round(self, number: int, count: int, each: int) -> Array:
        """Searched coordinates, (count, each, d): first the best observed y, then some near it."""
        posterior = self.subspaces.posterior
        rng = self._streams.at(self.round, number)
        y = rng.uniform(self._low, self._high, (count, each, len(self._active)))
        observed = posterior.observed
        if not len(self._active) or not len(observed):
            return y
        best = observed[leading(posterior.mean_at_observed()), self._active]
        y[:, 0] = best
        near = slice(2, 2 + (each - 2) // 2)
        part = y[:, near]
        spread = rng.choice(NEAR, part.shape[:2])[:, :, None] * (self._high - self._low)
        moved = best + spread * rng.standard_normal(part.shape)
        y[:, near] = np.clip(moved, self._low, self._high)
        return y

    def _promising(self, score: Array, rows: IntArray) -> IntArray:
        """The starts of ascents, best first, in different subspaces as far as possible."""
        refine = self._growth.refine
        by_subspace = score.reshape(self.size, -1)
        leaders = leading(by_subspace) + by_subspace.shape[1] * np.arange(self.size)
        leaders = leaders[descending(score[leaders])][:refine]
        if len(leaders) == refine:
            return leaders
        rest = np.setdiff1d(np.arange(len(score)), leaders)
        rest = rest[descending(score[rest])]
        return np.concatenate([leaders, rest[: refine - len(leaders)]])

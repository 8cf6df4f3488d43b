"""The candidates of a search in a box, and the starting points of ascents.

Spread points are a Sobol sequence shifted by one random vector (modulo the box). Above 20
dimensions they are uniform, because a short Sobol sequence does not cover the box evenly. Corners
are left out: many are local maxima of an upper confidence bound, where ascents stay, and ascents
from the interior end higher. Points near the best one differ from it by normal steps of very
different sizes, above 20 dimensions in 20 coordinates each on average.

Above 20 dimensions an acquisition has very many local maxima, and one more ascent starts from a
crossover of the ends of the others. For GP-UCB with ten ascents on Ackley in 25 and 100 dimensions
(72 calls from three seeds, with the same evaluations) the maximum found was always higher, by 0.024
prior standard deviations on average, and a call took 1 to 2 ms more than 3 to 5 ms. Up to 20
dimensions there is no gain.

Source: Cranley & Patterson (1976), for the shift; Regis & Shoemaker (2013), "Combining radial basis
function surrogates and dynamic coordinate search", for steps in few coordinates; Storn & Price
(1997), "Differential evolution", for the binomial crossover and the greedy selection. Here points
are crossed, not differences, and only the best point is changed.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from gpbandits_env.agents.search.search import Search
from gpbandits_env.arrays import TIE, Array, IntArray, descending, frozen, leading
from gpbandits_env.domains import Box
from gpbandits_env.gp.linalg import root
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.gp.samplers import sobol
from gpbandits_env.gp.threads import OneThread

# Up to this dimension Sobol points are used; above it, a step changes this many coordinates.
MOST_SOBOL = 20
# The number of best observed points, the steps around each, and the sizes of the steps relative to
# the sides of the box.
BEST_OBSERVED, STEPS_EACH, SMALLEST, LARGEST = 10, 10, 1e-3, 0.2
# The least distance between starts, relative to the sides and to the root of the dimension.
APART = 0.05
# The number of best candidates considered per start.
POOL = 24
# The number of crossover rounds, and of points tried in each.
ROUNDS, EACH = 16, 32
# The crossover ends after this many rounds whose total gain is below this part of the value.
PATIENCE, TOLERANCE = 4, 1e-8
# The largest share of coordinates that is exchanged; the smallest is one coordinate.
MOST_EXCHANGED = 0.5
# Noise added to the covariance of draws, relative to the prior variance; it exceeds rounding.
LEAST = 1e-10
# The number of rows of a covariance that are processed together.
STRIP = 128


def spread(box: Box, count: int, rng: np.random.Generator) -> Array:
    """Points spread over the box, a new array (count, d)."""
    if box.dim > MOST_SOBOL:
        unit = rng.random((count, box.dim))
    else:
        unit = sobol_points(box.dim, count) + rng.random(box.dim)
        unit -= unit >= 1.0
    unit *= box.high - box.low
    unit += box.low
    return np.minimum(unit, box.high, out=unit)


def near(box: Box, centers: Array, rng: np.random.Generator) -> Array:
    """Points near each of the centers: (k, d) -> (k steps, d), clipped to the box."""
    shape = (STEPS_EACH * len(centers), box.dim)
    size = np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST), (shape[0], 1)))
    move = rng.standard_normal(shape) * size
    if box.dim > MOST_SOBOL:
        move *= rng.random(shape) < MOST_SOBOL / box.dim
    points = np.repeat(centers, STEPS_EACH, axis=0) + move * (box.high - box.low)
    return np.clip(points, box.low, box.high)


def best_observed(posterior: BoxPosterior) -> Array:
    """The distinct observed points with the largest posterior means, (k, d), best first."""
    observed, mean = posterior.observed, posterior.mean_at_observed()
    if not len(observed):
        return observed
    order = descending(mean, most=4 * BEST_OBSERVED)
    _, first = np.unique(observed[order], axis=0, return_index=True)
    return observed[order[np.sort(first)[:BEST_OBSERVED]]]


def distinct(
    box: Box, points: Array, scores: Array, count: int, size: float | None = None
) -> IntArray:
    """The indices of the best points that keep a distance, (s, count), for each of s scores.

    The choice is greedy, from the largest score down. Distances are relative to the sides of the
    box. If fewer than ``count`` points keep the distance, the next best ones follow. Points are
    (n, d), scores (s, n) without NaN; the size decides which of them are tied, see `descending`.
    """
    s, n = scores.shape
    pool = min(n, POOL * count)
    ranked = descending(scores, size, pool)
    unit = points[ranked] / (box.high - box.low)
    rank = np.tile(np.arange(pool), (s, 1))
    own, picked = np.arange(s), np.empty((s, count), dtype=np.int64)
    for i in range(count):
        chosen = rank.argmin(axis=1)
        picked[:, i] = ranked[own, chosen]
        apart = unit - unit[own, chosen][:, None]
        close = np.einsum("ijk,ijk->ij", apart, apart) < APART**2 * box.dim
        # Close points rank after all others; a chosen point is not chosen again.
        rank[close & (rank < pool)] += pool
        rank[own, chosen] = 3 * pool
    return picked


def crossed(
    score: Callable[[Array], Array], ends: Array, values: Array, rng: np.random.Generator
) -> tuple[Array, float]:
    """A crossover of the ends (n, d), and its value, which is at least that of the best end.

    The score maps points (k, d) to (k,); ``values`` (n,) are the scores of the ends.
    """
    n, d = ends.shape
    top = int(leading(values))
    best, value = ends[top], values.item(top)
    smallest = min(1.0 / d, MOST_EXCHANGED)
    parts = np.exp(rng.uniform(np.log(smallest), np.log(MOST_EXCHANGED), (ROUNDS, EACH, 1)))
    others = rng.integers(n, size=(ROUNDS, EACH))
    before = [-np.inf] * PATIENCE
    for part, other in zip(parts, others, strict=True):
        if value - before.pop(0) <= TOLERANCE * abs(value):
            break
        before.append(value)
        trials = np.where(rng.random((EACH, d)) < part, ends[other], best)
        found = score(trials)
        first = int(leading(found, abs(value)))
        if found[first] > value + TIE * abs(value):
            best, value = trials[first], found.item(first)
    return best, value


@lru_cache(maxsize=8)
def sobol_points(dim: int, count: int) -> Array:
    """The first points of Sobol's sequence in the unit cube, read-only (count, dim)."""
    return frozen(sobol(dim, count))


class HeldCandidates:
    """Candidates and their moments: O(n t (d + t)) at first, O(n t) per hallucinated point.

    A hallucinated point adds one row w to the posterior's whitening matrix W. With K the
    covariances between candidates and conditioned points, the variances decrease by (K w)^2.
    Therefore K is kept, one column is added, and W is not applied again.
    """

    def __init__(self, points: Array, posterior: BoxPosterior) -> None:
        self.points = points
        self._posterior, self._size = posterior, posterior.size
        self._known = posterior.conditioned
        self._beta = posterior.predictor.beta.copy()
        self._root: Array | None = None
        count = len(self._known)
        self._k = np.empty((len(points), count + 8))
        self.mean = np.full(len(points), posterior.prior_mean)
        self.var = posterior.present.diagonal(points)

        def kept(part: slice) -> Array:
            k = self._k[part, :count] = posterior.columns(points[part])
            return k

        posterior.predictor.moments(self.mean, self.var, kept)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Exact joint draws of f, (size, n); hallucinated points affect only the covariance.

        Cost: O(n^3) for the first draw after a change, O(n^2 size) for others.
        """
        if self._root is None:
            self._root = root(self._covariance())
        values: Array = rng.standard_normal((size, len(self.points))) @ self._root.T
        values += self.mean
        return values

    def _covariance(self) -> Array:
        """The lower triangle of the posterior covariance, (n, n), in strips that fit the cache."""
        posterior, points = self._posterior, self.points
        with OneThread():
            v = self._k[:, : len(self._known)] @ posterior.predictor.white.T
            covariance = np.zeros((len(points), len(points)))
            for start in range(0, len(points), STRIP):
                stop = min(start + STRIP, len(points))
                strip = covariance[start:stop, :stop]
                strip[:] = posterior.present(points[start:stop], points[:stop])
                strip -= v[start:stop] @ v[:stop].T
        covariance.flat[:: len(points) + 1] += LEAST * posterior.present.diagonal(points)
        return covariance

    def follow(self, posterior: BoxPosterior) -> bool:
        """Add points hallucinated since the last call; return False after any other change."""
        count, now = len(self._known), posterior.conditioned
        if (
            posterior is not self._posterior
            or posterior.size != self._size
            or not np.array_equal(now[:count], self._known)
            or not np.array_equal(posterior.predictor.beta[:count], self._beta)
        ):
            return False
        total = len(now)
        if total == count:
            return True
        if total > self._k.shape[1]:
            grown = np.empty((len(self.points), 2 * total))
            grown[:, :count] = self._k[:, :count]
            self._k = grown
        self._k[:, count:total] = posterior.present(self.points, now[count:])
        v = self._k[:, :total] @ posterior.predictor.white[count:total].T
        self.var = np.maximum(self.var - np.einsum("ij,ij->i", v, v), 0.0)
        self._known, self._beta, self._root = now, posterior.predictor.beta.copy(), None
        return True


class CandidateSearch(Search):
    """A search of a box among candidates, which are kept while points are hallucinated."""

    def renew(self) -> None:
        self._held: HeldCandidates | None = None

    @abstractmethod
    def _candidates(self, posterior: BoxPosterior) -> HeldCandidates:
        """The candidates of a call: new ones, or those kept."""

    def _listed(self, posterior: BoxPosterior) -> tuple[Array, Array, Array]:
        held = self._candidates(posterior)
        return held.points, held.mean, held.var

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_held": None}

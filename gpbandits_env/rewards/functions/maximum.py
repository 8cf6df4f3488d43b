"""The maximum over a box of a draw of a Gaussian process: a grid, its refinement, and ascent."""

from collections.abc import Sequence
from math import ceil, inf, log, prod

import numpy as np
from scipy.spatial import cKDTree

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Box, mesh
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.descent import descend
from gpbandits_env.gp.linalg import EPS
from gpbandits_env.gp.samplers import BoxSampler, sobol

# On the finest grid, the fastest wave turns by at most so many radians from point to point.
TURN = 2.0
# The first grid has about FEW points if that is fine enough, and at most MOST; a half of its axes
# has at most FEW.
FEW, MOST = 2**12, 2**21
# Features are stored up to this many numbers (32 MB), and values are computed in such blocks.
KEPT = 2**22
# A normal variate is not expected to deviate by this many standard deviations.
NEVER = 5.0
# The largest cost of a search, in points of a grid: about 15 seconds. A usual one must stay below
# USUAL, so that no draw of an episode fails. An ascent costs as much as ASCENT points.
LARGEST, USUAL, ASCENT = 2**25, 2**22, 2**12
THIRDS = np.array([-1.0, 0.0, 1.0]) / 3.0
# The rounding error of the features, relative to the largest coefficient and the standard deviation
# of f. Features of a squared exponential kernel cancel, which leaves up to 2e-9 (measured in 1 to 3
# dimensions).
ROUNDING = 1e-8


class BoxMaximum:
    """Finds the maximum of f(x) = phi(x) . xi over a box, for one white xi after another.

    A grid, which includes the faces and corners of the box, is refined by 3 where the maximum may
    be, until the fastest wave in phi turns by at most 2 radians from point to point. L-BFGS-B with
    analytic gradients then climbs from the points that exceed their neighbors.

    Where may the maximum x* be? Given f(x*) and grad f(x*) = 0, the value at a point x near x* is
    normal with mean rho f(x*) and standard deviation s. A cell whose center is below rho times the
    best known value by 5 s is not searched. rho and s are computed from phi, for x* in a corner of
    the cell of x.

    Args:
        sampler: the features phi.
        box: the domain.
    Raises:
        InvalidInput: a grid is not possible, because the box has too many dimensions.
    """

    def __init__(self, sampler: BoxSampler, box: Box) -> None:
        self._sampler, self._low, self._high = sampler, box.low, box.high
        width = box.high - box.low
        self._unit = TURN / np.maximum(sampler.fastest, TURN / width)
        coarser = 1.0
        # The features are computed on the grid of the first axes, and on that of the others.
        while prod(counts := _counts(width / self._unit / coarser)) > MOST or _side(counts) > FEW:
            if max(counts) == 2:
                raise self._refusal()
            coarser *= 1.05
        while prod(counts) * 2**box.dim <= FEW:
            counts = [2 * count - 1 for count in counts]
        ends = zip(box.low.tolist(), box.high.tolist(), counts, strict=True)
        self._axes = [np.linspace(*end) for end in ends]
        first = width / (np.array(counts) - 1.0)
        self._spacings = [first / 3.0**level for level in range(1 + ceil(log(coarser) / log(3.0)))]
        kept = prod(counts) * sampler.rank <= KEPT
        self._features = sampler.features(mesh(self._axes)) if kept else None
        self._probes: Array = box.low + width * sobol(box.dim, 16)
        known = sampler.features(self._probes)
        self._sd = float(np.linalg.norm(known, axis=1).max())
        self._near = [self._law(known, spacing) for spacing in self._spacings]
        angle = float(sampler.fastest @ np.maximum(np.abs(box.low), np.abs(box.high)))
        self._rounding = self._sd * (ROUNDING + EPS * angle)

    def check(self) -> None:
        """Search a draw whose law is that of all draws.

        Raises:
            InvalidInput: the search is too long.
        """
        self._search(np.random.default_rng(0).standard_normal(self._sampler.rank), USUAL)

    def accuracy(self, coefficients: Array) -> float:
        """How far other values may exceed the one found, by rounding.

        It does not cover that the search misses the maximum because f deviates by 5 s at its cell,
        which is not expected to occur; `tests/laws/test_box_maxima.py` looks for it.
        """
        return self._rounding * float(np.abs(coefficients).max())

    def __call__(self, coefficients: Array) -> tuple[Array, float]:
        """The maximizer (d,) and its accuracy."""
        return self._search(coefficients, LARGEST), self.accuracy(coefficients)

    def _search(self, xi: Array, most: int) -> Array:
        size = _rms(xi)
        values = self._scan(xi)
        best, top = self._climb(self._points(np.array([values.argmax()]))[0], xi)
        keep = _above(values, self._least(0, top, size))
        points, values, cost = self._points(keep), values[keep], 0
        for level in range(1, len(self._spacings)):
            cost = self._spent(cost + len(points) * 3 ** len(best), most)
            points, values = self._refined(level, points, xi, self._least(level, top, size))
            best, top = _higher((best, top), self._climb(points[values.argmax()], xi))
        self._spent(len(points) * len(best), LARGEST)
        for i in _tops(points / self._spacings[-1], values):
            if values[i] < self._least(-1, top, size):
                break
            cost = self._spent(cost + ASCENT, most)
            best, top = _higher((best, top), self._climb(points[i], xi))
        return best

    def _least(self, level: int, top: float, size: float) -> float:
        """The least value at the center of a cell that may have the maximum."""
        rho, sd = self._near[level]
        return min(rho * top, top) - NEVER * sd * size

    def _spent(self, cost: int, most: int) -> int:
        if cost > most:
            raise self._refusal()
        return cost

    def _refusal(self) -> InvalidInput:
        waves = np.round(self._sampler.fastest * (self._high - self._low) / (2.0 * np.pi), 1)
        return InvalidInput(
            f"the maximum over this box of {len(waves)} dimensions cannot be found in an acceptable"
            f" time: draws have up to {waves.tolist()} waves per side. Use arms, such as a grid, "
            "where the maximum is exact, a longer lengthscale, a smoother kernel or a smaller box"
        )

    def _points(self, indices: IntArray) -> Array:
        where = np.unravel_index(indices, [len(axis) for axis in self._axes])
        return np.stack([axis[i] for axis, i in zip(self._axes, where, strict=True)], axis=1)

    def _scan(self, xi: Array) -> Array:
        """The values at the first grid."""
        if self._features is not None:
            return self._features @ xi
        half = _half([len(axis) for axis in self._axes])
        left, right = self._axes[:half], self._axes[half:]
        x = mesh([*left, *(axis[:1] for axis in right)])
        steps = mesh([*(np.zeros(1) for _ in left), *(axis - axis[0] for axis in right)])
        return self._sampler.sums(x, steps, xi).ravel()

    def _refined(self, level: int, centres: Array, xi: Array, least: float) -> tuple[Array, Array]:
        """The points of a level in the cells of the level before, where values exceed ``least``."""
        steps = mesh([THIRDS] * centres.shape[1]) * self._spacings[level - 1]
        found = []
        for cells in np.array_split(centres, ceil(len(centres) * max(len(steps), len(xi)) / KEPT)):
            values = self._sampler.sums(cells, steps, xi).ravel()
            points = (cells[:, None] + steps).reshape(-1, centres.shape[1])
            inside = ((points >= self._low) & (points <= self._high)).all(axis=1)
            values[~inside] = -inf
            keep = _above(values, least)
            found.append((points[keep], values[keep]))
        points, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return points, values

    def _law(self, known: Array, spacing: Array) -> tuple[float, float]:
        """The smallest rho and the largest s at the probes, for half a diagonal of a cell."""
        inward = np.where(2.0 * self._probes < self._low + self._high, 0.5, -0.5)
        near = self._sampler.features(self._probes + inward * spacing)
        slopes = self._sampler.gradient(self._probes) * spacing
        given = np.concatenate([known[:, :, None], slopes], axis=2)
        weights = (np.linalg.pinv(given) @ near[:, :, None])[:, :, 0]
        rest = near - np.einsum("nrk,nk->nr", given, weights)
        rho = float(np.clip(weights[:, 0].min(), 0.0, 1.0))
        return rho, float(np.linalg.norm(rest, axis=1).max())

    def _climb(self, start: Array, xi: Array) -> tuple[Array, float]:
        """The local maximum above a point, and its value."""
        # The tolerances are for values of about 1.
        size = self._sd * _rms(xi) or 1.0

        def fall(steps: Array) -> tuple[float, Array]:
            value, slope = self._sampler.pull((start + self._unit * steps)[None], xi[None])
            return -float(value[0]) / size, slope[0] * self._unit / -size

        low, high = (self._low - start) / self._unit, (self._high - start) / self._unit
        end = descend(fall, np.zeros(len(start)), (low, high), maxiter=200, ftol=1e-15, gtol=1e-8)
        top = np.clip(start + self._unit * end.x, self._low, self._high)
        return top, float((self._sampler.features(top[None]) @ xi)[0])


def _higher(one: tuple[Array, float], other: tuple[Array, float]) -> tuple[Array, float]:
    return other if other[1] > one[1] else one


def _rms(xi: Array) -> float:
    return float(np.sqrt(np.mean(np.square(xi))))


def _above(values: Array, least: float) -> IntArray:
    """The indices of values above ``least``, or of the largest value if there is none."""
    keep = np.flatnonzero(values > least)
    return keep if len(keep) else np.array([values.argmax()])


def _counts(cells: Array) -> list[int]:
    """The points per axis of a grid that has at least so many cells per axis."""
    return [1 + max(1, ceil(n - 1e-9)) for n in cells.tolist()]


def _half(counts: Sequence[int]) -> int:
    """How many of the first axes make up half of the grid, so that both halves are small."""
    return min(range(len(counts)), key=lambda k: max(prod(counts[:k]), prod(counts[k:])))


def _side(counts: Sequence[int]) -> int:
    half = _half(counts)
    return max(prod(counts[:half]), prod(counts[half:]))


def _tops(points: Array, values: Array) -> IntArray:
    """The points that no neighbor on a grid of spacing 1 exceeds, the highest first."""
    pairs = cKDTree(points).query_pairs(1.01, p=1, output_type="ndarray")
    tops = np.ones(len(points), dtype=bool)
    i, j = pairs.T
    tops[np.where(values[i] < values[j], i, j)] = False
    order = np.argsort(-values, kind="stable")
    return order[tops[order]]

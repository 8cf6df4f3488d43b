r"""The prior covariance of a function of a box that moves in time, as the present sees it.

.. math:: \mathrm{Cov}(f_t(x), f_s(z)) = \sum_i k_i(x, z) T_i(t, s)

Most models have one term.
"""

import math
from collections.abc import Iterator
from functools import cached_property, reduce

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Kernel, Sum
from gpbandits_env.gp.kernels.columns import Columns, ScaledColumns, SumColumns
from gpbandits_env.gp.kernels.stationary import MANY
from gpbandits_env.gp.model import terms
from gpbandits_env.gp.samplers import BoxSampler, FourierFeatures, exact_features, joined_features
from gpbandits_env.gp.temporal import MarkovTime, TemporalKernel

# With epsilon, time is measured in the logarithm of correlation, so that epsilon may change: after
# one unit the correlation is 1/e.
UNIT_DECAY = MarkovTime(-math.expm1(-2.0))
# How many more points than needed are kept, and for how many more there is room.
SPARE, ROOM = 1.25, 64


class InSpace:
    """A kernel among the points of a box; what is known is kept for the next points."""

    def __init__(self, kernel: Kernel, dim: int) -> None:
        self._kernel, self._known = kernel, dict[bytes, int]()
        self._points, self._block = np.empty((0, dim)), np.empty((0, 0))

    def among(self, points: Array) -> Array:
        """k(x_i, x_j) for points (n, d), (n, n); O(n^2), and O(n d) per point that is new."""
        places = self._places(points)
        return self._block[np.ix_(places, places)]

    def sums(self, points: Array, weights: Array) -> Array:
        """The sums over j of k(x_i, x_j) weights_j, (n,), at the same cost."""
        places, count = self._places(points), len(self._known)
        every = np.bincount(places, weights, count)
        return np.asarray((self._block[:count, :count] @ every)[places])

    def _places(self, points: Array) -> IntArray:
        """The numbers of points in the block, to which new ones are added."""
        keys = [point.tobytes() for point in points]
        if len(self._known) > SPARE * len(keys) + ROOM:
            left = [key for key in dict.fromkeys(keys) if key in self._known]
            some = [self._known[key] for key in left]
            self._known = {key: i for i, key in enumerate(left)}
            self._points, self._block = self._points[some], self._block[np.ix_(some, some)]
        before = len(self._known)
        numbers = [self._known.setdefault(key, len(self._known)) for key in keys]
        places = np.array(numbers, dtype=np.intp)
        count = len(self._known)
        if count > before:
            first = np.unique(places, return_index=True)[1]
            new = points[first[places[first] >= before]]
            self._points = np.concatenate([self._points, new])
            if count > len(self._block):
                old, most = self._block, int(SPARE * count) + ROOM
                self._block = np.empty((most, most))
                self._block[:before, :before] = old[:before, :before]
            rows = self._kernel(new, self._points)
            self._block[before:count, :count] = rows
            self._block[:before, before:count] = rows[:, :before].T
        return places


class SpaceTime:
    """The terms k_i T_i of a prior covariance.

    Args:
        box: the domain of x.
        kernel: the covariance in space; a sum, if there are several terms.
        temporal: the covariance in time; None for that of the epsilon of `Posterior.advance`.
    Raises:
        InvalidInput: the kernel is for other points, or the prior variance changes with time, and
            the kernel has none.
    """

    def __init__(self, box: Box, kernel: Kernel, temporal: TemporalKernel | None) -> None:
        self._box, self._given, self._time = box, temporal, temporal or UNIT_DECAY
        self._terms, self.stationary = terms(kernel, self._time), self._time.stationary
        self._centre = 0.5 * (box.low + box.high)
        # A convex prior variance, such as that of the linear kernel, is largest at a corner.
        farthest = np.where(np.abs(box.low) > np.abs(box.high), box.low, box.high)
        self._corners = np.stack([box.low, box.high, farthest])
        kernel.check_points(self._corners)
        # Under a temporal kernel, data are often learned anew without some of them. What is kept is
        # the same to the last digit if it is computed from differences of coordinates.
        apart = temporal is not None and len(self._terms) == 1 and box.dim < MANY
        self._in_space = InSpace(kernel, box.dim) if apart and kernel.radial is not None else None
        if not self.stationary:
            kernel.scaled(1.0)  # an error that a later time would raise

    def __call__(self, x: Array, z: Array, t: Array, s: Array) -> Array:
        """The covariances of points x at times t with points z at times s, (k, m)."""
        return reduce(np.add, [kernel(x, z) * in_time(t, s) for kernel, in_time in self._terms])

    def strips(self, points: Array, stamps: Array, size: int) -> Iterator[Array]:
        """The covariances of each ``size`` data with those up to the last of them, (k, m)."""
        known = None if self._in_space is None else self._in_space.among(points)
        for start in range(0, len(points), size):
            part, upto = slice(start, start + size), slice(min(start + size, len(points)))
            if known is None:
                yield self(points[part], points[upto], stamps[part], stamps[upto])
            else:
                yield known[part, upto] * self._time(stamps[part], stamps[upto])

    def sums(self, points: Array, weights: Array, now: float) -> Array | None:
        """The weighted sums (n,) of the covariances of points now, or None; O(n^2) where known."""
        if self._in_space is None:
            return None
        return self._in_space.sums(points, weights * self._time.spread(now))

    def left(self, age: float) -> float:
        """The largest correlation with the present after so much time."""
        return float(np.abs(self._time.transition(age)).max())

    def spreads(self, now: float) -> list[float]:
        """The factors of the variances of the terms at a time."""
        if self._given is None:
            return [1.0]
        return [in_time.spread(now) for _, in_time in self._terms]

    def present(self, now: float) -> Kernel:
        """The covariance among points at a time."""
        parts = [
            kernel if math.isclose(spread, 1.0, rel_tol=1e-12) else kernel.scaled(spread)
            for (kernel, _), spread in zip(self._terms, self.spreads(now), strict=True)
        ]
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))

    def largest(self, present: Kernel) -> float:
        """The largest variance in the box."""
        return float(present.diagonal(self._corners).max())

    def fades(self, now: float, stamps: Array) -> list[Array]:
        """For each term the covariances in time of the present with stamps, over its variance."""
        pairs = zip(self._terms, self.spreads(now), strict=True)
        return [in_time(np.array([now]), stamps)[0] / spread for (_, in_time), spread in pairs]

    def decay(self, now: float, stamps: Array) -> Array | None:
        """The common decay of the covariances with data, oldest first, (t,); None for 1."""
        still = self._given is None and len(stamps) and stamps[0] == now
        if not len(stamps) or still or len(self._terms) > 1:
            return None
        return self.fades(now, stamps)[0]

    def columns(self, present: Kernel, points: Array, now: float, stamps: Array) -> Columns:
        """The covariances of the present function with data, up to their common decay."""
        if len(self._terms) == 1:
            return present.columns(points, self._centre)
        pairs = zip(present.parts, self.fades(now, stamps), strict=True)
        return SumColumns([ScaledColumns(k.columns(points, self._centre), f) for k, f in pairs])

    def drifts(self, now: float, stamps: Array) -> list[tuple[Array, Array] | None]:
        """For each term what `paths.seen_by` needs of the times of data."""
        if self._given is None and self.decay(now, stamps) is None:
            return [None]
        found: list[tuple[Array, Array] | None] = []
        each = zip(self._terms, self.spreads(now), self.fades(now, stamps), strict=True)
        for (_, in_time), spread, fade in each:
            found.append((fade, in_time(stamps, stamps) - spread * np.outer(fade, fade)))
        return found

    @cached_property
    def exact_features(self) -> BoxSampler | None:
        """Features of all terms that are exact to 1e-12; None if there are not few of them."""
        made = [exact_features(self._box, kernel) for kernel, _ in self._terms]
        return joined_features([part for part in made if part]) if all(made) else None

    def random_features(self, count: int, rng: np.random.Generator) -> BoxSampler:
        """So many random features of each term."""
        made = [FourierFeatures(kernel, self._box.dim, count, rng) for kernel, _ in self._terms]
        return joined_features(made)

"""Gradient ascent in a box from many starts together, and the surfaces that it maximizes.

This is projected L-BFGS. For each start, coordinates at a face of the box whose gradient points
outside are held. For the others, the two-loop recursion gives a direction, and the step along it is
clipped to the box and shortened until it gains enough (Armijo). Each iteration evaluates one trial
point per unfinished start, all in one call: a start whose trial fails shortens its step, and the
others continue. Steps end on a grid. Otherwise an ascent would magnify what processors round
differently, and the next round would magnify it further.

Source: Nocedal & Wright (2006), Algorithms 3.1 and 7.4; Bertsekas (1982), "Projected Newton methods
for optimization problems with simple constraints", for the coordinates that are held.

Departures: 1. the strong Wolfe conditions are not enforced: a step without positive curvature is
not stored, but makes the next steps longer; 2. the recursion uses only the free coordinates of the
stored steps.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition, Feasibility
from gpbandits_env.agents.embeddings.embedding import BoxMap
from gpbandits_env.agents.search.search import Region
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.posterior import BoxPosterior

# Maps points (b, d) and the indices (b,) of their starts to values (b,) and gradients (b, d).
Surface: TypeAlias = Callable[[Array, IntArray], tuple[Array, Array]]
# Maps points (b, d) to values (b,).
Score: TypeAlias = Callable[[Array], Array]

# The largest number of stored steps: 10 do not end higher, and more than d + 2 gain nothing.
MEMORY = 5
# The gain required of a step, relative to the gain that the slope predicts, and that at which a
# start is finished, relative to its value.
ARMIJO, TOLERANCE = 1e-4, 1e-8
# The first step, and the longest step by curvature alone, relative to the sides of the box.
FIRST_STEP, LONGEST_STEP = 0.05, 0.5
# After a step along which the gradient did not decrease, the next steps are longer by this factor,
# up to a limit at which all relevant coordinates have reached a face of the box.
STRETCH, LONGEST_STRETCH = 4.0, 1e6
# After this many failed trials in a row the stored steps are dropped; after as many again, the
# start is finished.
MOST_FAILURES = 8
# The number of steps of the grid along a side of the box. A step is far longer than what processors
# round differently (1e-12 to 1e-9), so that they seldom disagree; and a smooth maximum between two
# points is lost by about the square of a step.
GRID = 2.0**20
# The least curvature along a stored step, so that its inverse is finite.
TINY = float(np.finfo(float).tiny)


def climb(
    surface: Surface, starts: Array, low: Array, high: Array, *, evaluations: int
) -> tuple[Array, Array]:
    """Local maxima of a surface in a box, one per start and never below its value.

    A start is finished when the expected gain of its next step is below `TOLERANCE`. Points with
    value -inf or NaN are never accepted. Coordinates are scaled by the sides of the box.

    Args:
        surface: values and gradients; called once per iteration with all unfinished starts.
        starts: (n, d) points in the box.
        low: (d,) the lower corner.
        high: (d,) the upper corner, above ``low``.
        evaluations: the number of points that may be evaluated, for all starts together; the starts
            are evaluated in any case.

    Returns:
        The points (n, d) and their values (n,).
    """
    climbers = _Climbers(surface, starts, low, high)
    spent = len(starts)
    while len(climbers.rows) and spent + len(climbers.rows) <= evaluations:
        spent += climbers.step()
    return climbers.result()


class _Climbers:
    """All unfinished starts, compacted, in coordinates of [0, 1]^d."""

    def __init__(self, surface: Surface, starts: Array, low: Array, high: Array) -> None:
        self._surface, self._low, self._high, self._sides = surface, low, high, high - low
        n, d = starts.shape
        self._points, self._values = np.array(starts, dtype=np.float64), np.full(n, -np.inf)
        self.rows: IntArray = np.arange(n)
        self._u = np.clip((self._points - low) / self._sides, 0.0, 1.0)
        self._f, self._g = self._evaluate(self._u)
        self._values[:] = self._f
        memory = min(MEMORY, d + 2)
        # The stored steps and decreases of the gradient, newest first, and their `_weights`.
        self._pairs = np.zeros((2, memory, n, d))
        self._rho, self._gamma = np.zeros((memory, n)), np.ones(n)
        self._remembered = np.zeros(n, dtype=np.int64)
        self._length, self._failures = np.ones(n), np.zeros(n, dtype=np.int64)
        self._stretch = np.ones(n)

    def result(self) -> tuple[Array, Array]:
        """All points and values."""
        self._settle(np.ones(len(self.rows), dtype=np.bool_))
        return self._points, self._values

    def step(self) -> int:
        """Try one point of each start; return how many points were evaluated."""
        move = self._direction()
        move *= self._length[:, None]
        trial = np.minimum(np.maximum(self._u + move, 0.0), 1.0)
        near = trial * GRID
        np.multiply(np.rint(near, out=near), 1.0 / GRID, out=near)
        np.copyto(trial, near, where=trial != self._u)
        move = trial - self._u
        slope = np.einsum("ij,ij->i", move, self._g)
        # With a full step, the slope is about twice the expected gain.
        promised = slope / self._length
        going = promised > TOLERANCE * np.abs(self._f)
        going &= self._failures < 2 * MOST_FAILURES
        if np.count_nonzero(going) < len(going):
            self._settle(~going)
            self._keep(going)
            trial, move, slope = trial[going], move[going], slope[going]
            if not len(self.rows):
                return 0
        f, g = self._evaluate(trial)
        better = f >= self._f + ARMIJO * slope
        self._shorten(~better, f, slope)
        self._accept(better, trial, move, f, g)
        return len(trial)

    def _evaluate(self, u: Array) -> tuple[Array, Array]:
        x = np.minimum(self._low + self._sides * u, self._high)
        f, g = self._surface(x, self.rows)
        g = g * self._sides
        bad = ~np.isfinite(f)
        if np.count_nonzero(bad):
            f = np.where(np.isposinf(f), f, np.where(bad, -np.inf, f))
            g[bad] = 0.0
        return f, g

    def _direction(self) -> Array:
        """The ascent step from each point, (b, d)."""
        uphill, u = self._g, self._u
        held = ((u <= 0.0) & (uphill < 0.0)) | ((u >= 1.0) & (uphill > 0.0))
        some_held = np.count_nonzero(held) > 0
        if some_held:
            uphill = np.where(held, 0.0, uphill)
        most = int(self._remembered.max(initial=0))
        if not most:
            return self._steepest(uphill)
        (steps, falls), rho, gamma = self._pairs[:, :most], self._rho, self._gamma
        if some_held:
            steps, falls = np.where(held, 0.0, steps), np.where(held, 0.0, falls)
            rho, gamma = _weights(steps, falls)
        move = _two_loops(uphill, steps, falls, rho, gamma)
        newton = (rho > 0.0).any(axis=0)
        newton &= np.einsum("ij,ij->i", move, uphill) > 0.0
        limit = np.minimum(1.0, LONGEST_STEP / largest(move))
        move *= (self._stretch * limit)[:, None]
        if np.count_nonzero(newton) == len(newton):
            return move
        return np.where(newton[:, None], move, self._steepest(uphill))

    def _steepest(self, uphill: Array) -> Array:
        """The first steps along the gradients (b, d) of the free coordinates."""
        return uphill * (FIRST_STEP * self._stretch / largest(uphill))[:, None]

    def _shorten(self, failed: NDArray[np.bool_], f: Array, slope: Array) -> None:
        """Shorten failed steps by the parabola through the known values and the slope."""
        if not np.count_nonzero(failed):
            return
        missing = self._f[failed] + slope[failed] - f[failed]  # inf where the trial is -inf
        factor = np.clip(0.5 * slope[failed] / missing, 0.1, 0.5)
        self._length[failed] *= factor
        self._failures[failed] += 1
        tired = failed & (self._failures == MOST_FAILURES)
        if np.count_nonzero(tired):
            fresh = tired & ((self._remembered > 0) | (self._stretch > 1.0))
            self._length[fresh], self._stretch[fresh], self._remembered[fresh] = 1.0, 1.0, 0
            self._pairs[:, :, fresh], self._rho[:, fresh] = 0.0, 0.0

    def _accept(
        self, better: NDArray[np.bool_], trial: Array, move: Array, f: Array, g: Array
    ) -> None:
        """Accept better trials, and store the steps with positive curvature."""
        fall = self._g - g
        curvature, size = np.einsum("ij,ij->i", move, fall), np.einsum("ij,ij->i", fall, fall)
        # Both sides are in the units of the surface.
        least = 1e-10 * np.sqrt(size * np.einsum("ij,ij->i", move, move))
        kept = better & (curvature > np.maximum(least, TINY))
        flat = better & ~kept
        if np.count_nonzero(kept):
            pairs, rho = self._pairs, self._rho
            np.copyto(pairs[:, 1:], pairs[:, :-1], where=kept[:, None])
            np.copyto(pairs[0, 0], move, where=kept[:, None])
            np.copyto(pairs[1, 0], fall, where=kept[:, None])
            np.copyto(rho[1:], rho[:-1], where=kept)
            np.divide(1.0, curvature, out=rho[0], where=kept)
            np.copyto(self._gamma, 1.0, where=kept)
            np.divide(curvature, size, out=self._gamma, where=kept & (size > 0.0))
            self._remembered += kept & (self._remembered < len(rho))
            self._stretch[kept] = 1.0
        if np.count_nonzero(flat):
            self._stretch[flat] = np.minimum(STRETCH * self._stretch[flat], LONGEST_STRETCH)
        np.copyto(self._u, trial, where=better[:, None])
        np.copyto(self._g, g, where=better[:, None])
        np.copyto(self._f, f, where=better)
        self._length[better], self._failures[better] = 1.0, 0

    def _settle(self, done: NDArray[np.bool_]) -> None:
        """Record the present points; a start that did not move stays exactly as given."""
        moved = done & (self._f > self._values[self.rows])
        rows = self.rows[moved]
        self._points[rows] = np.minimum(self._low + self._sides * self._u[moved], self._high)
        self._values[rows] = self._f[moved]

    def _keep(self, going: NDArray[np.bool_]) -> None:
        left = np.flatnonzero(going)
        self.rows, self._u, self._f = self.rows[left], self._u.take(left, axis=0), self._f[left]
        self._g, self._pairs = self._g.take(left, axis=0), self._pairs.take(left, axis=2)
        self._rho, self._gamma = self._rho.take(left, axis=1), self._gamma[left]
        self._remembered, self._length = self._remembered[left], self._length[left]
        self._failures, self._stretch = self._failures[left], self._stretch[left]


def largest(rows: Array) -> Array:
    """The largest size of an entry of each row (b, d), or a tiny number, (b,)."""
    size: Array = np.abs(rows).max(axis=1)
    return np.maximum(size, 1e-300)


def _weights(steps: Array, falls: Array) -> tuple[Array, Array]:
    """Nocedal & Wright, eqs. (7.17) and (7.20), newest first; rho is 0 where no curvature is."""
    curvature = np.einsum("hij,hij->hi", steps, falls)
    usable = curvature >= TINY
    rho = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=usable)
    newest, own = usable.argmax(axis=0), np.arange(steps.shape[1])
    last = falls[newest, own]
    size = np.einsum("ij,ij->i", last, last)
    gamma = np.divide(curvature[newest, own], size, out=np.ones_like(size), where=size > 0.0)
    return rho, gamma


def _two_loops(gradient: Array, steps: Array, falls: Array, rho: Array, gamma: Array) -> Array:
    """The inverse Hessian times the gradients (b, d): Nocedal & Wright, Algorithm 7.4."""
    q, parts = gradient.copy(), []
    stored = list(zip(steps, falls, rho[: len(steps)], strict=True))
    for s, y, r in stored:
        part = np.einsum("ij,ij->i", s, q)
        part *= r
        q -= part[:, None] * y
        parts.append(part)
    q *= gamma[:, None]
    for (s, y, r), part in zip(stored[::-1], parts[::-1], strict=True):
        part -= r * np.einsum("ij,ij->i", y, q)
        q += part[:, None] * s
    return q


def chained(
    acquisition: Acquisition, mean: Array, var: Array, mean_slope: Array, var_slope: Array
) -> tuple[Array, Array]:
    """The score (n,) and its gradient (n, d) by the chain rule; overwrites the two slopes."""
    values, in_mean, in_var = acquisition.score_and_gradient(mean, var)
    mean_slope *= in_mean[:, None]
    var_slope *= in_var[:, None]
    mean_slope += var_slope
    return values, mean_slope


def surfaces(
    acquisition: Acquisition,
    posterior: BoxPosterior,
    allowed: Region | None = None,
    feasibility: Feasibility | None = None,
) -> tuple[Surface, Score]:
    """The acquisition with its gradient, and alone; -inf outside a region, which no ascent leaves.

    With a feasibility the acquisition is logarithmic, and log-probabilities are added to it.
    """

    def climbed(x: Array, rows: IntArray) -> tuple[Array, Array]:
        values, slope = chained(acquisition, *posterior.gradients(x))
        if feasibility is None:
            return values, slope
        chance, its_slope = feasibility.value_and_gradient(x)
        return values + chance, slope + its_slope

    def score(x: Array) -> Array:
        found = acquisition.score(*posterior.moments(x))
        if feasibility is not None:
            found += feasibility.log_probability(x)
        return found if allowed is None else np.where(allowed(x), found, -np.inf)

    return climbed if allowed is None else confined(climbed, lambda x, rows: allowed(x)), score


def confined(climbed: Surface, inside: Callable[[Array, IntArray], NDArray[np.bool_]]) -> Surface:
    """A surface that is -inf, without a gradient, where ``inside`` does not hold."""

    def within(x: Array, rows: IntArray) -> tuple[Array, Array]:
        values, slope = climbed(x, rows)
        here = inside(x, rows)
        return np.where(here, values, -np.inf), np.where(here[:, None], slope, 0.0)

    return within


def pulled(climbed: Surface, through: BoxMap | None) -> Surface:
    """A surface over the large box of a map, as a surface over its small box."""
    if through is None:
        return climbed

    def on_small(y: Array, rows: IntArray) -> tuple[Array, Array]:
        values, gradients = climbed(through.lift(y), rows)
        return values, through.pull(y, gradients)

    return on_small


def along(climbed: Surface, free: Array | None) -> Surface:
    """A surface in which only the free coordinates have a gradient."""
    if free is None:
        return climbed

    def moved(x: Array, rows: IntArray) -> tuple[Array, Array]:
        values, gradients = climbed(x, rows)
        return values, gradients * free

    return moved

r"""Linear constraints within a box: which points satisfy them, repairs, and ascents along them.

A coordinate may be the logarithm of a number. Constraints are linear in the numbers, so that every
repair is computed there. Points that a search proposes keep a margin of 1e-9 from inequalities, so
that these hold in floating point too, unless only integers occur in them; equalities hold to 1e-9
of their size.

Source: Kraft (1988), "A software package for sequential quadratic programming" (SLSQP, by SciPy).
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

from gpbandits_env.agents.search.climb import Surface
from gpbandits_env.arrays import Array, descending, leading
from gpbandits_env.errors import InvalidInput

Mask: TypeAlias = NDArray[np.bool_]

# The tolerance of constraints whose rows have norm 1, for numbers in [0, 1].
TOLERANCE = 1e-9
# The number of ends of ascents that are improved along the constraints, and for each the number of
# ascents and their steps; the gain at which one is finished, relative to its value.
SLIDES, LEGS, STEPS, GAIN = 3, 4, 10, 1e-8
# The number of steps of a grid along a side of the cube, on which each of these ascents ends, for
# the reason that `climb` has. SciPy's own steps are on no grid, so it is coarser.
GRID = 2.0**16
# The value of a point without a finite score.
LOWEST = -1e10


class LinearLimits:
    """Constraints low <= A w <= high on the numbers w in [0, 1]^d of a unit cube.

    Args:
        matrix: A, (k, d).
        low: (k,), -inf for none.
        high: (k,), inf for none.
        logs: (d,) the logarithm of the ratio of the ends of a logarithmic coordinate, 0 for others.
        free: (d,) 1.0 for continuous coordinates, 0.0 for others; None if all are continuous.
    Attributes:
        anchor: a point (d,) that satisfies all constraints, as far inside as possible.
    Raises:
        InvalidInput: no point satisfies all constraints.
    """

    def __init__(
        self, matrix: Array, low: Array, high: Array, logs: Array, free: Array | None = None
    ) -> None:
        size = np.linalg.norm(matrix, axis=1)
        if not size.all():
            raise InvalidInput("a linear constraint needs a coefficient other than 0")
        matrix, low, high = matrix / size[:, None], low / size, high / size
        equal = low == high
        self._equal, self._level = matrix[equal], high[equal]
        rows = [(matrix, high), (-matrix, -low)]
        self._above = np.concatenate([a[~equal & np.isfinite(b)] for a, b in rows])
        self._bound = np.concatenate([b[~equal & np.isfinite(b)] for _, b in rows])
        self._logs, self._curved = logs, logs != 0.0
        self._free = np.ones(len(logs), dtype=np.bool_) if free is None else free > 0.0
        # If continuous coordinates alone can satisfy the equalities, rounded ones need not move.
        movable = self._equal * self._free
        # Before NumPy 2, a matrix without rows has no rank.
        alone = not len(movable) or np.linalg.matrix_rank(movable) == len(movable)
        self._inverse = np.linalg.pinv(movable if alone else self._equal)
        self.anchor = self._inside(len(logs))
        at_anchor = self._above @ self.anchor
        # Integers on a bound are exact; with a margin, none of them would be proposed.
        margin = TOLERANCE * (self._above[:, self._free] != 0.0).any(axis=1)
        self._kept = np.minimum(self._bound, np.maximum(at_anchor, self._bound - margin))

    def holds(self, points: Array) -> Mask:
        """Whether points (n, d) of the unit cube satisfy all constraints, up to 1e-9, (n,)."""
        return self._within(points, self._bound + TOLERANCE)

    def proposable(self, points: Array) -> Mask:
        """Whether a search may propose points (n, d), which keep the margin, (n,)."""
        return self._within(points, self._kept + 1e-3 * TOLERANCE)

    def _within(self, points: Array, bound: Array) -> Mask:
        w = self.numbers(points)
        holds = (np.abs(w @ self._equal.T - self._level) <= TOLERANCE).all(axis=1)
        return np.asarray(holds & (w @ self._above.T <= bound).all(axis=1))

    def repaired(self, points: Array) -> Array:
        """Points (n, d) that may be proposed: each is moved towards the anchor, if necessary."""
        wrong = ~self.proposable(points)
        if not wrong.any():
            return points
        w = self.numbers(points[wrong])
        w = w - (w @ self._equal.T - self._level) @ self._inverse.T
        way = w - self.anchor
        # Constraints of the cube: a projection on equalities may have left it.
        rows = np.concatenate([self._above, np.eye(len(self.anchor)), -np.eye(len(self.anchor))])
        ends = np.concatenate([self._kept, np.ones(len(self.anchor)), np.zeros(len(self.anchor))])
        room, speed = ends - rows @ self.anchor, way @ rows.T
        part = np.divide(room, speed, out=np.ones_like(speed), where=speed > 1e-15)
        part = np.clip(part.min(axis=1), 0.0, 1.0)
        found = points.copy()
        found[wrong] = self._points(np.clip(self.anchor + part[:, None] * way, 0.0, 1.0))
        return found

    def slid(self, surface: Surface, ends: Array, values: Array) -> tuple[Array, Array]:
        """The ends of ascents with their values, the best of them improved along constraints.

        Args:
            surface: the surface of the ascents, of which row i belongs to end i.
            ends: (n, d) points that satisfy the constraints.
            values: (n,).
        """
        ends, values = ends.copy(), values.copy()
        if not self._free.any():
            return ends, values
        for i in descending(values)[:SLIDES]:
            for _ in range(LEGS):
                end = self._settled(self._slide(surface, ends[i], values[i], i))
                value = float(surface(end, np.array([i]))[0][0])
                if not leading(np.array([values[i], value])) or not self.proposable(end)[0]:
                    break
                ends[i], values[i] = end[0], value
        return ends, values

    def _slide(self, surface: Surface, start: Array, value: float, row: int) -> Array:
        """The end (d,) of one ascent by sequential quadratic programming."""
        moves, which = self._free, np.array([row])
        size = abs(value) if 1e-100 < abs(value) < np.inf else 1.0

        def full(x: Array) -> Array:
            point = start.copy()
            point[moves] = np.clip(x, 0.0, 1.0)
            return point[None]

        def fall(x: Array) -> tuple[float, Array]:
            height, slope = surface(full(x), which)
            if not np.isfinite(height[0]):
                return -LOWEST, np.zeros(int(moves.sum()))
            return -float(height[0]) / size, -slope[0, moves] / size

        def side(rows: Array, ends: Array, kind: str) -> dict[str, object]:
            return {
                "type": kind,
                "fun": lambda x: ends - self.numbers(full(x))[0] @ rows.T,
                "jac": lambda x: -(rows * self._slope(full(x)[0]))[:, moves],
            }

        sides = (self._above, self._kept, "ineq"), (self._equal, self._level, "eq")
        given: Any = [side(*one) for one in sides if len(one[0])]
        bounds = [(0.0, 1.0)] * int(moves.sum())
        found = minimize(
            fall, start[moves], jac=True, method="SLSQP", bounds=bounds, constraints=given,
            options={"maxiter": STEPS, "ftol": GAIN},
        )  # fmt: skip
        return full(found.x)[0] if np.isfinite(found.x).all() else start

    def _settled(self, end: Array) -> Array:
        """The point of the grid next to an end, on the constraints that the end meets, (1, d)."""
        near = np.where(self._free, np.rint(end * GRID) / GRID, end)
        met = self._above @ self.numbers(end[None])[0] > self._kept - 1.0 / GRID
        rows = np.concatenate([self._equal, self._above[met]])
        level = np.concatenate([self._level, self._kept[met]])
        # What lies on a face of the cube stays there.
        moves = (near > 0.0) & (near < 1.0) & self._free
        w = self.numbers(near[None])
        w += (level - w @ rows.T) @ np.linalg.pinv(rows * moves, rcond=TOLERANCE).T
        return self.repaired(self._points(np.clip(w, 0.0, 1.0)))

    def numbers(self, points: Array) -> Array:
        """The numbers w (n, d) of points (n, d) of the unit cube."""
        w, logs = points.copy(), self._logs[self._curved]
        w[:, self._curved] = np.expm1(points[:, self._curved] * logs) / np.expm1(logs)
        return w

    def _points(self, w: Array) -> Array:
        """The inverse of `numbers`."""
        points, logs = w.copy(), self._logs[self._curved]
        points[:, self._curved] = np.log1p(w[:, self._curved] * np.expm1(logs)) / logs
        return np.clip(points, 0.0, 1.0)

    def _slope(self, point: Array) -> Array:
        """The derivative (d,) of each number in its coordinate."""
        slope, logs = np.ones(len(point)), self._logs[self._curved]
        slope[self._curved] = logs * np.exp(point[self._curved] * logs) / np.expm1(logs)
        return slope

    def _inside(self, dim: int) -> Array:
        """The numbers that are farthest from all inequalities and faces of the cube."""
        # The variables are w and the distance r: A w + r <= b, r <= w <= 1 - r.
        cube = np.concatenate([np.eye(dim), -np.eye(dim)])
        rows = np.column_stack(
            [np.concatenate([self._above, cube]), np.ones(len(self._above) + 2 * dim)]
        )
        ends = np.concatenate([self._bound, np.ones(dim), np.zeros(dim)])
        equal = np.column_stack([self._equal, np.zeros(len(self._equal))])
        found = linprog(
            -np.eye(dim + 1)[dim], A_ub=rows, b_ub=ends,
            A_eq=equal if len(equal) else None, b_eq=self._level if len(equal) else None,
            bounds=[(0.0, 1.0)] * dim + [(0.0, None)],
        )  # fmt: skip
        if found.x is None:
            raise InvalidInput("no point of the space satisfies all linear constraints")
        return np.clip(np.asarray(found.x[:dim], dtype=np.float64), 0.0, 1.0)

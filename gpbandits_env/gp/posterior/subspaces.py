"""Posterior moments in many affine subspaces of a box, with the constant parts stored.

A subspace fixes all but a few coordinates: x = (z_s, y). The squared distance of x to an observed
point is |z_s - x_i|^2 over the fixed coordinates plus |y - x_i|^2 over the few active ones. The
first part is stored for each subspace and point. Moments then cost O(t d + t^2) per point,
independent of the dimension of the box.

Source: tranthe2020, Proposed Method (the subspaces of MS-UCB); the caching is ours.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Kernel, Stationary
from gpbandits_env.gp.kernels.stationary import StationaryColumns, squares
from gpbandits_env.gp.posterior.box import BoxPosterior
from gpbandits_env.gp.posterior.whitening import pieces
from gpbandits_env.gp.threads import OneThread

# Fixed parts are stored in blocks of about this many numbers (32 MB in single precision), so that
# new ones need no copies.
BLOCK = 1 << 23
# They are converted to double precision this many numbers (1 MB) at a time, which fit the cache.
STRIP = 1 << 17


class Subspaces:
    """Posterior moments in subspaces {(z_s, y)} of a box with the same active coordinates.

    `follow` updates to a posterior in any state. A new observation costs O(S D) for S subspaces,
    and a new subspace costs O(t D). New lengthscales cost O(S t D) if there is one per coordinate,
    and nothing otherwise.

    Memory: the fixed parts need 4 S (D - d) bytes in single precision, and the distances 8 S t
    bytes. The fixed parts are rounded when they are added, and stay in the box. The moments at the
    rounded points are exact.

    Args:
        box: the whole box.
        active: (d,) the active coordinates, 0 <= d <= D, all distinct.

    Attributes:
        posterior: the posterior of the last call of `follow`, whose moments are returned.
    """

    posterior: BoxPosterior
    _kernel: Kernel
    # The kernel in the active coordinates, and its covariances with the data there.
    _within: Stationary
    _columns: StationaryColumns

    def __init__(self, box: Box, active: IntArray) -> None:
        self._box, self.active = box, active
        self.inactive: IntArray = np.setdiff1d(np.arange(box.dim), active)
        self._fixed = FixedParts(box.low[self.inactive], box.high[self.inactive])
        self._distances = Distances(self._fixed)
        self._seen, self._centre = np.empty((0, box.dim)), 0.5 * (box.low + box.high)
        self._version = -1

    @property
    def size(self) -> int:
        """The number S of subspaces."""
        return self._fixed.count

    def add(self, fixed: Array) -> None:
        """Append subspaces of fixed coordinates (N, D - d) in the box, ordered as ``inactive``."""
        rows = self._fixed.extend(fixed)
        with OneThread():
            self._distances.fill(rows, 0)

    def points(self, y: Array, rows: IntArray) -> Array:
        """The points (B, D) of the box at active coordinates y (B, d) in subspaces rows (B,)."""
        x = np.empty((len(rows), self._box.dim))
        x[:, self.active] = y
        x[:, self.inactive] = self._fixed.take(rows)
        return x

    def moments(self, y: Array, rows: IntArray) -> tuple[Array, Array]:
        """Posterior mean and variance (B,) at active coordinates y (B, d) in subspaces rows (B,).

        They equal those of the posterior at `points`. Cost: O(B t (d + t)), in pieces.
        """
        kernel = self._kernel.radial
        if kernel is None:
            mean, var = self._whole(y, rows, self.posterior.moments)
            return mean, var

        mean = np.full(len(rows), self.posterior.prior_mean)
        var = np.full(len(rows), kernel.variance)
        self.posterior.predictor.moments(
            mean, var, lambda part: self._columns(y[part], self._distances.take(rows[part]))
        )
        return mean, var

    def gradients(self, y: Array, rows: IntArray) -> tuple[Array, Array, Array, Array]:
        """Mean (B,), variance (B,) and their gradients (B, d) in the active coordinates."""
        kernel = self._kernel.radial
        if kernel is None:
            mean, var, *slopes = self._whole(y, rows, self.posterior.gradients)
            return mean, var, slopes[0][:, self.active], slopes[1][:, self.active]
        mean = np.full(len(rows), self.posterior.prior_mean)
        prior = mean, np.full(len(rows), kernel.variance), np.zeros(y.shape), np.zeros(y.shape)
        return self.posterior.predictor.gradients(
            prior, lambda part: self._columns.pull(y[part], self._distances.take(rows[part]))
        )

    def _whole(
        self, y: Array, rows: IntArray, of: Callable[[Array], tuple[Array, ...]]
    ) -> list[Array]:
        """Values at whole points, in pieces, for kernels that do not depend on one distance."""
        parts = pieces(max(len(rows), 1), self._box.dim)
        found = [of(self.points(y[part], rows[part])) for part in parts]
        return [np.concatenate(values) for values in zip(*found, strict=True)]

    def follow(self, posterior: BoxPosterior) -> None:
        """Update to a posterior on the whole box; call it after each change of the posterior.

        A kernel that is not a function of one scaled distance costs as much as at whole points.
        """
        if posterior.version == self._version and posterior is self.posterior:
            return
        self.posterior = posterior
        if self._version < 0 or posterior.present != self._kernel:
            self._kernel = posterior.present
            self._set_units()
        data = posterior.conditioned
        same = min(len(data), len(self._seen))
        equal = (data[:same] == self._seen[:same]).all(axis=1)
        kept = min(same if equal.all() else int(equal.argmin()), len(self._distances.data))
        self._seen, new = data, data[kept:] if self._kernel.radial else data[:0]
        with OneThread():
            self._distances.follow(kept, new[:, self.inactive])
            if self._kernel.radial:
                centre = self._centre[self.active]
                self._columns = StationaryColumns(self._within, data[:, self.active], centre)
        self._version = posterior.version

    def _set_units(self) -> None:
        """Set the units of the distances: those of the box if there is one lengthscale."""
        if (kernel := self._kernel.radial) is None:
            return
        scale, inverse, factor = kernel.scale, np.ones(len(self.inactive)), 1.0
        if isinstance(scale, float):
            self._within, factor = kernel, scale**-2
        else:
            own, inverse = tuple(scale[self.active].tolist()) or 1.0, 1.0 / scale[self.inactive]
            self._within = kernel.with_lengthscale(lambda _: own)
        self._distances.set_units(self._centre[self.inactive], inverse, factor)


class FixedParts:
    """Points (S, width) between two corners in single precision; points can only be added."""

    def __init__(self, low: Array, high: Array) -> None:
        self._low, self._high = low, high
        self.width = len(low)
        self._rows = max(64, BLOCK // max(self.width, 1))
        self._blocks: list[NDArray[Any]] = []
        self.count = 0

    def extend(self, z: Array) -> slice:
        """Append points, rounded within the box; return their rows."""
        rounded = z.astype(np.float32)
        # The comparison is in double precision; otherwise the bounds would be rounded too.
        exact, limit = rounded.astype(np.float64), np.float32(np.inf)
        for outside, inward in ((exact > self._high, -limit), (exact < self._low, limit)):
            rounded[outside] = np.nextafter(rounded[outside], inward)
        start, self.count = self.count, self.count + len(z)
        while len(self._blocks) * self._rows < self.count:
            self._blocks.append(np.empty((self._rows, self.width), np.float32))
        for part, rows in self.parts(start, self.count, self._rows):
            part[:] = rounded[rows.start - start : rows.stop - start]
        return slice(start, self.count)

    def take(self, rows: IntArray) -> Array:
        """The points of some rows, a new array (B, width) in double precision."""
        out = np.empty((len(rows), self.width))
        block, inside = np.divmod(rows, self._rows)
        for number in np.unique(block).tolist():
            mine = block == number
            out[mine] = self._blocks[number][inside[mine]]
        return out

    def parts(self, start: int, stop: int, most: int) -> Iterator[tuple[NDArray[Any], slice]]:
        """Views of blocks that cover the rows, each of at most ``most`` rows, and their rows."""
        while start < stop:
            number, first = divmod(start, self._rows)
            size = min(self._rows - first, stop - start, most)
            yield self._blocks[number][first : first + size], slice(start, start + size)
            start += size


class Distances:
    """Squared distances (S, t) of S fixed parts to the fixed coordinates of the data.

    Attributes:
        data: (t, width) the data, in the units of the distances.
    """

    def __init__(self, fixed: FixedParts) -> None:
        self._fixed, self._table = fixed, np.empty((0, 16))
        self.data, self._inverse = np.empty((0, fixed.width)), np.ones(fixed.width)
        self.set_units(np.zeros(fixed.width), self._inverse, 1.0)

    def set_units(self, centre: Array, inverse: Array, factor: float) -> None:
        """Set the center of points, their factors (width,), and the factor of the distances.

        Other factors of points drop all columns.
        """
        if not np.array_equal(inverse, self._inverse):
            self.data = self.data[:0]
        self._centre, self._inverse, self._factor = centre, inverse, factor
        # A pass over all fixed parts is skipped if it would change nothing.
        self._shifted, self._stretched = bool(centre.any()), bool((inverse != 1.0).any())

    def take(self, rows: IntArray) -> Array:
        """The distances of some rows, a new array (B, t)."""
        return self._table[rows, : len(self.data)] * self._factor

    def follow(self, kept: int, new: Array) -> None:
        """Keep the first columns, and add those of new data (k, width), O(S k width)."""
        self.data = np.concatenate([self.data[:kept], (new - self._centre) * self._inverse])
        self.fill(slice(0, self._fixed.count), kept)

    def fill(self, rows: slice, first: int) -> None:
        """Compute the distances of a range of rows to the data from ``first`` on, O(N t width)."""
        self._reserve(rows.stop, len(self.data))
        data = self.data[first:]
        if not len(data) or rows.start == rows.stop:
            return
        norms = np.einsum("ij,ij->i", data, data)
        step = max(1, STRIP // max(self._fixed.width, 1))
        for part, where in self._fixed.parts(rows.start, rows.stop, step):
            strip = part.astype(np.float64)
            if self._shifted:
                strip -= self._centre
            if self._stretched:
                strip *= self._inverse
            self._table[where, first : len(self.data)] = squares(strip, data, norms)

    def _reserve(self, rows: int, columns: int) -> None:
        old = self._table
        had_rows, had_columns = old.shape
        if rows > had_rows or columns > had_columns:
            more_rows = max(rows, had_rows + had_rows // 2, 64) if rows > had_rows else had_rows
            more_columns = max(columns, 2 * had_columns) if columns > had_columns else had_columns
            self._table = np.empty((more_rows, more_columns))
            self._table[:had_rows, :had_columns] = old

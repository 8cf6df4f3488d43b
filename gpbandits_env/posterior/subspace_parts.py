"""The storage behind `Subspaces`: fixed parts of points, and their distances to the data."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels.stationary import squares

# Fixed parts are stored in blocks of about so many numbers (32 MB in single precision): growing
# never copies what is there.
BLOCK = 1 << 23
# They are turned to double precision so many numbers (1 MB) at a time, which stay in cache.
STRIP = 1 << 17


class FixedParts:
    """S points (S, width) between two corners, as float32 or float64, that only grow in number."""

    def __init__(self, low: Array, high: Array, kind: np.dtype[Any]) -> None:
        self._low, self._high, self._kind = low, high, kind
        self.width = len(low)
        self._rows = max(64, BLOCK // max(self.width, 1))
        self._blocks: list[NDArray[Any]] = []
        self.count = 0

    @property
    def nbytes(self) -> int:
        """The memory of the stored points."""
        return self.count * self.width * self._kind.itemsize

    def extend(self, z: Array) -> slice:
        """Append points, rounded to the precision but not out of the box; return their rows.

        Raises:
            InvalidInput: they have another width, or lie outside.
        """
        if z.shape[1] != self.width:
            raise InvalidInput(f"fixed parts must have shape (N, {self.width}), got {z.shape}")
        if (z < self._low).any() or (z > self._high).any():
            raise InvalidInput("fixed parts must lie in the box")
        rounded = z.astype(self._kind)
        # A comparison with double precision, or the bounds would be rounded too.
        exact, limit = rounded.astype(np.float64), self._kind.type(np.inf)
        for outside, inward in ((exact > self._high, -limit), (exact < self._low, limit)):
            rounded[outside] = np.nextafter(rounded[outside], inward)
        start, self.count = self.count, self.count + len(z)
        while len(self._blocks) * self._rows < self.count:
            self._blocks.append(np.empty((self._rows, self.width), self._kind))
        for part, rows in self._parts(start, self.count, self._rows):
            part[:] = rounded[rows.start - start : rows.stop - start]
        return slice(start, self.count)

    def take(self, rows: IntArray) -> Array:
        """The points (B, width) of some rows, fresh, in double precision."""
        out = np.empty((len(rows), self.width))
        block, inside = np.divmod(rows, self._rows)
        for number in np.unique(block).tolist():
            mine = block == number
            out[mine] = self._blocks[number][inside[mine]]
        return out

    def strips(self, rows: slice) -> Iterator[tuple[slice, Array]]:
        """The points of a range of rows in double precision, a strip at a time."""
        step = max(1, STRIP // max(self.width, 1))
        for part, where in self._parts(rows.start, rows.stop, step):
            yield where, part.astype(np.float64)

    def _parts(self, start: int, stop: int, most: int) -> Iterator[tuple[NDArray[Any], slice]]:
        """Views of blocks that cover rows, at most so many at a time, and the rows of each."""
        while start < stop:
            number, first = divmod(start, self._rows)
            size = min(self._rows - first, stop - start, most)
            yield self._blocks[number][first : first + size], slice(start, start + size)
            start += size


class Distances:
    """Squared distances (S, t) of S fixed parts to the fixed coordinates of the data."""

    def __init__(self, fixed: FixedParts) -> None:
        self._fixed, self._table = fixed, np.empty((0, 16))
        self._data, self._inverse = np.empty((0, fixed.width)), np.ones(fixed.width)
        self.set_units(np.zeros(fixed.width), self._inverse)

    @property
    def nbytes(self) -> int:
        """The memory in use."""
        return self._table.nbytes + self._data.nbytes

    @property
    def columns(self) -> int:
        """How many points the table covers, t."""
        return len(self._data)

    def set_units(self, centre: Array, inverse: Array) -> None:
        """The centre of points and the factor on them; a new factor drops all columns."""
        if not np.array_equal(inverse, self._inverse):
            self.keep_columns(0)
        self._centre, self._inverse = centre, inverse
        # A pass over all fixed parts is saved where it would change nothing.
        self._shifted, self._stretched = bool(centre.any()), bool((inverse != 1.0).any())

    def take(self, rows: IntArray) -> Array:
        """(B, t) of some rows, fresh."""
        return self._table[rows, : self.columns]

    def keep_columns(self, count: int) -> None:
        """Drop all columns but the first ``count``."""
        self._data = self._data[:count]

    def add_rows(self, rows: slice) -> None:
        """The distances of new fixed parts, O(N t width)."""
        self._fill(rows, 0)

    def add_columns(self, data: Array) -> None:
        """The distances of all fixed parts to new data (k, width), O(S k width)."""
        start = self.columns
        self._data = np.concatenate([self._data, (data - self._centre) * self._inverse])
        self._fill(slice(0, self._fixed.count), start)

    def _fill(self, rows: slice, first: int) -> None:
        """The distances of a range of rows to the data from ``first`` on."""
        self._reserve(rows.stop, self.columns)
        data = self._data[first:]
        if not len(data) or rows.start == rows.stop:
            return
        norms = np.einsum("ij,ij->i", data, data)
        for where, strip in self._fixed.strips(rows):
            if self._shifted:
                strip -= self._centre
            if self._stretched:
                strip *= self._inverse
            self._table[where, first : self.columns] = squares(strip, data, norms)

    def _reserve(self, rows: int, columns: int) -> None:
        old = self._table
        had_rows, had_columns = old.shape
        if rows > had_rows or columns > had_columns:
            more_rows = max(rows, had_rows + had_rows // 2, 64) if rows > had_rows else had_rows
            more_columns = max(columns, 2 * had_columns) if columns > had_columns else had_columns
            self._table = np.empty((more_rows, more_columns))
            self._table[:had_rows, :had_columns] = old

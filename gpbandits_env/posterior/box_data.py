"""The observations of a posterior in a box, and how much they have faded."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.posterior.state import Layout, Stateful, amount

COLUMNS = ("rewards", "stamps", "beta")


class BoxData(Stateful):
    """Observed points, rewards, times and whitened surprises, in storage that doubles.

    Time is counted in lost correlation: an observation at clock c' is correlated with the present,
    clock c, by exp(c' - c) of what it was then. Only differences count, so nothing underflows.
    """

    STATE: ClassVar[Mapping[str, Layout]] = {"clock": amount}
    GROWN: ClassVar[Mapping[str, Layout]] = {"points": ("t", "d"), **dict.fromkeys(COLUMNS, ("t",))}

    def __init__(self, dim: int) -> None:
        self._points, self._columns = np.empty((16, dim)), np.zeros((len(COLUMNS), 16))
        self.count, self.clock = 0, 0.0

    @property
    def points(self) -> Array:
        """(t, d), a view."""
        return self._points[: self.count]

    @property
    def rewards(self) -> Array:
        """(t,), a view."""
        return self._columns[0, : self.count]

    @property
    def stamps(self) -> Array:
        """(t,) the clock when each was observed, a view."""
        return self._columns[1, : self.count]

    @property
    def beta(self) -> Array:
        """(t,) W (y - m), 0 for hallucinated points, a view."""
        return self._columns[2, : self.count]

    def extend(self, points: Array, rewards: Array | float, beta: Array | float) -> None:
        """Append observations of the present clock."""
        start, end = self.count, self.count + len(points)
        if end > len(self._points):
            size = max(end, 2 * len(self._points))
            old, columns = self.points, self._columns[:, :start]
            self._points = np.empty((size, points.shape[1]))
            self._columns = np.zeros((len(COLUMNS), size))
            self._points[:start], self._columns[:, :start] = old, columns
        self._points[start:end] = points
        for row, values in zip(self._columns, (rewards, self.clock, beta), strict=True):
            row[start:end] = values
        self.count = end

    def fade(self) -> Array | None:
        """(t,) what is left of each point's correlation; None if all is."""
        if not self.count or self.stamps[0] == self.clock:  # The first is the oldest.
            return None
        return np.exp(self.stamps - self.clock)

    def faded(self, tolerance: float) -> int:
        """How many points, the oldest, have shrunk below the tolerance."""
        return int(np.searchsorted(self.stamps, self.clock + np.log(tolerance)))

    def drop(self, oldest: int) -> None:
        """Drop the oldest points, and set the clock to 0."""
        kept = self.count - oldest
        self._points[:kept] = self._points[oldest : self.count].copy()
        self._columns[:, :kept] = self._columns[:, oldest : self.count].copy()
        self._columns[1, :kept] -= self.clock
        self.count, self.clock = kept, 0.0

    def snapshot(self) -> dict[str, Any]:
        return {**super().snapshot(), **{key: getattr(self, key).copy() for key in self.GROWN}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot that was checked."""
        self.count = 0
        self.extend(state["points"], state["rewards"], state["beta"])
        self.stamps[:] = state["stamps"]
        self.put(state)

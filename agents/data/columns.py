"""The data of an agent: what it observed, as columns in order of arrival."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Points, State, finite_array, own_noise, whole
from gpbandits_env.domains import Domain

# The number of rows for which there is space at first.
FIRST_ROWS = 64
COLUMNS = ("points", "rewards", "rounds", "times", "noise_var")


class Data:
    """Observations in order of arrival, one row each.

    Which of them count is said by a `Keep`, and what they say about the present by a model. A
    reward that arrives late is a row with an earlier round; a change of earlier rows is an edit.

    Args:
        domain: the domain of the points.

    Attributes:
        size: the number of rows.
        ends: the number of rows after each arrival; rows that arrive together are learned together.
        edits: the number of changes of earlier rows.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain, self.edits = domain, 0
        self.clear()

    def clear(self) -> None:
        """Drop all rows."""
        finite = self._domain.finite
        shape = (FIRST_ROWS,) if finite else (FIRST_ROWS, self._domain.dim)
        self._points: Points = np.empty(shape, dtype=np.int64 if finite else np.float64)
        self._rewards, self._rounds, self._times, self._noise_var = np.empty((4, FIRST_ROWS))
        self.size, self.ends = 0, list[int]()
        # Whether some noise is known, the last round, and whether rounds never decrease.
        self._noisy, self._last, self._ordered = False, -np.inf, True
        self.edits += 1

    @property
    def points(self) -> Points:
        """The points, a view (size,) or (size, d)."""
        return self._points[: self.size]

    @property
    def rewards(self) -> Array:
        """The rewards, a view (size,)."""
        return self._rewards[: self.size]

    @property
    def rounds(self) -> Array:
        """The rounds of the actions, a view (size,); data known between t and t + 1: t + 1/2."""
        return self._rounds[: self.size]

    @property
    def times(self) -> Array:
        """The times of the actions, a view (size,); see `Agent.clock`."""
        return self._times[: self.size]

    def noise_of(self, rows: slice | NDArray[np.intp]) -> Array | None:
        """The known variances of the noise of some rows, NaN elsewhere; None if none is known."""
        own = self._noise_var[: self.size][rows] if self._noisy else None
        return None if own is None or np.isnan(own).all() else own

    def add(
        self,
        points: Points,
        rewards: Array,
        round_: float,
        time: float,
        noise_var: Array | None = None,
    ) -> None:
        """Add rows that arrive together; the arrays are copied.

        Args:
            points: (k,) or (k, d).
            rewards: (k,).
            round_: the round of the actions.
            time: the time of the actions.
            noise_var: (k,) the variances of the noise, NaN where unknown; None if none is known.
        """
        start, count = self.size, len(rewards)
        self.size = end = start + count
        if end > len(self._rewards):
            self._grow(start)
        if count == 1:  # one number is stored faster than a slice
            self._points[start], self._rewards[start] = points[0], rewards[0]
            self._rounds[start], self._times[start] = round_, time
        elif count:
            self._points[start:end], self._rewards[start:end] = points, rewards
            self._rounds[start:end], self._times[start:end] = round_, time
        else:
            return
        if noise_var is not None or self._noisy:
            self._note_noise(start, noise_var)
        if round_ < self._last:
            self._ordered = False
        self._last = round_
        self.ends.append(end)

    def _note_noise(self, start: int, noise_var: Array | None) -> None:
        """Store the noise of the rows from ``start`` on, and that of all if none was known."""
        if not self._noisy:
            self._noise_var[:start], self._noisy = np.nan, True
        self._noise_var[start : self.size] = np.nan if noise_var is None else noise_var

    def _grow(self, stored: int) -> None:
        size = max(self.size, 2 * len(self._rewards))
        for name in COLUMNS:
            old = getattr(self, f"_{name}")
            new = np.empty((size, *old.shape[1:]), dtype=old.dtype)
            new[:stored] = old[:stored]
            setattr(self, f"_{name}", new)

    def restate(self, noise_var: Array) -> None:
        """Replace the variances of the noise of the first rows, NaN where unknown."""
        self._note_noise(self.size, None)
        self._noise_var[: len(noise_var)] = noise_var
        self.edits += 1

    def since(self, first: float, end: int | None = None) -> slice | NDArray[np.intp]:
        """The rows before ``end`` of rounds from a first one on: a slice where rounds increase."""
        rounds = self.rounds[:end]
        if not self._ordered:
            return np.flatnonzero(rounds >= first)
        return slice(0 if first == -np.inf else int(np.searchsorted(rounds, first)), len(rounds))

    def state(self) -> State:
        """The state, as a copy in plain data."""
        columns = {name: getattr(self, f"_{name}")[: self.size].copy() for name in COLUMNS}
        return columns | {"ends": list(self.ends)} | ({} if self._noisy else {"noise_var": None})

    def restore(self, state: State) -> None:
        """Return to a state of `state`."""
        ends = [whole(end, "end", 1) for end in state["ends"]]
        points, rewards = self._domain.observations(state["points"], state["rewards"])
        rounds, times = (finite_array(state[name], name, 1) for name in ("rounds", "times"))
        noise = state["noise_var"]
        noise = None if noise is None else own_noise(noise, len(points))
        if {len(rounds), len(times), max([0, *ends])} != {len(points)} or ends != sorted(set(ends)):
            raise ValueError("the columns of the data have different lengths")
        self.clear()
        for start, end in pairwise([0, *ends]):
            rows, own = slice(start, end), None if noise is None else noise[start:end]
            self.add(points[rows], rewards[rows], rounds.item(start), times.item(start), own)

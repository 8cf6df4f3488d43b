"""The data of an agent: what it observed, as columns in order of arrival."""

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Points, State, finite_array, own_noise, whole
from gpbandits_env.domains import Domain

# The number of rows for which there is space at first.
FIRST_ROWS = 64
# The largest number of arrivals before they are stored in the columns.
MOST_RECENT = 1000
NUMBERS = ("rewards", "rounds", "times")
# Rows of the data: a slice, a mask (size,), or numbers (k,).
Rows: TypeAlias = slice | NDArray[np.bool_] | NDArray[np.intp]


class Data:
    """Observations in order of arrival, one row each.

    Which of them count is said by a `Keep`, and what they say about the present by a model. A
    reward that arrives late is a row with an earlier round; a change of earlier rows is an edit.

    Args:
        domain: the domain of the points.

    Attributes:
        size: the number of rows.
        edits: the number of changes of earlier rows.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._shape = (FIRST_ROWS,) if domain.finite else (FIRST_ROWS, domain.dim)
        self._kind = np.int64 if domain.finite else np.float64
        self.edits = 0
        self.clear()

    def clear(self) -> None:
        """Drop all rows."""
        self._points: Points = np.empty(self._shape, dtype=self._kind)
        self._rewards, self._rounds, self._times = np.empty((3, FIRST_ROWS))
        self._noise_var = np.full(FIRST_ROWS, np.nan)
        self._noisy, self._ordered, self._ends = False, True, list[int]()
        # Arrivals that are not in the columns yet: a store of one row would cost a microsecond.
        self._recent: list[tuple[Any, Any, float, float, Array | None]] = []
        self.size = 0
        self.edits += 1

    @property
    def points(self) -> Points:
        """The points, a view (size,) or (size, d)."""
        self._store()
        return self._points[: self.size]

    @property
    def rewards(self) -> Array:
        """The rewards, a view (size,)."""
        self._store()
        return self._rewards[: self.size]

    @property
    def rounds(self) -> Array:
        """The rounds of the actions, a view (size,); data known between t and t + 1: t + 1/2."""
        self._store()
        return self._rounds[: self.size]

    @property
    def times(self) -> Array:
        """The times of the actions, a view (size,); see `Agent.clock`."""
        self._store()
        return self._times[: self.size]

    @property
    def ends(self) -> list[int]:
        """The number of rows after each arrival; rows that arrive together are learned together."""
        self._store()
        return self._ends

    def noise_of(self, rows: Rows) -> Array | None:
        """The known variances of the noise of some rows, NaN elsewhere; None if none is known."""
        self._store()
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
        count, own = len(rewards), None if noise_var is None else noise_var.copy()
        if count == 1:  # lists are made faster than copies of arrays
            self._recent.append((points.tolist(), rewards.tolist(), round_, time, own))
        elif count:
            self._recent.append((points.copy(), rewards.copy(), round_, time, own))
        else:
            return
        self.size += count
        if len(self._recent) > MOST_RECENT:
            self._store()

    def _store(self) -> None:
        """Store what arrived in the columns, whose length doubles where it is too short."""
        if not self._recent:
            return
        points, rewards, rounds, times, noise_vars = zip(*self._recent, strict=True)
        self._recent.clear()
        counts, start = [len(part) for part in rewards], self._ends[-1] if self._ends else 0
        last = self._rounds[start - 1] if start else -np.inf
        self._ordered = self._ordered and list(rounds) == sorted([last, *rounds])[1:]
        if self.size > len(self._rewards):
            self._grow(start)
        rows = slice(start, self.size)
        self._points[rows], self._rewards[rows] = np.concatenate(points), np.concatenate(rewards)
        self._rounds[rows], self._times[rows] = np.repeat([rounds, times], counts, axis=1)
        for count, noise_var in zip(counts, noise_vars, strict=True):
            if noise_var is not None:
                self._noise_var[start : start + count], self._noisy = noise_var, True
            start += count
            self._ends.append(start)

    def _grow(self, stored: int) -> None:
        size = max(self.size, 2 * len(self._rewards))
        for name in ("_points", "_noise_var", *(f"_{name}" for name in NUMBERS)):
            old = getattr(self, name)
            new = np.empty((size, *old.shape[1:]), dtype=old.dtype)
            new[:stored] = old[:stored]
            if name == "_noise_var":
                new[stored:] = np.nan
            setattr(self, name, new)

    def restate(self, noise_var: Array) -> None:
        """Replace the variances of the noise of the first rows, NaN where unknown."""
        self._store()
        self._noise_var[: len(noise_var)], self._noisy = noise_var, True
        self.edits += 1

    def since(self, first: float) -> Rows:
        """The rows of rounds from a first one on: a slice where rounds increase, else a mask."""
        rounds = self.rounds
        if not self._ordered:
            return rounds >= first
        return slice(0 if first == -np.inf else int(np.searchsorted(rounds, first)), len(rounds))

    def numbers(self, rows: Rows) -> NDArray[np.intp]:
        """The numbers of rows, (k,)."""
        return np.arange(self.size)[rows]

    def state(self) -> State:
        """The state, as a copy in plain data."""
        own = {name: getattr(self, name).copy() for name in NUMBERS}
        noise = self._noise_var[: self.size].copy() if self._noisy else None
        return own | {"points": self.points.copy(), "noise_var": noise, "ends": list(self.ends)}

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

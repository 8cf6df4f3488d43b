"""The data of an agent: what it observed, as columns in order of arrival."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Points, State, finite_array, own_noise, whole
from gpbandits_env.domains import Domain

# The number of rows for which there is space at first.
FIRST_ROWS = 64
COLUMNS = ("points", "rewards", "rounds", "times")


class Data:
    """Observations in order of arrival, one row each.

    Which of them count is said by a `Keep`, and what they say about the present by a model. A
    reward that arrives late is a row with an earlier round; a change of earlier rows is an edit.

    Args:
        domain: the domain of the points.

    Attributes:
        size: the number of rows.
        edits: the number of changes of earlier rows.
        ends: the number of rows after each arrival; rows that arrive together are learned together.
        points: the points, a view (size,) or (size, d).
        rewards: the rewards, a view (size,).
        rounds: the rounds of the actions, a view (size,); data known between t and t + 1: t + 1/2.
        times: the times of the actions, a view (size,); see `Agent.clock`.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain, self.edits = domain, 0
        self.clear()

    def clear(self) -> None:
        """Drop all rows."""
        finite = self._domain.finite
        shape = (FIRST_ROWS,) if finite else (FIRST_ROWS, self._domain.dim)
        self._points: Points = np.empty(shape, dtype=np.int64 if finite else np.float64)
        self._rewards, self._rounds, self._times = np.empty((3, FIRST_ROWS))
        self._noise_var: Array | None = None
        self.size, self.edits = 0, self.edits + 1
        self.ends: list[int] = []

    @property
    def points(self) -> Points:
        return self._points[: self.size]

    @property
    def rewards(self) -> Array:
        return self._rewards[: self.size]

    @property
    def rounds(self) -> Array:
        return self._rounds[: self.size]

    @property
    def times(self) -> Array:
        return self._times[: self.size]

    def noise_of(self, rows: slice | NDArray[np.intp]) -> Array | None:
        """The known variances of the noise of some rows, NaN elsewhere; None if none is known."""
        own = None if self._noise_var is None else self._noise_var[: self.size][rows]
        return None if own is None or np.isnan(own).all() else own

    def add(
        self,
        points: Points,
        rewards: Array,
        rounds: Array | float,
        times: Array | float,
        noise_var: Array | None = None,
    ) -> None:
        """Add rows; those of one round arrive together.

        Args:
            points: (k,) or (k, d).
            rewards: (k,).
            rounds: the rounds of the actions, (k,) or one for all.
            times: the times of the actions, which their rounds determine.
            noise_var: (k,) the variances of the noise, NaN where unknown; None if none is known.
        """
        if type(rounds) is np.ndarray:
            for t in np.unique(rounds).tolist():
                mine = rounds == t
                own = None if noise_var is None else noise_var[mine]
                self.add(points[mine], rewards[mine], t, np.asarray(times)[mine].item(0), own)
            return
        start, count = self.size, len(rewards)
        if not count:
            return
        self.size = end = start + count
        self.ends.append(end)
        while end > len(self._points):  # the length doubles
            for name in ("_points", "_rewards", "_rounds", "_times", "_noise_var"):
                if (column := getattr(self, name)) is not None:
                    setattr(self, name, np.concatenate([column, column]))
        if count == 1:  # single numbers are stored in less time
            self._points[start], self._rewards[start] = points[0], rewards.item()
            self._rounds[start], self._times[start] = rounds, times
        else:
            self._points[start:end], self._rewards[start:end] = points, rewards
            self._rounds[start:end], self._times[start:end] = rounds, times
        if noise_var is not None or self._noise_var is not None:
            self._noise()[start:end] = np.nan if noise_var is None else noise_var

    def _noise(self) -> Array:
        if self._noise_var is None:
            self._noise_var = np.full(len(self._points), np.nan)
        return self._noise_var

    def restate(self, noise_var: Array) -> None:
        """Replace the variances of the noise of the first rows, NaN where unknown."""
        self._noise()[: len(noise_var)] = noise_var
        self.edits += 1

    def state(self) -> State:
        """The state, as a copy in plain data."""
        noise = None if self._noise_var is None else self._noise_var[: self.size].copy()
        columns = {name: getattr(self, name).copy() for name in COLUMNS}
        return {**columns, "noise_var": noise, "ends": list(self.ends)}

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

"""The data of an agent: what it observed, as columns in order of arrival."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Points, State, finite_array, own_noise, whole
from gpbandits_env.domains import Domain

# The number of rows for which there is space at first.
FIRST_ROWS = 64
# The columns of numbers.
REWARD, ROUND, TIME, NOISE_VAR = range(4)


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
        self._domain, self.edits = domain, 0
        self.clear()

    def clear(self) -> None:
        """Drop all rows."""
        finite = self._domain.finite
        shape = (FIRST_ROWS,) if finite else (FIRST_ROWS, self._domain.dim)
        self._points: Points = np.empty(shape, dtype=np.int64 if finite else np.float64)
        self._columns = np.full((4, FIRST_ROWS), np.nan)
        self.size, self.edits, self._noisy = 0, self.edits + 1, False
        # The number of rows after each arrival; rows that arrive together are learned together.
        self.ends: list[int] = []

    @property
    def points(self) -> Points:
        """The points, a view (size,) or (size, d)."""
        return self._points[: self.size]

    @property
    def rewards(self) -> Array:
        """The rewards, a view (size,)."""
        return self._columns[REWARD, : self.size]

    @property
    def rounds(self) -> Array:
        """The rounds of the actions, a view (size,); data known between t and t + 1: t + 1/2."""
        return self._columns[ROUND, : self.size]

    @property
    def times(self) -> Array:
        """The times of the actions, a view (size,); see `Agent.clock`."""
        return self._columns[TIME, : self.size]

    def noise_of(self, rows: slice | NDArray[np.intp]) -> Array | None:
        """The known variances of the noise of some rows, NaN elsewhere; None if none is known."""
        own = self._columns[NOISE_VAR, : self.size][rows] if self._noisy else None
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
            self._points = np.concatenate([self._points, self._points])
            more = np.full_like(self._columns, np.nan)
            self._columns = np.concatenate([self._columns, more], axis=1)
        columns = self._columns
        if noise_var is not None:
            columns[NOISE_VAR, start:end], self._noisy = noise_var, True
        if count == 1:  # one number is stored in a third of the time
            self._points[start], columns[REWARD, start] = points[0], rewards.item()
            columns[ROUND, start], columns[TIME, start] = rounds, times
        else:
            self._points[start:end], columns[REWARD, start:end] = points, rewards
            columns[ROUND, start:end], columns[TIME, start:end] = rounds, times

    def restate(self, noise_var: Array) -> None:
        """Replace the variances of the noise of the first rows, NaN where unknown."""
        self._columns[NOISE_VAR, : len(noise_var)], self._noisy = noise_var, True
        self.edits += 1

    def state(self) -> State:
        """The state, as a copy in plain data."""
        names = ("points", "rewards", "rounds", "times")
        own: State = {name: getattr(self, name).copy() for name in names}
        noise = self._columns[NOISE_VAR, : self.size].copy() if self._noisy else None
        return own | {"noise_var": noise, "ends": list(self.ends)}

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

"""The data of an agent: what it observed, as columns in order of arrival."""

from array import array
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Points, State, finite_array, own_noise, whole
from gpbandits_env.domains import Domain

# The number of rows for which there is space at first.
FIRST_ROWS = 64
COLUMNS = ("points", "rewards", "rounds", "times")


def _column(row: int) -> Any:
    return property(lambda data: data._numbers[row, : data.size])


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
        # Of each row the reward, the round, the time, and the variance of the noise if it is known.
        self._numbers = np.full((4, FIRST_ROWS), np.nan)
        self.size, self.edits = 0, self.edits + 1
        self.ends = array("q")

    @property
    def points(self) -> Points:
        return self._points[: self.size]

    rewards: Array = _column(0)
    rounds: Array = _column(1)
    times: Array = _column(2)

    def noise_of(self, rows: slice | NDArray[np.intp]) -> Array | None:
        """The known variances of the noise of some rows, NaN elsewhere; None if none is known."""
        own = self._numbers[3, : self.size][rows]
        return None if np.isnan(own).all() else own

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
            more = ((0, 0), (0, self._numbers.shape[1]))
            self._numbers = np.pad(self._numbers, more, constant_values=np.nan)
        numbers = self._numbers
        if count == 1:  # single numbers are stored in less time
            self._points[start], numbers[0, start] = points[0], rewards.item()
            numbers[1, start], numbers[2, start] = rounds, times
        else:
            self._points[start:end], numbers[0, start:end] = points, rewards
            numbers[1, start:end], numbers[2, start:end] = rounds, times
        if noise_var is not None:
            numbers[3, start:end] = noise_var

    def restate(self, noise_var: Array) -> None:
        """Replace the variances of the noise of the first rows, NaN where unknown."""
        self._numbers[3, : len(noise_var)] = noise_var
        self.edits += 1

    def state(self) -> State:
        """The state, as a copy in plain data."""
        noise = self.noise_of(np.arange(self.size))
        columns = {name: getattr(self, name).copy() for name in COLUMNS}
        return {**columns, "noise_var": noise, "ends": list(self.ends)}

    def restore(self, state: State) -> None:
        """Return to a state of `state`."""
        ends = [whole(end, "end", 1) for end in state["ends"]]
        points, rewards = self._domain.observations(state["points"], state["rewards"])
        rounds, times = (finite_array(state[name], name, 1) for name in ("rounds", "times"))
        noise = state["noise_var"]
        noise = np.full(len(points), np.nan) if noise is None else own_noise(noise, len(points))
        if {len(rounds), len(times), max([0, *ends])} != {len(points)} or ends != sorted(set(ends)):
            raise ValueError("the columns of the data have different lengths")
        self.clear()
        for start, end in pairwise([0, *ends]):
            rows, of, at = slice(start, end), rounds.item(start), times.item(start)
            self.add(points[rows], rewards[rows], of, at, noise[rows])

"""The posterior of an agent, as a function of its data, its model, and the round and time."""

import math
from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.data.refit import Refit
from gpbandits_env.agents.embeddings.action_map import ActionMap
from gpbandits_env.arrays import Array, Points, State, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import Posterior

# Data whose correlation with the present is below this have no effect.
GONE = 1e-9
# The time of round 1.
START = 0.0


class Conditioned:
    """The posterior given the data that count, brought up to date at the least cost.

    If what it holds is the beginning of what counts, it learns the new rows, and time passes.
    Otherwise it starts again from the prior: a row dropped out or came back, a row of an earlier
    time arrived where data age, an earlier row was edited, or the model is another one. It then
    learns all rows in one call or, where data age, in one call for each time.

    Args:
        data: the data.
        keep: which of them count.
        mapped: the map from the points of the data to those of the posterior.
        make: makes the posterior of a model, without data.
        model: the model, before any fit.
        refit: what fits it to the data, if it is fitted.

    Attributes:
        data: as given.
        posterior: the posterior at the present time.
        model: the model in use.
        winsorize: the map of rewards before the posterior receives them; None for the identity.
        ages: whether data age with time.
        first_round: the earliest round that counts; infinite without any.
        best_reward: the largest reward that counts; -inf without any.
        best_received: the same reward as the posterior received it.
    """

    def __init__(
        self,
        data: Data,
        keep: Keep,
        mapped: ActionMap,
        make: Callable[[Model], Posterior],
        model: Model,
        refit: Refit | None = None,
    ) -> None:
        self.data, self._keep, self._mapped, self._make = data, keep, mapped, make
        self._first, self._refit = model, refit
        self.reset()

    def reset(self) -> None:
        """Return to the prior of the model, without data."""
        refit = self._refit
        self.model = self._first if refit is None else refit.model
        self.winsorize = None if refit is None else refit.winsorizer
        self.posterior = self._make(self.model)
        self._begin()

    def _begin(self) -> None:
        """Hold no row; the posterior is at its prior."""
        self._held, self._now, self._edits = 0, START, self.data.edits
        self._mask = np.zeros(0, dtype=np.bool_)  # which of the first rows, if `Keep` masks rows
        self.first_round, self.best_reward, self.best_received = math.inf, -math.inf, -math.inf
        # The calls since the last start from the prior: after how many rows it passed to a time,
        # and then removed a row, if any. The rows before the first call were learned together,
        # later ones as they had arrived.
        self._calls: list[tuple[int, float, int | None]] = [(0, START, None)]
        self.ages = self.model.epsilon > 0.0 or self.posterior.ages

    def received(self, rewards: Array) -> Array:
        """The rewards as the posterior receives them."""
        return rewards if self.winsorize is None else self.winsorize(rewards)

    def at(self, t: int, time: float, new: Observed | None = None) -> None:
        """Bring the posterior to the beginning of round t, at a time.

        Args:
            t: the round.
            time: its time.
            new: the last data that were added. They need not be read if nothing else is new.
        """
        data, keep, self._t = self.data, self._keep, t
        first = keep.first(t) if keep.forgets else keep.stage
        stale = not first <= self.first_round or data.edits != self._edits or self._mapped.moves
        if self._refit is not None and self._refit.model is not self.model:
            self.reset()
            stale = True
        if stale or (keep.masks and not self._removes(self._counting(t))):
            self._anew(time, self._counting(t))
        elif data.size == self._held:
            self.posterior.rollback()
        elif (
            new is not None
            and new.source == "round"
            and len(new.rewards) == data.size - self._held  # they are all that is new
            and new.rounds >= first
            and not keep.masks
            and not (self.ages and new.times != self._now)
        ):
            self._held = data.size
            self._learn(new.rounds, new.points, new.rewards, new.noise_var)
        elif not self._append(self._counting(t), data.size):
            self._anew(time, self._counting(t))
        if self.ages:
            self._pass(time)

    def _counting(self, t: int) -> NDArray[np.bool_]:
        """Which rows count in round t, checked: the rule may be the user's own."""
        found, rule = np.asarray(self._keep.counts(self.data, t)), type(self._keep).__name__
        if found.shape != (self.data.size,) or found.dtype != np.bool_:
            raise InvalidInput(f"{rule}.counts must return a mask of the rows, got {shown(found)}")
        return found

    def _append(self, counting: NDArray[np.bool_], until: int) -> bool:
        """Learn new arrivals that count; whether that is possible: all are of the present time."""
        data, ends = self.data, self.data.ends
        new = ends[bisect_right(ends, self._held) : bisect_right(ends, until)]
        for start, end in pairwise([self._held, *new]):
            rows = start + np.flatnonzero(counting[start:end])
            if len(rows):
                if self.ages and data.times.item(start) != self._now:
                    return False
                self._learn_rows(data.rounds.item(start), rows)
            self._held = end
        self._mask = counting[: self._held]
        return True

    def _removes(self, counting: NDArray[np.bool_]) -> bool:
        """Remove what no longer counts; whether the posterior then holds what counts.

        After as many removals as there are rows it is conditioned anew, so that neither rounding
        nor the record of removals accumulates.
        """
        held, now = self._mask, counting[: self._held]
        gone = np.flatnonzero(held & ~now)
        before = sum(row is not None for *_, row in self._calls)
        if (now & ~held).any() or len(gone) + before > np.count_nonzero(now):
            return not (held != now).any()
        return all(self._remove(row) for row in gone.tolist())

    def _remove(self, row: int) -> bool:
        rows = np.flatnonzero(self._mask)
        if self.ages:
            rows = rows[np.argsort(self.data.times[rows], kind="stable")]
        if not self.posterior.remove(int(np.flatnonzero(rows == row)[0]) - len(rows)):
            return False
        self._mask[row] = False
        self._calls.append((self._held, self._now, row))
        self._hold(np.flatnonzero(self._mask))
        return True

    def _anew(self, time: float, counting: NDArray[np.bool_]) -> None:
        """Condition an empty posterior on what counts of the first rows, by a mask of those."""
        data, size = self.data, len(counting)
        rows = np.flatnonzero(counting)
        if self._mapped.moves:
            self.posterior = self._make(self.model)
        self.posterior.forget()
        self._begin()
        self._hold(rows)
        rows = self._by_age(rows, time) if self.ages else rows
        if len(rows):
            if self.ages or data.noise_of(rows) is None:
                self._replay(rows, time)
            else:
                self._learn_rows(self.first_round, rows)
        if self.ages:
            self._pass(time)
        self._held, self._calls, self._mask = size, [(size, time, None)], counting

    def _by_age(self, rows: NDArray[np.intp], time: float) -> NDArray[np.intp]:
        """The rows, oldest first, without those that have no effect at a time."""
        times, epsilon = self.data.times, self.model.epsilon
        rows = rows[np.argsort(times[rows], kind="stable")]
        if self.posterior.ages:
            return rows
        age = 2.0 * math.log(GONE) / math.log1p(-epsilon) if epsilon < 1.0 else 0.0
        return rows[times[rows] >= time - 1.0 - age]

    def _hold(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> None:
        """Note what is asked of the rows that the posterior holds."""
        rounds, rewards = self.data.rounds[rows], self.data.rewards[rows]
        self.first_round = float(rounds.min(initial=math.inf))
        self.best_reward = float(rewards.max(initial=-math.inf))
        self.best_received = float(self.received(rewards).max(initial=-math.inf))

    def _replay(self, rows: NDArray[np.intp], time: float) -> None:
        """Learn rows in one call, or those of each time, oldest first, and let time pass after it.

        In a box, there is one factorization.
        """
        starts, passed = [0], [0.0]
        if self.ages:
            times, first = np.unique(self.data.times[rows], return_index=True)
            self._now = min(START, times.item(0))
            if self.posterior.ages:
                self._pass(times.item(0))
            starts, passed = first.tolist(), np.diff([*times, time]).tolist()
            self._now = time
        points = self._mapped.coordinates(self.data.points[rows])
        given = self.received(self.data.rewards[rows])
        each = zip(starts, [*starts[1:], len(given)], passed, strict=True)
        parts = ((points[start:end], given[start:end], dt) for start, end, dt in each)
        self.posterior.replay(parts, self.model.epsilon)

    def _learn_rows(self, round_: float, rows: NDArray[np.intp]) -> None:
        data = self.data
        points = self._mapped.coordinates(data.points[rows])
        self._learn(round_, points, data.rewards[rows], data.noise_of(rows))

    def _learn(
        self, round_: float, points: Points, rewards: Array, noise_var: Array | None
    ) -> None:
        given = rewards if self.winsorize is None else self.winsorize(rewards)
        self.posterior.learn(points, given, noise_var)
        if round_ < self.first_round:
            self.first_round = round_
        best = rewards.item() if len(rewards) == 1 else max(rewards.tolist())
        if best > self.best_reward:
            self.best_reward, self.best_received = best, max(given.tolist())

    def _pass(self, time: float) -> None:
        """Let time pass until then."""
        elapsed = time - self._now
        if elapsed > 0.0:
            self.posterior.drift(self.model.epsilon, elapsed)
            self._now = time
            self._calls.append((self._held, time, None))

    def state(self) -> State:
        """What does not follow from the data, as a copy in plain data."""
        own = {"round": self._t, "posterior": self.posterior.state()}
        return own | {"calls": list(self._calls)}

    def restore(self, state: State) -> None:
        """Learn the data again by the calls before a snapshot, for the same last digits.

        The data and the other parts are restored before.
        """
        self.reset()
        t = self._t = whole(state["round"], "round")
        data, counting = self.data, self._counting(t)
        calls = [
            (whole(size, "rows", 0, data.size), float(time), row)
            for size, time, row in state["calls"]
        ]
        if state["posterior"] is not None:
            self._hold(counting)
            self._held, self._calls, self._mask = data.size, calls, counting
            self.posterior.restore(state["posterior"])
            return
        removed = [whole(row, "row", 0, data.size - 1) for *_, row in calls if row is not None]
        counting[removed] = True
        self._anew(calls[0][1], counting[: calls[0][0]].copy())
        for size, time, row in calls[1:]:
            self._append(counting, size)
            self._pass(time)
            if row is not None:
                self._remove(row)
                counting[row] = False
        self._append(counting, data.size)

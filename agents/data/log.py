"""An agent's observations, in the order in which its posterior was conditioned on them."""

import math
from collections import deque
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from gpbandits_env.arrays import Array, Points, State
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.gp.temporal import epsilon_per


class Entry(NamedTuple):
    """Observations made together, and the decay after them.

    Args:
        round: the round; 0 for prior data.
        points: (k,) arms or (k, d) points of the posterior's domain.
        rewards: (k,).
        faded: epsilon of the decay before the next entry: correlations with this entry and all
            earlier ones were multiplied by sqrt(1 - epsilon).
        elapsed: the time before the next entry, in rounds, where data age with time.
        noise_var: (k,) the variances of the noise where they are known, NaN elsewhere; None if none
            is.
    """

    round: int
    points: Points
    rewards: Array
    faded: float
    elapsed: float = 0.0
    noise_var: Array | None = None


class ObservationLog:
    """Observations by round. Those older than the last reset or window are kept for fits.

    Args:
        rounds: the number of entries to keep: 0 for none, None for all that are needed.
        history: the number of last observations needed besides the posterior's data.
        change: an increasing map of rewards, if the posterior is not conditioned on these as they
            are.

    Attributes:
        best_reward: the largest reward among the posterior's data, maintained even if no entry is
            kept; -inf without data.
        observations: the number of rewards logged since the start of the episode.
        calls: the numbers of observations on which the posterior was conditioned in one call each,
            since it was last made from the log.
    """

    def __init__(
        self,
        rounds: int | None = 0,
        history: int = 0,
        change: Callable[[Array], Array] | None = None,
    ) -> None:
        self._entries: deque[Entry] = deque(maxlen=rounds)
        self._change = change
        self._keeps, self._history = rounds != 0, history
        self._start, self.best_reward, self.observations = 0, -np.inf, 0
        self.calls: list[int] = []
        self._before = 0.0  # the time before the first entry
        self._since = 0  # the round after the last discard of all data

    def append(
        self,
        round_: int,
        points: Points,
        rewards: Array,
        noise_var: Array | None = None,
    ) -> None:
        """Log observations that the posterior was just conditioned on; the arrays are copied."""
        self.observations += len(rewards)
        for reward in rewards.tolist():
            if reward > self.best_reward:
                self.best_reward = reward
        if self._keeps:
            self.calls.append(len(rewards))
            if len(self._entries) == self._entries.maxlen:
                self._start = max(0, self._start - 1)
            new = Entry(round_, points.copy(), rewards.copy(), 0.0, 0.0, _copied(noise_var))
            self._entries.append(new)

    def append_known(self, points: Points, rewards: Array, noise_var: Array | None = None) -> None:
        """Log prior data: with the last entry if no time has passed since, as they are no round."""
        last = self._entries[-1] if len(self._entries) > self._start else None
        if last is None or last.faded or last.elapsed:
            self.append(0, points, rewards, noise_var)
            return
        self.observations += len(rewards)
        self.calls.append(len(rewards))
        self._add(len(self._entries) - 1, Entry(0, points, rewards, 0.0, 0.0, noise_var))

    def insert(self, round_: int, points: Points, rewards: Array) -> None:
        """Add observations of an earlier round; nothing changes if that round is not kept."""
        for i in range(len(self._entries) - 1, -1, -1):
            if self._entries[i].round == round_:
                self.observations += len(rewards)
                self._add(i, Entry(round_, points, rewards, 0.0))
                return

    def _add(self, i: int, new: Entry) -> None:
        """Add the observations of an entry to those of entry i."""
        old = self._entries[i]
        self._entries[i] = old._replace(
            points=np.concatenate([old.points, new.points]),
            rewards=np.concatenate([old.rewards, new.rewards]),
            noise_var=_noise_of([old, new]),
        )
        if i >= self._start:
            self.best_reward = max(self.best_reward, float(new.rewards.max(initial=-np.inf)))

    @property
    def best_given(self) -> float:
        """The largest reward that the posterior was given; see `best_reward`."""
        best = self.best_reward
        if self._change is None or best == -math.inf:
            return best
        return float(self._change(np.array([best]))[0])

    @property
    def first_round(self) -> float:
        """The round of the oldest entry in the posterior's data; infinite if there is none.

        It is 0 for prior data, unless data were discarded before these.
        """
        first = next(islice(self._entries, self._start, None), None)
        return math.inf if first is None else max(first.round, self._since)

    def restate(self, noise_var: Sequence[float | None]) -> None:
        """Replace the noise variances of all rewards, in order, from the next `replay` on."""
        known, start = np.array(noise_var, dtype=float), 0
        for i, entry in enumerate(self._entries):
            end = start + len(entry.rewards)
            own = known[start:end]
            none = None if np.isnan(own).all() else own
            self._entries[i], start = entry._replace(noise_var=none), end

    def fade(self, epsilon: float, dt: float = 1.0) -> None:
        """Let time pass: correlations with the data so far are multiplied by sqrt(1 - epsilon)."""
        if self._entries:
            last = self._entries[-1]
            both = 1.0 - (1.0 - last.faded) * (1.0 - epsilon) if last.faded else epsilon
            self._entries[-1] = last._replace(faded=both, elapsed=last.elapsed + dt)

    def elapse(self, dt: float) -> None:
        """Let time pass under a temporal kernel, in rounds."""
        if self._entries:
            last = self._entries[-1]
            self._entries[-1] = last._replace(elapsed=last.elapsed + dt)
        else:
            self._before += dt

    def forget(self) -> None:
        """Discard the posterior's data: what is logged already is kept for fits only."""
        self._since = self._entries[-1].round + 1 if self._entries else 0
        self._begin(len(self._entries))

    def keep_last(self, entries: int) -> bool:
        """Make the last entries the posterior's data; return whether this dropped an entry."""
        start = max(self._start, len(self._entries) - entries)
        if start == self._start:
            return False
        self._begin(start)
        return True

    def _begin(self, start: int) -> None:
        """Let the data start at an entry; older entries that are not needed may be dropped."""
        self._start = start
        data = [entry.rewards for entry in islice(self._entries, start, None)]
        self.best_reward = max((r for rewards in data for r in rewards.tolist()), default=-np.inf)
        if start > 2 * self._history:
            needed = self._history - sum(map(len, data))
            for entry in islice(reversed(self._entries), len(data), None):
                if needed <= 0:
                    break
                needed -= len(entry.rewards)
                start -= 1
            for _ in range(start):
                self._entries.popleft()
            self._start -= start

    def keep_rounds(self, rounds: int, epsilon: float) -> None:
        """Keep only the last rounds, and replace the rate of their decay."""
        kept: list[Entry] = []
        for entry in self._entries:
            if entry.round:
                kept.append(entry)
            elif kept:  # the time after prior data passed all the same
                kept[-1] = kept[-1]._replace(elapsed=kept[-1].elapsed + entry.elapsed)
        for i, entry in enumerate(kept):
            kept[i] = entry._replace(faded=epsilon_per(entry.elapsed, epsilon))
        self._entries.clear()
        self._entries.extend(kept[-rounds:])
        self._begin(0)

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
        self.observations, self._before = 0, 0.0
        self.calls.clear()
        self.forget()

    @property
    def data(self) -> list[Entry]:
        """The entries in the posterior's data, oldest first, with the rewards that it is given."""
        found = list(islice(self._entries, self._start, None))
        if self._change is None or not found:
            return found
        rewards = self._change(np.concatenate([entry.rewards for entry in found]))
        ends = np.cumsum([len(entry.rewards) for entry in found])[:-1]
        parts = np.split(rewards, ends)
        return [e._replace(rewards=part) for e, part in zip(found, parts, strict=True)]

    @property
    def entries(self) -> list[Entry]:
        """All entries kept, oldest first."""
        return list(self._entries)

    def gathered(self) -> tuple[Points, Array, Array, Array | None]:
        """All points, rewards, times and noise variances; the log must not be empty.

        The times are in rounds from the start, where data age. The variances are NaN where unknown,
        and None if all are.
        """
        entries = list(self._entries)
        ends = np.cumsum([self._before, *(entry.elapsed for entry in entries)])[:-1]
        return (
            np.concatenate([entry.points for entry in entries]),
            np.concatenate([entry.rewards for entry in entries]),
            np.repeat(ends, [len(entry.rewards) for entry in entries]),
            _noise_of(entries),
        )

    def replay(self, posterior: Posterior) -> None:
        """Condition an empty posterior, of any model, on the data; in one call without decay."""
        if posterior.ages:
            posterior.advance(0.0, self._before)
            for entry in self.data:
                posterior.learn(entry.points, entry.rewards)
                posterior.advance(entry.faded, entry.elapsed)
            return
        data = self.data
        self.calls = [count] if (count := sum(len(entry.rewards) for entry in data)) else []
        if (noise_var := _noise_of(data)) is not None:  # then nothing decays
            points = np.concatenate([entry.points for entry in data])
            rewards = np.concatenate([entry.rewards for entry in data])
            posterior.learn(points, rewards, noise_var)
            return
        posterior.replay((e.points, e.rewards, e.faded) for e in data)

    def repeat(self, posterior: Posterior) -> None:
        """Condition an empty posterior, which does not age, by the same calls as before."""
        points, rewards, _, noise_var = self.gathered()
        end = 0
        for size in self.calls:
            start, end = end, end + size
            own = None if noise_var is None else noise_var[start:end]
            if own is not None and np.isnan(own).all():
                own = None
            new = rewards[start:end]
            posterior.learn(points[start:end], self._change(new) if self._change else new, own)

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        entries = [(e.round, e.points.copy(), e.rewards.copy(), *e[3:]) for e in self._entries]
        return {
            "entries": entries,
            "before": self._before,
            "start": self._start,
            "since": self._since,
            "best_reward": self.best_reward,
            "observations": self.observations,
            "calls": list(self.calls),
        }

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        found = [
            Entry(int(t), np.array(p), np.array(r), float(e), float(dt), _copied(noise_var))
            for t, p, r, e, dt, noise_var in state["entries"]
        ]
        start, best = int(state["start"]), float(state["best_reward"])
        self._before, self._since = float(state["before"]), int(state.get("since", 0))
        self.observations, calls = int(state["observations"]), list(map(int, state["calls"]))
        self._entries.clear()
        self._entries.extend(found)
        self._start, self.best_reward, self.calls = start, best, calls


def _noise_of(entries: Collection[Entry]) -> Array | None:
    """The noise variances of the rewards of some entries, NaN where unknown; None if all are."""
    if all(entry.noise_var is None for entry in entries):
        return None
    parts = [
        np.full(len(entry.rewards), np.nan) if entry.noise_var is None else entry.noise_var
        for entry in entries
    ]
    return np.concatenate(parts)


def _copied(noise_var: Array | None) -> Array | None:
    return None if noise_var is None else np.array(noise_var, dtype=float)

"""The one log of an agent's observations, and what happens to old ones between rounds.

Observations are logged in the order in which the posterior was given them. They are kept, fade, or
are dropped: time belongs to the posterior, so every agent with a posterior takes `epsilon`,
`reset_every` and `window` as settings.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import Posterior


class Entry(NamedTuple):
    """What was observed together, and by how much all data faded after it.

    Args:
        round: the round; 0 for what was known beforehand.
        points: (k,) arms or (k, d) points of the posterior's domain.
        rewards: (k,).
        faded: epsilon: correlation fell by sqrt(1 - epsilon) before the next entry.
    """

    round: int
    points: NDArray[Any]
    rewards: Array
    faded: float


class ObservationLog:
    """Observations by round; those before the last reset or window are kept to learn a model from.

    Args:
        rounds: how many entries to keep: 0 for none, None for all that are needed.
        history: how many of the last observations are needed besides the posterior's data.

    Attributes:
        best_reward: the largest reward among the posterior's data, kept up even if no entry is;
            -inf without data.
        observations: how many rewards were logged in all since the start of the episode.
    """

    def __init__(self, rounds: int | None = 0, history: int = 0) -> None:
        self._entries: deque[Entry] = deque(maxlen=rounds)
        self._keeps, self._history = rounds != 0, history
        self._start, self.best_reward, self.observations = 0, -np.inf, 0

    def append(self, round_: int, points: NDArray[Any], rewards: Array) -> None:
        """Log what the posterior was just conditioned on; the arrays are copied."""
        self.observations += len(rewards)
        for reward in rewards.tolist():
            if reward > self.best_reward:
                self.best_reward = reward
        if self._keeps:
            if len(self._entries) == self._entries.maxlen:
                self._start = max(0, self._start - 1)
            self._entries.append(Entry(round_, points.copy(), rewards.copy(), 0.0))

    def fade(self, epsilon: float) -> None:
        """Time passes: the data so far lose correlation by sqrt(1 - epsilon)."""
        if self._entries:
            last = self._entries[-1]
            both = 1.0 - (1.0 - last.faded) * (1.0 - epsilon) if last.faded else epsilon
            self._entries[-1] = last._replace(faded=both)

    def forget(self) -> None:
        """The posterior was emptied: none of what is logged are its data any more."""
        self._begin(len(self._entries))

    def keep_last(self, entries: int) -> bool:
        """Only the last entries are the posterior's data; True if any is dropped by that."""
        start = max(self._start, len(self._entries) - entries)
        if start == self._start:
            return False
        self._begin(start)
        return True

    def _begin(self, start: int) -> None:
        """The data start at that entry; older ones that nobody needs are dropped now and then."""
        self._start = start
        data = self.data
        self.best_reward = max((r for e in data for r in e.rewards.tolist()), default=-np.inf)
        if start > 2 * self._history:
            needed = self._history - sum(len(entry.rewards) for entry in data)
            for entry in islice(reversed(self._entries), len(data), None):
                if needed <= 0:
                    break
                needed -= len(entry.rewards)
                start -= 1
            for _ in range(start):
                self._entries.popleft()
            self._start -= start

    def keep_rounds(self, rounds: int, epsilon: float) -> None:
        """Only the last rounds are kept, as if they had always faded at another rate."""
        kept = [entry._replace(faded=epsilon) for entry in self._entries if entry.round]
        self._entries.clear()
        self._entries.extend(kept[-rounds:])
        self._begin(0)

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
        self.observations = 0
        self.forget()

    @property
    def data(self) -> list[Entry]:
        """The entries that are the posterior's data, oldest first."""
        return list(islice(self._entries, self._start, None))

    @property
    def entries(self) -> list[Entry]:
        """All that is kept, oldest first."""
        return list(self._entries)

    def last(self, observations: int) -> tuple[NDArray[Any], Array]:
        """The points and rewards of the last so many kept observations; there is at least one."""
        chosen: list[Entry] = []
        count = 0
        for entry in reversed(self._entries):
            if count >= observations:
                break
            chosen.append(entry)
            count += len(entry.rewards)
        points = np.concatenate([entry.points for entry in reversed(chosen)])
        rewards = np.concatenate([entry.rewards for entry in reversed(chosen)])
        return points[-observations:], rewards[-observations:]

    def replay(self, posterior: Posterior) -> None:
        """Condition an empty posterior, of any model, on its data; at once, if none has faded."""
        posterior.replay((entry.points, entry.rewards, entry.faded) for entry in self.data)

    def snapshot(self) -> dict[str, Any]:
        """All that changes, as plain copied data."""
        entries = [(e.round, e.points.copy(), e.rewards.copy(), e.faded) for e in self._entries]
        return {
            "entries": entries,
            "start": self._start,
            "best_reward": self.best_reward,
            "observations": self.observations,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Back to a snapshot."""
        entries: Sequence[Any] = state["entries"]
        found = [Entry(int(t), np.array(p), np.array(r), float(e)) for t, p, r, e in entries]
        start, best = int(state["start"]), float(state["best_reward"])
        self.observations = int(state["observations"])
        self._entries.clear()
        self._entries.extend(found)
        self._start, self.best_reward = start, best


class Forgetting(ABC):
    """What happens to the data after each round.

    Attributes:
        rounds: how many entries of the log it needs.
    """

    rounds: int = 0

    @abstractmethod
    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        """Prepare posterior and log, which hold the rewards of this round, for the next one."""


class Fade(Forgetting):
    """Correlation with a round j rounds ago is multiplied by (1 - epsilon)^(j/2).

    Args:
        epsilon: in [0, 1]; 0 keeps everything, 1 forgets everything.
    Source: bogunovic2016, eqs. (7)-(8).
    """

    def __init__(self, epsilon: float) -> None:
        if positive(epsilon, "epsilon", zero=True) > 1:
            raise InvalidInput(f"epsilon must lie in [0, 1], got {epsilon!r}")
        self.epsilon = float(epsilon)

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if self.epsilon:
            posterior.drift(self.epsilon, 1.0)
            log.fade(self.epsilon)


class Restart(Forgetting):
    """Everything is forgotten after each block of rounds.

    Args:
        every: the block length N >= 1.
    Source: bogunovic2016, Algorithm 1: reset at every t with t mod N = 1.
    """

    def __init__(self, every: int) -> None:
        self.every = whole(every, "reset_every")

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if round_ % self.every == 0:
            posterior.forget()
            log.forget()


class Window(Forgetting):
    """Only the last rounds count; once the window is full, the posterior is built anew each round.

    Args:
        rounds: the window's length W >= 1.
    Source: sliding windows as in Zhou and Shroff (2021), SW-GP-UCB.
    """

    def __init__(self, rounds: int) -> None:
        self.window = whole(rounds, "window")
        self.rounds = self.window + 1  # one more, to see that it drops out

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if log.keep_last(self.window):
            posterior.forget()
            for entry in log.data:
                posterior.condition(entry.points, entry.rewards)


def forgetting_for(
    epsilon: float | None, reset_every: int | None, window: int | None
) -> Forgetting | None:
    """The rule of the settings of these names, of which at most one is given; None to keep all.

    Raises:
        InvalidInput: two of them, or a number out of range.
    """
    given = {"epsilon": epsilon, "reset_every": reset_every, "window": window}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InvalidInput(f"give at most one of {', '.join(given)}, got {' and '.join(named)}")
    if epsilon is not None:
        return Fade(epsilon)
    if reset_every is not None:
        return Restart(reset_every)
    return None if window is None else Window(window)

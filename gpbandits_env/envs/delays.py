"""Rewards that arrive some rounds after their actions were played, or never."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gpbandits_env.arrays import Array, IntArray, Points, Scalar, Settings, share, whole
from gpbandits_env.envs.bandit import Observation
from gpbandits_env.envs.episode import BoolArray, Noise
from gpbandits_env.errors import InvalidInput
from gpbandits_env.specs import arguments

NEVER = -1
# An observation has an action and a reward for each possible delay.
LONGEST = 100_000


@dataclass(frozen=True, kw_only=True)
class Delays:
    """The law of the number of rounds by which a reward is late, independent for every action.

    It is uniform on the integers from ``least`` to ``most``. With 0 rounds a reward arrives in the
    observation of its own round.

    Args:
        least: the smallest delay, from 0 to 100,000.
        most: the largest delay; by default ``least``, a fixed delay.
        lost: the probability in [0, 1] that a reward never arrives.
    Raises:
        InvalidInput: a number is out of range, or the smallest delay exceeds the largest.
    """

    least: int
    most: int | None = None
    lost: float = 0.0

    def __post_init__(self) -> None:
        least = whole(self.least, "least", 0, LONGEST)
        most = least if self.most is None else whole(self.most, "most", 0, LONGEST)
        object.__setattr__(self, "most", most)
        if least > most:
            raise InvalidInput(f"least must not exceed most, got {self.least} and {most}")
        share(self.lost, "lost")

    def slots(self, batch_size: int) -> int:
        """K, the number of actions whose rewards may arrive in a round of m actions."""
        assert self.most is not None
        return batch_size * (self.most + 1)

    def from_normal(self, normal: Array) -> IntArray:
        """Delays from standard normal numbers of any shape; `NEVER` if the reward is lost."""
        assert self.most is not None
        position = (ndtr(normal) - self.lost) / max(1.0 - self.lost, 1e-300)
        span = self.most - self.least
        delays = self.least + np.minimum(np.floor(position * (span + 1)), span)
        return np.where(position < 0.0, NEVER, delays).astype(np.int64)


DelaySpec: TypeAlias = int | Settings | Delays | None


def delays_for(spec: DelaySpec) -> Delays | None:
    """The delays for the argument ``delay``; None for rewards that are not delayed.

    Args:
        spec: a number of rounds, a dict such as {"least": 2, "most": 20, "lost": 0.1}, or None.
    Raises:
        InvalidInput: another type, or a number is out of range.
        UnknownName: a dict has another key.
    """
    if spec is None or isinstance(spec, Delays):
        return spec
    if not isinstance(spec, Mapping):
        return Delays(least=whole(spec, "a delay that is not a dict", 0, LONGEST))
    key = "field of the argument 'delay'"
    return Delays(**arguments(Delays, spec, "delay: ", key, lambda _, value, kind: value))


class LateRewards:
    """The rewards of the last rounds: what arrives now, and what has not arrived.

    There are K = m (most + 1) slots. The action i of the round that is j rounds old has slot
    j m + i, so that slots show the round of an action.

    Args:
        delays: their law.
        first: the actions before the first round, (K, ...).
        batch_size: m.
        instances: B, or None for a single instance, whose arrays have no axis of instances.
    """

    def __init__(
        self, delays: Delays, first: Points, batch_size: int, instances: int | None
    ) -> None:
        self._delays, self._m, self._axis = delays, batch_size, 0 if instances is None else 1
        self._first = first
        self.actions = first.copy() if instances is None else np.stack([first] * instances)
        slots = self.actions.shape[: self._axis + 1]
        self._rewards: Array = np.zeros(slots)
        # The number of rounds until the reward of a slot arrives; negative if it will not.
        self._due: IntArray = np.full(slots, NEVER)
        self._normal = Noise(instances, batch_size)

    def begin(self, i: int, rng: np.random.Generator) -> None:
        """Empty an instance, and set the generator of its delays."""
        at = (i,) if self._axis else ()
        self.actions[at], self._rewards[at], self._due[at] = self._first, 0.0, NEVER
        self._normal.put(i, rng, 1.0)

    def add(self, actions: Points, rewards: Array, observed: BoolArray | None) -> IntArray:
        """Enter the actions of a round and their rewards; return their delays, (m,) or (B, m)."""
        delays = self._delays.from_normal(self._normal.next())
        if observed is not None:
            delays[~observed] = NEVER
        self.actions = self._pushed(actions, self.actions)
        self._rewards = self._pushed(rewards, self._rewards)
        self._due = self._pushed(delays, self._due - 1)
        return delays

    def observation(self) -> Observation:
        """The actions of the last rounds, and the rewards that arrive now, (K,) or (B, K)."""
        arrived = self._due == 0
        return {
            "actions": self.actions.copy(),
            "rewards": np.where(arrived, self._rewards, 0.0),
            "arrived": arrived.astype(np.int8),
        }

    def _pushed(self, new: NDArray[Scalar], old: NDArray[Scalar]) -> NDArray[Scalar]:
        kept = old[: len(old) - self._m] if not self._axis else old[:, : old.shape[1] - self._m]
        return np.concatenate([new, kept], axis=self._axis)

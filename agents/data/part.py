"""The interface of the parts of an agent that remember."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gpbandits_env.agents.data.columns import Data
from gpbandits_env.arrays import Array, Points, State


@dataclass(frozen=True, slots=True)
class Observed:
    """What an agent observed, as its parts receive it before the posterior is conditioned on it.

    Args:
        actions: (k,) arms or (k, d) points of the problem's domain; k may be 0.
        points: the same points in the domain of the data.
        rewards: (k,).
        given: (k,) the rewards as the posterior will receive them.
        rounds: (k,) the rounds of the actions; for prior data they lie between two rounds.
        source: "round", "late" rewards of pending actions, or "prior" data.
        round: the number of rounds so far.
        clock: the present time.
        posterior: the posterior before these observations.
        best_reward: the largest reward that counted before; -inf without any.
        first_round: the earliest round that counted before; infinite without any.
        data: all data, with these observations as far as they are informative.
    """

    actions: Points
    points: Points
    rewards: Array
    given: Array
    rounds: Array
    source: str
    round: int
    clock: float
    posterior: Any
    best_reward: float
    first_round: float
    data: Data


class Part:
    """A part of an agent; one that remembers owns its memory.

    Attributes:
        REMEMBERS: the names of the attributes that are its state: numbers, arrays and lists.
    """

    REMEMBERS: ClassVar[tuple[str, ...]] = ()

    def begin(self) -> None:
        """Return to the state before any data."""
        return

    def observe(self, seen: Observed) -> None:
        """Take note of observations, before the posterior is conditioned on them."""
        return

    def state(self) -> State:
        """What the part remembers, as a copy in plain data."""
        return {name: deepcopy(getattr(self, name)) for name in self.REMEMBERS}

    def restore(self, state: State) -> None:
        """Return to a state of `state`."""
        for name in self.REMEMBERS:
            kind, value = type(getattr(self, name)), deepcopy(state[name])
            setattr(self, name, np.array(value, float) if kind is np.ndarray else kind(value))


def observes(part: Part) -> bool:
    """Whether a part has a method `observe` of its own, so that it has to be called."""
    return type(part).observe is not Part.observe

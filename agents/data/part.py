"""The interface of the parts of an agent that remember."""

from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Points, State


@dataclass(slots=True)
class Observed:
    """What an agent observed at once.

    Args:
        source: "round", "late" rewards of pending actions, or "prior" data.
        actions: (k,) arms or (k, d) points of the problem's domain; k may be 0.
        points: what the agent learns from: for one with a posterior, points of its data.
        rewards: (k,).
        rounds: the rounds of the actions, (k,) or one for all; those of prior data may lie between
            two rounds.
        times: their times, likewise.
        noise_var: (k,) the known variances of the noise, NaN elsewhere; None if none is known.
        round: the number of rounds so far.
        clock: the present time.
    """

    source: str
    actions: Points
    points: Points
    rewards: Array
    rounds: Any
    times: Any
    noise_var: Array | None
    round: int
    clock: float

    def only(self, rows: NDArray[np.bool_]) -> "Observed":
        """The observations of a mask (k,)."""
        every: Any = {field.name: getattr(self, field.name) for field in fields(self)}
        columns: Any = {name: v[rows] for name, v in every.items() if isinstance(v, np.ndarray)}
        return replace(self, **columns)

    @property
    def each_round(self) -> Array:
        """The rounds of the actions, a read-only view (k,)."""
        return np.broadcast_to(self.rounds, self.rewards.shape)


class Part:
    """A part of an agent; one that remembers owns its memory.

    Attributes:
        REMEMBERS: the names of the attributes that are its state: numbers, arrays and lists.
    """

    REMEMBERS: ClassVar[tuple[str, ...]] = ()

    def begin(self) -> None:
        """Return to the state before any data."""

    def observe(self, seen: Observed, before: Any) -> None:
        """Take note of observations, before the posterior is conditioned on them.

        Args:
            seen: the observations.
            before: the agent's `Conditioned`: the posterior before these observations, and all
                data, with these as far as they are informative.
        """

    def planned(self, posterior: Any, m: int) -> Points | None:
        """The m points of a round that are chosen without an acquisition; None in other rounds."""
        return None

    def state(self) -> State:
        """What the part remembers, as a copy in plain data."""
        return {name: deepcopy(getattr(self, name)) for name in self.REMEMBERS}

    def restore(self, state: State) -> None:
        """Return to a state of `state`."""
        for name in self.REMEMBERS:
            kind, value = type(getattr(self, name)), deepcopy(state[name])
            setattr(self, name, np.array(value, float) if kind is np.ndarray else kind(value))

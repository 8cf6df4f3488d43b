"""Abrupt changes: the function is drawn anew at given or at random times."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import whole
from gpbandits_env.drift.base import DRIFTS, Drift, Fresh, Memory
from gpbandits_env.drift.markov import check_epsilon


@DRIFTS.register("change-points")
@dataclass(frozen=True)
class ChangePoints(Drift):
    """A new independent function at some rounds, the same one in between.

    Args:
        times: rounds t >= 2 that start with a new function.
        rate: besides, the chance in [0, 1] of a new function at every round.
    Raises:
        InvalidInput: a time below 2, or a rate outside [0, 1].
    """

    times: tuple[int, ...] = ()
    rate: float = 0.0

    def __post_init__(self) -> None:
        times = (self.times,) if isinstance(self.times, int) else tuple(self.times)
        object.__setattr__(self, "times", tuple(sorted(whole(t, "times", 2) for t in times)))
        object.__setattr__(self, "rate", check_epsilon(self.rate, "rate"))

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        by_chance = self.rate > 0.0 and rng.random() < self.rate
        return (fresh(),) if by_chance or t + 1 in self.times else memory

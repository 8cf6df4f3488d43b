"""Time that passes between two evaluations: that of an evaluation, and the agent's thinking."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.arrays import Array, Settings, all_of, mapping, positive
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.rewards.functions.process import ROUNDING
from gpbandits_env.specs import arguments

MEASURED = "measured"


@dataclass(frozen=True, kw_only=True)
class Clock:
    """How long an evaluation and the agent's thinking take, in seconds, and how fast the drift is.

    The function moves while the agent thinks. A round begins when the agent has the rewards of the
    last one (or the first observation). It thinks, and then its actions take effect; their rewards
    are those of the function at that time, and arrive when the evaluation is over. With
    ``thinking=0`` and an evaluation of one unit, every round is as without a clock.

    Args:
        evaluation: the seconds of a round of evaluations, at least 0.
        thinking: "measured", the processor time between two calls of the environment, which is that
            of the agent's `ask` and `tell`; or a number of seconds; or the coefficients c_0, c_1,
            ... of a cost model: round n takes c_0 + c_1 n + c_2 n^2 + ... seconds. Declared times
            make an episode reproducible to the bit.
        scale: a factor of measured times, for a processor of another speed.
        unit: the seconds of one unit of the drift, which is a round without a clock.
        duration: the seconds after which the episode is truncated; None for no limit.
    Raises:
        InvalidInput: a number is negative, the scale, the unit or the duration is not positive, or
            no time would ever pass.
        UnknownName: ``thinking`` is another word.
    """

    evaluation: float = 1.0
    thinking: str | float | tuple[float, ...] = MEASURED
    scale: float = 1.0
    unit: float = 1.0
    duration: float | None = None

    def __post_init__(self) -> None:
        positive(self.evaluation, "evaluation", zero=True)
        positive(self.scale, "scale")
        positive(self.unit, "unit")
        if self.duration is not None:
            positive(self.duration, "duration")
        if isinstance(self.thinking, str):
            one_of(self.thinking, (MEASURED,), "thinking")
            return
        given = self.thinking if isinstance(self.thinking, Sequence) else (self.thinking,)
        costs = all_of(object, given, "thinking", "numbers")
        costs = tuple(positive(c, "thinking", zero=True) for c in costs)
        object.__setattr__(self, "thinking", costs)
        if not any(costs) and not self.evaluation:
            raise InvalidInput("evaluation and thinking are both 0: no time would pass")

    def thought(self, n: int, measured: float) -> float:
        """The time of thinking before round n, in units of the drift."""
        if isinstance(self.thinking, str):
            return self.scale * max(measured, 0.0) / self.unit
        costs = np.asarray(self.thinking)
        return float(costs @ float(n) ** np.arange(len(costs))) / self.unit


ClockSpec: TypeAlias = Settings | Clock | None


def clock_for(spec: ClockSpec) -> Clock | None:
    """The clock for the argument ``clock`` of an environment; None for none.

    Raises:
        InvalidInput: another type, or a number is out of range.
        UnknownName: a dict has another key.
    """
    if spec is None or isinstance(spec, Clock):
        return spec
    words = 'a dict such as {"evaluation": 0.1, "thinking": "measured"}'
    table, key = mapping(spec, "clock", words), "field of the argument 'clock'"
    return Clock(**arguments(Clock, table, "clock: ", key, lambda _, value, kind: value))


class Timing:
    """The times of an episode, in units of the drift.

    Attributes:
        read: the time at which the last rewards hold; 0 before the first.
        now: the time at which they arrived.
        regret: the integral over time of the regret of the actions in force, per action, until
            `read`. The first actions count from the start. By the trapezoidal rule between the
            times of the rounds, and about each unit of time in between (at most 100 parts).
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.read = self.now = self.regret = 0.0
        self._left = process_time()

    def think(self, n: int) -> float:
        """Let the thinking before round n pass; the time since the last rewards were read."""
        before = self.read
        self.read = self.now + self.clock.thought(n, process_time() - self._left)
        return self.read - before

    def past(self, end: float) -> bool:
        """Whether the last rewards arrived at this time or later, up to the rounding of sums."""
        return self.now >= (1.0 - ROUNDING) * end

    def over(self, rounds: int | None) -> bool:
        """Whether the time of the clock, or that of functions of so many rounds, is over."""
        ends = (self.clock.duration and self.clock.duration / self.clock.unit, rounds)
        return any(end is not None and self.past(end) for end in ends)

    def shown(self) -> Array:
        """The times in an observation, (2,); from then on the agent thinks."""
        self._left = process_time()
        return np.array([self.read, self.now])

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._left = process_time()  # a process that loads the episode has another clock

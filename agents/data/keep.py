"""Which of an agent's data count: all, those of the last rounds, or those of a mask.

How data age that count is said by the model (`epsilon`, `temporal`). Every agent with a posterior
has the settings `epsilon`, `temporal` and `discount` for this, and `reset_every`, `window` and
`keep` for what counts.
"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.part import Part
from gpbandits_env.arrays import Settings, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.temporal import MarkovTime, TemporalKernel, temporal_from_dict


class Keep(Part):
    """All data count, or those since a round at which a new stage began.

    A rule of another kind overrides `first`, if it is one of rounds, or `counts`, or derives from
    `Masked`.

    Attributes:
        stage: the first round that counts; data of earlier rounds are not used for fits either.
        stages: the number of stages that have ended, each of which starts with the given model.
        start: the first round that counts, which a part of the agent may move.
        forgets: whether data of the present stage may stop counting.
        masks: whether rounds alone do not say what counts; the data that count may then also age,
            by ``epsilon`` or ``temporal``. This and `forgets` follow from what a rule overrides.
    """

    REMEMBERS: ClassVar[tuple[str, ...]] = ("stage", "stages", "start")
    forgets: ClassVar[bool] = False
    masks: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.masks |= cls.counts is not Keep.counts or cls.usable is not Keep.usable
        cls.forgets |= cls.masks or cls.first is not Keep.first

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.stage, self.stages, self.start = -math.inf, 0, -math.inf

    def first(self, t: int) -> float:
        """The first round whose data may count when the actions of round t are chosen.

        It never decreases with t. Pending actions count from this round on.
        """
        return max(self.stage, self.start)

    def counts(self, data: Data, t: int) -> NDArray[np.bool_]:
        """Which rows count when the actions of round t are chosen, (size,).

        The posterior learns new rows if those that it holds still count and no earlier one does;
        otherwise it is conditioned anew. Between two calls of `observe`, the rows depend only on t.
        """
        if math.isnan(first := self.first(t)):
            raise InvalidInput(f"{type(self).__name__}.first returned {first} for round {t}")
        return self.usable(data) & (data.rounds >= first)

    def usable(self, data: Data) -> NDArray[np.bool_]:
        """Which rows a fit may use, (size,): those of the present stage."""
        return data.rounds >= self.stage


class Restart(Keep):
    """All data are discarded after each block of rounds.

    Args:
        every: the block length N >= 1.
    Source: bogunovic2016, Algorithm 1. ERRATUM: it prints t mod N = 1, which is never true for
        N = 1; the rounds 1, N + 1, 2N + 1, ... are meant.
    """

    def __init__(self, *, every: int) -> None:
        self.every = whole(every, "reset_every")
        super().__init__()

    def first(self, t: int) -> float:
        # Data known after the last round of a block count in the next one.
        return self.stage if t <= self.every else max(self.stage, t - (t - 1) % self.every - 0.5)


class Window(Keep):
    """Only the data of the last rounds count.

    Args:
        rounds: the length W >= 1 of the window.
    Source: sliding windows as in Zhou and Shroff (2021), SW-GP-UCB.
    """

    def __init__(self, *, rounds: int) -> None:
        self.window = whole(rounds, "window")
        super().__init__()

    def first(self, t: int) -> float:
        return max(self.stage, t - self.window)


class Since(Keep):
    """The data count since the round `start`, which a part of the agent moves."""

    forgets = True


class Masked(Keep):
    """All data count but some rows, which a subclass determines in `observe`.

    A row that is dropped leaves the posterior and the fits; it may be taken back.

    Attributes:
        dropped: the rows that do not count, by their numbers in `Data`, in any order.
    """

    REMEMBERS = (*Keep.REMEMBERS, "dropped")

    def begin(self) -> None:
        super().begin()
        self.dropped: list[int] = []

    def usable(self, data: Data) -> NDArray[np.bool_]:
        counting = super().usable(data)
        counting[np.array(self.dropped, dtype=np.intp)] = False
        return counting


def drift_of(
    epsilon: float | None, temporal: TemporalKernel | Settings | None
) -> tuple[float | None, TemporalKernel | None]:
    """The settings ``epsilon`` and ``temporal``, of which a Markov kernel is the former.

    Raises:
        InvalidInput: both are given, or one is invalid.
    """
    if epsilon is not None:
        epsilon = positive(epsilon, "epsilon", zero=True)
    moving = None if temporal is None else temporal_from_dict(temporal)
    if epsilon is not None and moving is not None:
        raise InvalidInput("give epsilon or temporal, not both: epsilon is a Markov drift")
    if type(moving) is MarkovTime:
        return moving.epsilon, None
    return epsilon, moving

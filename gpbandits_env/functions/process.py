"""Reward processes: what the functions of an episode are drawn from, round after round."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.arrays import Array, finite_array, frozen, whole
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.functions.function import ArmFunction, Function

Drawn: TypeAlias = Mapping[str, Any]


class RewardPath(ABC):
    """The functions f_1, f_2, ... of an episode. Actions never enter.

    Attributes:
        function: that of the present round.
    """

    function: Function

    @abstractmethod
    def advance(self) -> None:
        """Advance to the next round."""

    @abstractmethod
    def snapshot(self) -> dict[str, Any]:
        """What `RewardProcess.restore` needs to continue from here, copied."""


class RewardProcess(ABC):
    """The law of the functions of an episode.

    Attributes:
        domain: the arms or the box of the functions.
        moves: whether a path ever changes its function.
    """

    domain: Domain
    moves: bool = True

    @abstractmethod
    def begin(self, rng: np.random.Generator) -> RewardPath:
        """A new path; a function of the generator's state alone."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> RewardPath:
        """The path whose `RewardPath.snapshot` this is; continues bit for bit."""

    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Two numbers between which every value lies."""


class StaticPath(RewardPath):
    """The same function in every round."""

    __slots__ = ("function",)

    def __init__(self, function: Function) -> None:
        self.function = function

    def advance(self) -> None:
        return

    def snapshot(self) -> dict[str, Any]:
        return {key: np.array(value) for key, value in self.function.snapshot().items()}


class StaticProcess(RewardProcess):
    """One function for a whole episode: `draw` makes it, `drawn` makes it again.

    A process of other functions than `ArmFunction` has a `drawn` of its own.
    """

    moves = False

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Function:
        """A function, independent of those drawn before."""

    def drawn(self, state: dict[str, Any]) -> Function:
        """The function whose `Function.snapshot` this is, equal bit for bit."""
        values = finite_array(state["values"], "values", ndim=1)
        if not isinstance(self.domain, Arms) or len(values) != self.domain.size:
            raise InvalidInput(f"the state is of a function on {len(values)} arms")
        return ArmFunction(values.copy())

    def begin(self, rng: np.random.Generator) -> StaticPath:
        return StaticPath(self.draw(rng))

    def restore(self, state: dict[str, Any]) -> StaticPath:
        return StaticPath(self.drawn(state))


class RoundPath(RewardPath):
    """A path given by what was drawn for the episode: f_t is ``at(drawn, t)``."""

    __slots__ = ("_at", "_drawn", "_round", "function")

    def __init__(self, at: Callable[[Drawn, int], Function], drawn: Drawn, round_: int = 1) -> None:
        self._at, self._drawn, self._round = at, drawn, round_
        self.function = at(drawn, round_)

    def advance(self) -> None:
        self._round += 1
        self.function = self._at(self._drawn, self._round)

    def snapshot(self) -> dict[str, Any]:
        return {**copy.deepcopy(dict(self._drawn)), "round": self._round}


class TableProcess(StaticProcess):
    """The rows of a table: each is a function on the arms, drawn uniformly with replacement.

    Args:
        arms: the n arms.
        table: (rows, n) values.
    Raises:
        InvalidInput: no rows, numbers that are not finite, or a width other than n.
    """

    def __init__(self, arms: Arms, table: Array) -> None:
        self.domain: Arms = arms
        self.table = _rows(arms, table)

    def draw(self, rng: np.random.Generator) -> ArmFunction:
        return ArmFunction(self.table[rng.integers(len(self.table))])

    def bounds(self) -> tuple[float, float]:
        return float(self.table.min()), float(self.table.max())


class ReplayProcess(RewardProcess):
    """The rows of a table in order, one a round; after the last comes the first again.

    Args:
        arms: the n arms.
        table: (rows, n) values.
        starts: rows that an episode may begin at, one drawn uniformly.
    Raises:
        InvalidInput: no rows, numbers that are not finite, another width, or no such row.
    """

    def __init__(self, arms: Arms, table: Array, starts: Sequence[int] = (0,)) -> None:
        self.domain: Arms = arms
        values = _rows(arms, table)
        if not starts or any(whole(row, "starts", 0) >= len(values) for row in starts):
            raise InvalidInput(f"starts must be rows in 0..{len(values) - 1}, got {shown(starts)}")
        self._starts = starts
        self._bounds = float(values.min()), float(values.max())
        self._functions = [ArmFunction(row) for row in values]

    def begin(self, rng: np.random.Generator) -> RoundPath:
        return RoundPath(self.at, {"start": self._starts[int(rng.integers(len(self._starts)))]})

    def restore(self, state: dict[str, Any]) -> RoundPath:
        start = whole(state["start"], "start", 0)
        if start not in self._starts:
            raise InvalidInput(f"no episode starts at row {start}")
        return RoundPath(self.at, {"start": start}, whole(state["round"], "round"))

    def bounds(self) -> tuple[float, float]:
        return self._bounds

    def at(self, drawn: Drawn, round_: int) -> ArmFunction:
        """The function of a round."""
        return self._functions[(drawn["start"] + round_ - 1) % len(self._functions)]


def _rows(arms: Arms, table: Array) -> Array:
    """The table, copied and checked."""
    values = finite_array(table, "table", ndim=2)
    if not len(values) or values.shape[1] != arms.size:
        raise InvalidInput(f"the table must have shape (rows, {arms.size}), got {values.shape}")
    return frozen(np.array(values))

"""Reward processes: the laws from which the functions of an episode are drawn, round by round."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.arrays import Array, IntArray, Points, State, finite_array, frozen, whole
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.rewards.functions.function import ArmFunction, Function

Drawn: TypeAlias = Mapping[str, Any]


class RewardPath(ABC):
    """The functions f_1, f_2, ... of an episode. They do not depend on the actions.

    Attributes:
        function: the function of the current round.
        rounds: the number of rounds that there are; None if there is no end.
    """

    function: Function
    rounds: int | None = None

    @abstractmethod
    def advance(self) -> None:
        """Advance to the next round."""

    def context(self, t: int) -> Points:
        """The context of round t, the present or the next one: a new array (1,) or (1, q).

        Raises:
            InvalidInput: the functions have no contexts.
        """
        raise InvalidInput("the functions of this path have no contexts")

    @abstractmethod
    def snapshot(self) -> State:
        """A copy of the state that `RewardProcess.restore` needs to continue from here.

        If it has the key "round", this is the round of the function, counted from 1.
        """


class RewardProcess(ABC):
    """The law of the functions of an episode.

    Attributes:
        domain: the arms or the box of the functions.
        moves: whether the function can change within an episode.
        rounds: the number of rounds of the shortest episode; None if there is no end.
    """

    domain: Domain
    moves: bool = True
    rounds: int | None = None

    @abstractmethod
    def begin(self, rng: np.random.Generator) -> RewardPath:
        """A new path, which depends only on the state of the generator."""

    @abstractmethod
    def restore(self, state: State) -> RewardPath:
        """The path of a `RewardPath.snapshot`; it continues bit for bit."""

    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """A lower and an upper bound on all values."""


class StaticPath(RewardPath):
    """The same function in every round."""

    __slots__ = ("function",)

    def __init__(self, function: Function) -> None:
        self.function = function

    def advance(self) -> None:
        return

    def snapshot(self) -> State:
        return {key: np.array(value) for key, value in self.function.snapshot().items()}


class StaticProcess(RewardProcess):
    """One function for a whole episode: `draw` makes it, and `drawn` restores it.

    A process that draws functions other than `ArmFunction` must override `drawn`.
    """

    moves = False

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Function:
        """A function that is independent of all earlier draws."""

    def drawn(self, state: State) -> Function:
        """The function of a `Function.snapshot`, equal bit for bit."""
        values = finite_array(state["values"], "values", ndim=1)
        if not self.domain.finite or len(values) != self.domain.size:
            raise InvalidInput(f"the state belongs to a function on {len(values)} arms")
        return ArmFunction(values.copy())

    def begin(self, rng: np.random.Generator) -> StaticPath:
        return StaticPath(self.draw(rng))

    def restore(self, state: State) -> StaticPath:
        return StaticPath(self.drawn(state))


class RoundPath(RewardPath):
    """A path that is determined by the episode's draw: f_t is ``at(drawn, t)``."""

    __slots__ = ("_at", "_drawn", "_known", "_round", "function", "rounds")

    def __init__(
        self,
        at: Callable[[Drawn, int], Function],
        drawn: Drawn,
        round_: int = 1,
        known: Callable[[Drawn, int], Points] | None = None,
        rounds: int | None = None,
    ) -> None:
        self._at, self._drawn, self._round, self._known = at, drawn, round_, known
        self.rounds = rounds
        self.function = at(drawn, round_)

    def context(self, t: int) -> Points:
        return super().context(t) if self._known is None else self._known(self._drawn, t)

    def advance(self) -> None:
        self._round += 1
        self.function = self._at(self._drawn, self._round)

    def snapshot(self) -> State:
        return {**copy.deepcopy(dict(self._drawn)), "round": self._round}


class TableProcess(StaticProcess):
    """Each row of a table is a function on the arms; rows are drawn uniformly with replacement.

    Args:
        arms: the n arms.
        table: (rows, n) values.
    Raises:
        InvalidInput: the table has no rows, not n columns, or numbers that are not finite.
    """

    def __init__(self, arms: Arms, table: Array) -> None:
        self.domain: Arms = arms
        self.table = _rows(arms, table)

    def draw(self, rng: np.random.Generator) -> ArmFunction:
        return ArmFunction(self.table[rng.integers(len(self.table))])

    def bounds(self) -> tuple[float, float]:
        return float(self.table.min()), float(self.table.max())


class ReplayProcess(RewardProcess):
    """The rows of a table in order, one per round; the episode ends with the last row.

    Args:
        arms: the n arms.
        table: (rows, n) values.
        starts: the rows at which an episode may begin; one is drawn uniformly.
        contexts: the context of each row, (rows,) or (rows, q), if there are contexts.
        repeat: whether the first row follows the last, without end.
    Raises:
        InvalidInput: the table has no rows, not n columns, or numbers that are not finite; or a
            start is not a row.
    """

    def __init__(
        self,
        arms: Arms,
        table: Array,
        starts: Sequence[int] = (0,),
        contexts: Points | None = None,
        repeat: bool = False,
    ) -> None:
        self._contexts, self._repeat = contexts, repeat
        self.domain: Arms = arms
        values = _rows(arms, table)
        if not starts or any(whole(row, "starts", 0) >= len(values) for row in starts):
            raise InvalidInput(f"starts must be rows in 0..{len(values) - 1}, got {shown(starts)}")
        self._starts = starts
        self._bounds = float(values.min()), float(values.max())
        self._functions = [ArmFunction(row) for row in values]
        if not repeat:
            self.rounds = len(values) - max(starts)

    @property
    def table(self) -> Array:
        """The (rows, n) values, a new array."""
        return np.stack([function.values for function in self._functions])

    def begin(self, rng: np.random.Generator) -> RoundPath:
        return self._path({"start": self._starts[int(rng.integers(len(self._starts)))]})

    def restore(self, state: State) -> RoundPath:
        start = whole(state["start"], "start", 0)
        if start not in self._starts:
            raise InvalidInput(f"the state is invalid: no episode starts at row {start}")
        return self._path({"start": start}, whole(state["round"], "round"))

    def _path(self, drawn: Drawn, round_: int = 1) -> RoundPath:
        known = None if self._contexts is None else self.context
        rounds = None if self._repeat else len(self._functions) - int(drawn["start"])
        return RoundPath(self.at, drawn, round_, known, rounds)

    def context(self, drawn: Drawn, round_: int) -> Points:
        """The context of a round, a new array (1,) or (1, q)."""
        assert self._contexts is not None
        row = self._row(drawn, round_)
        return self._contexts[row : row + 1].copy()

    def bounds(self) -> tuple[float, float]:
        return self._bounds

    def at(self, drawn: Drawn, round_: int) -> ArmFunction:
        """The function of a round."""
        return self._functions[self._row(drawn, round_)]

    def _row(self, drawn: Drawn, round_: int) -> int:
        """The row of a round; the last one also for the context that is shown after it."""
        row, rows = int(drawn["start"] + round_ - 1), len(self._functions)
        return row % rows if self._repeat else min(row, rows - 1)


class ShuffledProcess(ReplayProcess):
    """The rows of a table in an order that is drawn at each reset, one per round, without end.

    Args:
        arms: the n arms.
        table: (rows, n) values.
        contexts: the context of each row, (rows,) or (rows, q).
    """

    def __init__(self, arms: Arms, table: Array, contexts: Points) -> None:
        super().__init__(arms, table, contexts=contexts, repeat=True)

    def begin(self, rng: np.random.Generator) -> RoundPath:
        return self._path({"order": rng.permutation(len(self._functions))})

    def restore(self, state: State) -> RoundPath:
        order = np.array(state["order"])
        if not np.array_equal(np.sort(order), np.arange(len(self._functions))):
            raise InvalidInput("the state is invalid: the order is not one of the rows")
        return self._path({"order": order}, whole(state["round"], "round"))

    def _row(self, drawn: Drawn, round_: int) -> int:
        order: IntArray = drawn["order"]
        return int(order[(round_ - 1) % len(order)])


def _rows(arms: Arms, table: Array) -> Array:
    """A checked copy of the table."""
    values = finite_array(table, "table", ndim=2)
    if not len(values) or values.shape[1] != arms.size:
        raise InvalidInput(f"the table must have shape (rows, {arms.size}), got {values.shape}")
    return frozen(np.array(values))

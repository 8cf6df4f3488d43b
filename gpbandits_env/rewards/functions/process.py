"""Reward processes: the laws from which the functions of an episode are drawn, round by round."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from gpbandits_env.arrays import Array, IntArray, Points, finite_array, whole
from gpbandits_env.domains import Arms, Domain
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.rewards.functions.function import ArmFunction, Function

# Gymnasium requires finite bounds on observations; no reward of a drift of your own, of a test
# function or of a task is beyond this.
ANYTHING = 1e100
# The relative error of a sum of times.
ROUNDING = 1e-9


class RewardPath(ABC):
    """The functions f_1, f_2, ... of an episode. They do not depend on the actions.

    Attributes:
        function: the function of the current round.
        rounds: the number of rounds that there are; None if there is no end.
    """

    function: Function
    rounds: int | None = None

    @abstractmethod
    def advance(self, dt: float = 1.0) -> None:
        """Advance to the next round; with a clock, by dt > 0 rounds.

        An environment without a clock gives no argument.
        """

    def context(self, t: int) -> Points:
        """The context of round t, the present or the next one: a new array (1,) or (1, q).

        Raises:
            InvalidInput: the functions have no contexts.
        """
        raise InvalidInput("the functions of this path have no contexts")


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

    def bounds(self) -> tuple[float, float]:
        """A lower and an upper bound on all values; by default very wide ones."""
        return -ANYTHING, ANYTHING


class StaticPath(RewardPath):
    """The same function in every round."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def advance(self, dt: float = 1.0) -> None:
        return


class StaticProcess(RewardProcess):
    """One function for a whole episode, which `draw` makes."""

    moves = False

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Function:
        """A function that is independent of all earlier draws."""

    def begin(self, rng: np.random.Generator) -> StaticPath:
        return StaticPath(self.draw(rng))


class RoundPath(RewardPath):
    """A path whose function of round t is ``at(t)``."""

    def __init__(self, at: Callable[[float], Function]) -> None:
        self._at, self.function = at, at(1)
        self._round: float = 1

    def advance(self, dt: float = 1) -> None:
        self._round += dt
        self.function = self._at(self._round)


class ReplayPath(RoundPath):
    """Some rows of a table, in order.

    With a clock, a row holds until the next: between two rows, the function is the earlier one.
    """

    def __init__(self, process: "ReplayProcess", order: IntArray) -> None:
        self._process, self._order = process, order
        self.rounds = None if process.repeat else len(order)
        super().__init__(self._function_at)

    def _function_at(self, t: float) -> Function:
        return self._process.functions[self._row(t)]

    def context(self, t: int) -> Points:
        contexts = self._process.contexts
        if contexts is None:
            return super().context(t)
        row = self._row(t)
        return contexts[row : row + 1].copy()

    def _row(self, t: float) -> int:
        """The row of a round; the last one also for the context that is shown after it."""
        rows, t = len(self._order), int(t * (1.0 + ROUNDING))
        return int(self._order[(t - 1) % rows if self._process.repeat else min(t, rows) - 1])


class _Rows(RewardProcess):
    """The rows of a table, which are functions on the arms."""

    def __init__(self, arms: Arms, table: Array) -> None:
        values = finite_array(table, "table", ndim=2)
        if not len(values) or values.shape[1] != arms.size:
            raise InvalidInput(f"the table must have shape (rows, {arms.size}), got {values.shape}")
        self.domain: Arms = arms
        self.functions = [ArmFunction(row) for row in values.copy()]
        self._bounds = float(values.min()), float(values.max())

    @property
    def table(self) -> Array:
        """The (rows, n) values, a new array."""
        return np.stack([function.values for function in self.functions])

    def bounds(self) -> tuple[float, float]:
        return self._bounds


class TableProcess(_Rows, StaticProcess):
    """Each row of a table is a function on the arms; rows are drawn uniformly with replacement.

    Args:
        arms: the n arms.
        table: (rows, n) values.
    Raises:
        InvalidInput: the table has no rows, not n columns, or numbers that are not finite.
    """

    def draw(self, rng: np.random.Generator) -> ArmFunction:
        return self.functions[rng.integers(len(self.functions))]


class ReplayProcess(_Rows):
    """The rows of a table in order, one per round; the episode ends with the last row.

    Args:
        arms: the n arms.
        table: (rows, n) values.
        starts: the rows at which an episode may begin; one is drawn uniformly.
        contexts: the context of each row, (rows,) or (rows, q), if there are contexts.
        repeat: whether the first row follows the last, without end.
        shuffled: whether the rows are in an order that is drawn at each reset, from its beginning.
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
        shuffled: bool = False,
    ) -> None:
        super().__init__(arms, table)
        self.contexts, self.repeat, self._shuffled = contexts, repeat, shuffled
        rows = len(self.functions)
        if not starts or any(whole(row, "starts", 0) >= rows for row in starts):
            raise InvalidInput(f"starts must be rows in 0..{rows - 1}, got {shown(starts)}")
        self._starts = starts
        if not repeat:
            self.rounds = rows - max(starts)

    def begin(self, rng: np.random.Generator) -> ReplayPath:
        if self._shuffled:
            return ReplayPath(self, rng.permutation(len(self.functions)))
        start, rows = self._starts[int(rng.integers(len(self._starts)))], len(self.functions)
        order = np.arange(start, start + rows)
        return ReplayPath(self, order % rows if self.repeat else order[: rows - start])

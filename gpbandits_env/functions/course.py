"""The functions of successive rounds: one that stands still, one that drifts, a table replayed."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, finite_array, frozen, whole
from gpbandits_env.domains import Arms
from gpbandits_env.drift import Drift, Path
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.functions.base import Function, Source
from gpbandits_env.functions.gp import GPOnArms, GPOnBox
from gpbandits_env.functions.tables import ArmFunction

# Gymnasium wants finite bounds on observations; no reward of a user's drift is beyond this.
ANYTHING = 1e100


class Course(ABC):
    """What is played in an episode, round by round. Actions never enter.

    Attributes:
        function: the function of the round being played.
    """

    function: Function

    @abstractmethod
    def advance(self) -> None:
        """Go on to the next round."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What `CourseSource.resume` needs to go on from here, copied."""


class CourseSource(ABC):
    """What courses are drawn from.

    Attributes:
        domain: where the functions live.
        moves: whether a course ever changes its function.
    """

    domain: Any
    moves: bool = True

    @abstractmethod
    def begin(self, rng: np.random.Generator) -> Course:
        """A new course; a function of the generator's state alone."""

    @abstractmethod
    def resume(self, state: dict[str, Any]) -> Course:
        """The course whose `Course.state` this is; goes on equal bit for bit."""

    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Two numbers between which every value lies."""


class Still(Course):
    """The same function in every round."""

    __slots__ = ("function",)

    def __init__(self, function: Function) -> None:
        self.function = function

    def advance(self) -> None:
        return

    def state(self) -> dict[str, Any]:
        return {key: np.array(value) for key, value in self.function.state().items()}


class StillSource(CourseSource):
    """Courses that play one draw of a source for ever."""

    moves = False

    def __init__(self, source: Source) -> None:
        self.source = source
        self.domain = source.domain

    def begin(self, rng: np.random.Generator) -> Still:
        return Still(self.source.draw(rng))

    def resume(self, state: dict[str, Any]) -> Still:
        return Still(self.source.revive(state))

    def bounds(self) -> tuple[float, float]:
        return self.source.bounds()


class Drifting(Course):
    """A path of GP draws, read as functions."""

    __slots__ = ("_read", "function", "path")

    def __init__(self, path: Path, read: Callable[[Array], Function]) -> None:
        self.path, self._read = path, read
        self.function = read(path.values)

    def advance(self) -> None:
        self.function = self._read(self.path.advance())

    def state(self) -> dict[str, Any]:
        return self.path.snapshot()


class DriftingSource(CourseSource):
    """GP draws that drift: on arms by their values, in a box by their coefficients.

    Both are linear in white noise, so a drift works on either and its law is exact.

    Cost of a round: the drift's draws, and in a box one search for the maximum.

    Args:
        source: what is drawn.
        drift: how it moves.
    """

    def __init__(self, source: GPOnArms | GPOnBox, drift: Drift) -> None:
        self.source, self.drift = source, drift
        self.domain = source.domain

    def begin(self, rng: np.random.Generator) -> Drifting:
        return Drifting(Path(self.drift, self.source.vectors, rng), self.source.function_of)

    def resume(self, state: dict[str, Any]) -> Drifting:
        path = Path(self.drift, self.source.vectors, np.random.default_rng(0))
        path.restore(state)
        return Drifting(path, self.source.function_of)

    def bounds(self) -> tuple[float, float]:
        """Those of a draw; wide ones, where the drift may leave the law of a draw."""
        return self.source.bounds() if self.drift.keeps_marginal else (-ANYTHING, ANYTHING)


class Replay(Course):
    """The rows of a table, one a round; after the last comes the first again."""

    __slots__ = ("_functions", "function", "row")

    def __init__(self, functions: list[ArmFunction], row: int) -> None:
        self._functions, self.row = functions, row
        self.function = functions[row]

    def advance(self) -> None:
        self.row = (self.row + 1) % len(self._functions)
        self.function = self._functions[self.row]

    def state(self) -> dict[str, Any]:
        return {"row": self.row}


class ReplaySource(CourseSource):
    """Recorded rows, played in order.

    Args:
        arms: the n arms.
        table: (rows, n) values.
        starts: rows that an episode may begin at, one drawn uniformly; always the first when not
            given.
    Raises:
        InvalidInput: no rows, numbers that are not finite, another width, or no such row.
    """

    def __init__(self, arms: Arms, table: Array, starts: tuple[int, ...] = (0,)) -> None:
        values = finite_array(table, "table", ndim=2)
        if not len(values) or values.shape[1] != arms.size:
            raise InvalidInput(f"the table must have shape (rows, {arms.size}), got {values.shape}")
        if not starts or any(whole(row, "starts", 0) >= len(values) for row in starts):
            raise InvalidInput(f"starts must be rows in 0..{len(values) - 1}, got {shown(starts)}")
        self.domain: Arms = arms
        self.starts = starts
        self._bounds = float(values.min()), float(values.max())
        self._functions = [ArmFunction(frozen(np.array(row))) for row in values]

    def begin(self, rng: np.random.Generator) -> Replay:
        return Replay(self._functions, self.starts[int(rng.integers(len(self.starts)))])

    def resume(self, state: dict[str, Any]) -> Replay:
        return Replay(self._functions, int(state["row"]))

    def bounds(self) -> tuple[float, float]:
        return self._bounds

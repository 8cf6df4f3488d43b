"""How a function becomes the next round's function.

A drift works on vectors that are linear in white noise: the values of a GP draw at the arms, or
its coefficients in a box. Whatever it makes by mixing independent draws g_1, g_2, ... with
weights whose squares sum to 1 is again marginally GP(0, k), exactly.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.specs import Family

Fresh: TypeAlias = Callable[[], Array]
Memory: TypeAlias = tuple[Array, ...]


class Drift(ABC):
    """The law of f_1, f_2, ...: a declaration; what evolves is its memory (see `Path`).

    A drift of your own is a frozen dataclass with `step`; give it `start` if it keeps more than
    the last function, and `values` if f_t is not the first vector it keeps. All its randomness
    comes from the generator it is given, so that a path is a function of its seed.

    Attributes:
        keeps_marginal: every f_t has the law GP(0, k) of a fresh draw; tested by moments.
    """

    keeps_marginal: ClassVar[bool] = True

    def start(self, fresh: Fresh) -> Memory:
        """The memory at round 1; ``fresh()`` draws an independent function g ~ GP(0, k).

        What it returns is the drift's own, to change in place if it likes.
        """
        return (fresh(),)

    @abstractmethod
    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        """The memory at round t + 1 from the one at round t = 1, 2, ...; new arrays, none changed.

        Args:
            memory: what `start` or `step` returned.
            fresh: draws an independent function g ~ GP(0, k).
            t: the last round.
            rng: for the drift's own chances, e.g. random change points.
        """

    def values(self, memory: Memory, t: int) -> Array:
        """The function of round t, (n,), from its memory."""
        return memory[0]


DRIFTS: Family[Drift] = Family("drift")

UserStep: TypeAlias = Callable[[Array, Fresh, int, np.random.Generator], Array]


class FunctionDrift(Drift):
    """A user's function ``step(f, fresh, t, rng) -> f_next`` as a drift.

    Args:
        step: takes the values of round t, returns those of round t + 1.
        keeps_marginal: whether every f_t keeps the law of a fresh draw.
    """

    def __init__(self, step: UserStep, keeps_marginal: bool = False) -> None:
        self._step = step
        self.keeps_marginal = keeps_marginal  # type: ignore[misc]

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        # A copy, so that a step that works in place cannot reach a value already handed out.
        values = np.array(self._step(memory[0].copy(), fresh, t, rng), dtype=np.float64)
        if values.shape != memory[0].shape:
            raise InvalidInput(
                f"the drift must return shape {memory[0].shape}, as it was given, "
                f"got {values.shape} after round {t}"
            )
        return (values,)


def as_drift(spec: Any) -> Drift:
    """A drift from a plain dict, a drift, or a user's function (see `FunctionDrift`).

    Raises:
        InvalidInput: none of these.
        UnknownName: a dict with a "type" that does not exist.
    """
    if isinstance(spec, Drift):
        return spec
    if callable(spec):
        return FunctionDrift(spec)
    return DRIFTS.from_dict(spec)

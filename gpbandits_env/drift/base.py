"""How a function becomes the next round's function.

A drift works on vectors that are linear in white noise: the values of a GP draw at the arms, or its
coefficients in a box. If f = sum_i w_i g_i for independent draws g_i ~ GP(0, k) and sum_i w_i^2 =
1, then f ~ GP(0, k) exactly.
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
    """The law of f_1, f_2, ..., as a declaration; the state that evolves is a memory (see `Path`).

    A drift of your own is a frozen dataclass with a method `step`. Define `start` too if it keeps
    more than the last function, and `values` if f_t is not the first vector that it keeps. All
    randomness must come from the given generator, so that a path is a function of its seed.

    Attributes:
        keeps_marginal: whether every f_t has the law GP(0, k) of a fresh draw; tests check moments.
    """

    keeps_marginal: ClassVar[bool] = True

    def start(self, fresh: Fresh) -> Memory:
        """The memory at round 1; ``fresh()`` draws an independent function g ~ GP(0, k).

        The array that ``fresh()`` returns may be changed in place.
        """
        return (fresh(),)

    @abstractmethod
    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        """The memory at round t + 1 from the memory at round t = 1, 2, ...; it changes no array.

        Args:
            memory: the return value of `start` or of the last `step`.
            fresh: draws an independent function g ~ GP(0, k).
            t: the last round.
            rng: the generator for the drift's own randomness, such as random change points.
        """

    def values(self, memory: Memory, t: int) -> Array:
        """The function of round t, (n,), from its memory."""
        return memory[0]


DRIFTS: Family[Drift] = Family("drift")

UserStep: TypeAlias = Callable[[Array, Fresh, int, np.random.Generator], Array]


class FunctionDrift(Drift):
    """A user's function ``step(f, fresh, t, rng) -> f_next`` as a drift.

    Args:
        step: maps the values of round t to the values of round t + 1.
        keeps_marginal: whether every f_t keeps the law of a fresh draw.
    """

    def __init__(self, step: UserStep, keeps_marginal: bool = False) -> None:
        self._step = step
        self.keeps_marginal = keeps_marginal  # type: ignore[misc]

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        # A copy, so that a step that works in place cannot change values already returned.
        values = np.array(self._step(memory[0].copy(), fresh, t, rng), dtype=np.float64)
        if values.shape != memory[0].shape:
            raise InvalidInput(
                f"the drift must return the shape that it was given, {memory[0].shape}, but it "
                f"returned {values.shape} after round {t}"
            )
        return (values,)


def as_drift(spec: Any) -> Drift:
    """A drift from a plain dict, a drift, or a user's function (see `FunctionDrift`).

    Raises:
        InvalidInput: the argument is none of these.
        UnknownName: there is no drift of that "type".
    """
    if isinstance(spec, Drift):
        return spec
    if callable(spec):
        return FunctionDrift(spec)
    return DRIFTS.from_dict(spec)

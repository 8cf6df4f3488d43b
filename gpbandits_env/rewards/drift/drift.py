"""How a function becomes the next round's function, and the path f_1, f_2, ... of a seed.

A drift works on vectors that are linear in white noise: the values of a GP draw at the arms, or its
coefficients in a box. If f = sum_i w_i g_i for independent draws g_i ~ GP(0, k) and sum_i w_i^2 =
1, then f ~ GP(0, k) exactly.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.random import Generator

from gpbandits_env.arrays import Array, Plain, Settings, frozen, whole
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.seeding import child
from gpbandits_env.specs import Family

Fresh: TypeAlias = Callable[[], Array]
Memory: TypeAlias = tuple[Array, ...]


class Drift(ABC):
    """The law of f_1, f_2, ..., as a declaration; the state that evolves is a memory (see `Path`).

    A drift of your own is a frozen dataclass with a method `step`. Define `start` too if it keeps
    more than the last function, `values` if f_t is not the first vector that it keeps, and `elapse`
    if environments with a clock are to use it. All randomness must come from the given generator,
    so that a path is a function of its seed.

    Attributes:
        keeps_marginal: whether every f_t has the law GP(0, k) of a fresh draw; tests check moments.
    """

    keeps_marginal: ClassVar[bool] = True

    @property
    def known(self) -> Plain:
        """What agents are told: an ``epsilon`` or a ``temporal`` kernel, if one is its law."""
        return {}

    def start(self, fresh: Fresh) -> Memory:
        """The memory at round 1; ``fresh()`` draws an independent function g ~ GP(0, k).

        The array that ``fresh()`` returns may be changed in place.
        """
        return (fresh(),)

    @abstractmethod
    def step(self, memory: Memory, fresh: Fresh, t: int, rng: Generator) -> Memory:
        """The memory at round t + 1 from the memory at round t = 1, 2, ...; it changes no array.

        Args:
            memory: the return value of `start` or of the last `step`.
            fresh: draws an independent function g ~ GP(0, k).
            t: the last round.
            rng: the generator for the drift's own randomness, such as random change points.
        """

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        """The memory at t + dt from that at t >= 1, for any dt > 0; see `step`.

        Raises:
            InvalidInput: the drift moves from round to round only.
        """
        raise InvalidInput(
            f"the drift {type(self).__name__} moves from round to round only: an environment with "
            "a clock needs a drift that has a method elapse"
        )

    def moved(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        """The memory at t + dt, by `step` from one round to the next, otherwise by `elapse`."""
        if dt == 1.0 and isinstance(t, int):
            return self.step(memory, fresh, t, rng)
        return self.elapse(memory, fresh, t, dt, rng)

    def values(self, memory: Memory, t: float) -> Array:
        """The function of round t, (n,), from its memory; with a clock t need not be whole."""
        return memory[0]


DRIFTS: Family[Drift] = Family("drift", Drift)

UserStep: TypeAlias = Callable[[Array, Fresh, int, Generator], Array]


class FunctionDrift(Drift):
    """A user's function ``step(f, fresh, t, rng) -> f_next`` as a drift.

    It maps the values of round t to those of round t + 1. A drift that keeps the marginal law is a
    `Drift` of its own.
    """

    keeps_marginal = False

    def __init__(self, step: UserStep) -> None:
        self._step = step

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: Generator) -> Memory:
        # A copy, so that a step that works in place cannot change values already returned.
        return (np.array(self._step(memory[0].copy(), fresh, t, rng), dtype=np.float64),)


DriftSpec: TypeAlias = Drift | Settings | UserStep


def as_drift(spec: DriftSpec) -> Drift:
    """A drift from a plain dict, a drift, or a user's function (see `FunctionDrift`).

    Raises:
        InvalidInput: the argument is none of these.
        UnknownName: there is no drift of that "type".
    """
    if isinstance(spec, type):
        raise InvalidInput(f"a drift is an object, not a class: give {spec.__name__}(...)")
    if callable(spec) and not isinstance(spec, Drift):
        return FunctionDrift(spec)
    return DRIFTS.from_dict(spec)


DrawMany = Callable[[Generator, int], Array]

# This many innovations are drawn at a time: one sampler call serves several rounds, and one FFT
# yields two functions. The number is fixed, so that a path depends on its seed alone.
BLOCK = 8


class Path:
    """The functions of successive rounds.

    A path does not depend on the actions. It stores the memory of the drift and a block of draws.

    Args:
        drift: the law of the path.
        draw: ``draw(rng, size)`` gives (size, n) independent functions, e.g. a sampler's `draw`.
        rng: the generator of the path; two child generators are taken from it.
    """

    def __init__(self, drift: Drift, draw: DrawMany, rng: Generator) -> None:
        self.drift = drift
        self._draw = draw
        self._functions, self._chances = child(rng), child(rng)
        self._block: Array = draw(self._functions, BLOCK)
        self._next = 0
        self.round: float = 1
        self._memory = drift.start(self._fresh)
        self.values: Array = self._read(self._memory, 1)

    def advance(self, dt: float = 1.0) -> Array:
        """Move to the next round, or by dt > 0 rounds, and return the function (n,), read-only.

        Cost: at most one draw of the sampler for the Markov and change-point drifts.
        """
        memory = self.drift.moved(self._memory, self._fresh, self.round, dt, self._chances)
        after = self.round + dt
        after = int(after) if after == int(after) else after
        self.values = self._read(memory, after)
        self._memory, self.round = memory, after
        return self.values

    def ahead(self, rounds: int) -> Array:
        """The functions (rounds, n) of this round and the next ``rounds - 1``; advances the path.

        The result equals, bit for bit, reading `values` and calling `advance` ``rounds - 1`` times.
        """
        path = np.empty((whole(rounds, "rounds"), len(self.values)))
        path[0] = self.values
        for row in path[1:]:
            row[:] = self.advance()
        return path

    def _read(self, memory: Memory, t: float) -> Array:
        """The function of round t, checked: a drift may be a user's."""
        if not isinstance(memory, tuple):
            raise InvalidInput(
                f"the memory of the drift {type(self.drift).__name__} must be a tuple of arrays, "
                f"got {shown(memory)} in round {t:g}"
            )
        values = np.asarray(self.drift.values(memory, t), dtype=np.float64)
        if values.shape != (shape := self._block.shape[1:]):
            raise InvalidInput(
                f"the drift {type(self.drift).__name__} must return functions of shape {shape}, "
                f"that of a fresh draw, but it returned {values.shape} in round {t:g}"
            )
        # A sum is finite only if every term is: one pass, and no boolean array.
        if not math.isfinite(np.add.reduce(values)):
            raise InvalidInput(
                f"the drift {type(self.drift).__name__} returned NaN or infinity in round {t:g}"
            )
        return frozen(values)

    def _fresh(self) -> Array:
        if self._next >= len(self._block):
            self._block, self._next = self._draw(self._functions, BLOCK), 0
        self._next += 1
        return self._block[self._next - 1]

"""The path f_1, f_2, ... of a drift from one seed, streamed or drawn ahead with equal results."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, frozen, whole
from gpbandits_env.drift.base import Drift
from gpbandits_env.errors import InvalidInput
from gpbandits_env.seeding import child

DrawMany = Callable[[np.random.Generator, int], Array]

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

    def __init__(self, drift: Drift, draw: DrawMany, rng: np.random.Generator) -> None:
        self.drift = drift
        self._draw = draw
        self._functions, self._chances = child(rng), child(rng)
        self._block: Array = np.empty((0, 0))
        self._next = 0
        self.round = 1
        self._memory = drift.start(self._fresh)
        self.values: Array = self._read()

    def advance(self) -> Array:
        """Move to the next round and return its function (n,), read-only.

        Cost: at most one draw of the sampler for the Markov and change-point drifts.
        """
        self._memory = self.drift.step(self._memory, self._fresh, self.round, self._chances)
        self.round += 1
        self.values = self._read()
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

    def snapshot(self) -> dict[str, Any]:
        """The complete state as plain arrays and numbers, for `restore`."""
        return {
            "round": self.round,
            "memory": tuple(v.copy() for v in self._memory),
            "block": self._block.copy(),
            "next": self._next,
            "generators": tuple(g.bit_generator.state for g in (self._functions, self._chances)),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a `snapshot` of a path with the same drift and sampler."""
        functions, chances = state["generators"]
        self._functions.bit_generator.state = functions
        self._chances.bit_generator.state = chances
        block = state["block"].copy()
        memory = tuple(v.copy() for v in state["memory"])
        fits = block.shape == self._block.shape and len(memory) == len(self._memory)
        fits = fits and self.drift.values(memory, state["round"]).shape == self.values.shape
        if not fits or not all(np.isfinite(v).all() for v in (block, *memory)):
            raise InvalidInput("the state belongs to a path of another drift, or is not finite")
        self.round = whole(state["round"], "round")
        self._next = whole(state["next"], "next", 0, len(block))
        self._block, self._memory = block, memory
        self.values = self._read()

    def _read(self) -> Array:
        values = self.drift.values(self._memory, self.round)
        # A sum is finite only if every term is: one pass, and no boolean array.
        if not math.isfinite(np.add.reduce(values)):
            raise InvalidInput(
                f"the drift {type(self.drift).__name__} returned NaN or infinity in round "
                f"{self.round}"
            )
        return frozen(values)

    def _fresh(self) -> Array:
        if self._next >= len(self._block):
            self._block, self._next = self._draw(self._functions, BLOCK), 0
        self._next += 1
        return self._block[self._next - 1]

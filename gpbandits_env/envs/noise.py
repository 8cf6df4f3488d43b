"""Observation noise, drawn ahead in blocks because one call a round costs more than the numbers.

The numbers of a stream are the same however they are cut into blocks, so an environment of one
world and one of many, or one resumed in mid-block, see the same noise.
"""

from typing import Any

import numpy as np

from gpbandits_env.arrays import Array

# About this many numbers are drawn ahead for a world.
AHEAD = 1024


def rows_ahead(batch_size: int) -> int:
    """The number of rounds whose noise is drawn at once."""
    return max(1, min(256, AHEAD // batch_size))


class Noise:
    """The noise of one world: i.i.d. N(0, sd^2), m numbers a round.

    Args:
        rng: its own generator.
        sd: the standard deviation, at least 0; at 0 nothing is drawn.
        batch_size: m.
    """

    __slots__ = ("_block", "_next", "_rng", "_rows", "_sd")

    def __init__(self, rng: np.random.Generator, sd: float, batch_size: int) -> None:
        self._rng = rng
        self._sd = sd
        self._block: Array = np.zeros((rows_ahead(batch_size), batch_size))
        self._rows = self._next = len(self._block)

    def next(self) -> Array:
        """The next round's noise (m,): a view, to be read before the next call."""
        if self._next == self._rows:
            if self._sd:
                self._rng.standard_normal(out=self._block)
                self._block *= self._sd
            self._next = 0
        row: Array = self._block[self._next]
        self._next += 1
        return row

    def snapshot(self) -> dict[str, Any]:
        """The generator's state and what it has drawn ahead."""
        ahead = self._block[self._next :].copy()
        return {"generator": self._rng.bit_generator.state, "ahead": ahead}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a snapshot."""
        self._rng.bit_generator.state = state["generator"]
        ahead = state["ahead"]
        self._next = self._rows - len(ahead)
        self._block[self._next :] = ahead


class VectorNoise:
    """The noise of B worlds side by side; each world's is that of a `Noise` with its generator.

    Args:
        worlds: B.
        sd: the standard deviation, at least 0.
        batch_size: m.
    """

    def __init__(self, worlds: int, sd: float, batch_size: int) -> None:
        self._sd = sd
        self._rngs: list[np.random.Generator | None] = [None] * worlds
        self._block: Array = np.zeros((worlds, rows_ahead(batch_size), batch_size))
        self._rows = self._next = self._block.shape[1]

    def put(self, world: int, rng: np.random.Generator) -> None:
        """A new generator for one world; its first number is used in the next round."""
        self._rngs[world] = rng
        self._fill(world, self._next)

    def next(self) -> Array:
        """The next round's noise (B, m): a view, to be read before the next call."""
        if self._next == self._rows:
            for world in range(len(self._rngs)):
                self._fill(world, 0)
            self._next = 0
        rows: Array = self._block[:, self._next]
        self._next += 1
        return rows

    def _fill(self, world: int, start: int) -> None:
        rng = self._rngs[world]
        if self._sd and rng is not None and start < self._rows:
            rows = self._block[world, start:]
            rng.standard_normal(out=rows)
            rows *= self._sd

    def snapshot(self) -> dict[str, Any]:
        """The generators' states and what they have drawn ahead."""
        states = [rng and rng.bit_generator.state for rng in self._rngs]
        return {"generators": states, "ahead": self._block[:, self._next :].copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a snapshot."""
        self._rngs = [s and generator_at(s) for s in state["generators"]]
        ahead = state["ahead"]
        self._next = self._rows - ahead.shape[1]
        self._block[:, self._next :] = ahead


def generator_at(state: dict[str, Any]) -> np.random.Generator:
    """A generator whose bit generator is in the given state.

    Args:
        state: what `Generator.bit_generator.state` gave, of any of NumPy's bit generators.
    """
    bits: np.random.BitGenerator = getattr(np.random, state["bit_generator"])(0)
    bits.state = state
    return np.random.Generator(bits)

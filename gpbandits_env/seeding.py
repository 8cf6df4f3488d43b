"""Streams of random numbers that depend only on their names."""

import hashlib
import json

import numpy as np


def seed_for(*keys: str | int) -> int:
    """A seed that is a function of the keys, e.g. ("srinivas2010/se-1d", "agent", 3).

    It is the same on every machine, and different keys give independent streams (SHA-256).
    """
    text = json.dumps(keys, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def stream(*keys: str | int) -> np.random.Generator:
    """The generator of the stream named by the keys (see `seed_for`)."""
    return np.random.default_rng(seed_for(*keys))


class Streams:
    """Streams of random numbers named by whole numbers; four draws from ``rng`` set them all.

    No state needs to be stored, because a stream depends only on those draws and its name.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._key: list[int] = rng.integers(0, 2**63, size=4).tolist()

    def at(self, *name: int) -> np.random.Generator:
        """The generator of the stream of that name, at its beginning."""
        return np.random.default_rng([*self._key, *name])


def child(rng: np.random.Generator) -> np.random.Generator:
    """A new generator seeded by four draws from the given one.

    Unlike `Generator.spawn`, this changes nothing but the state of the given generator.
    """
    return Streams(rng).at()

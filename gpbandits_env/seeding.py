"""Streams of random numbers that depend on their name alone."""

import hashlib
import json

import numpy as np


def seed_for(*keys: str | int) -> int:
    """A seed that is a function of the keys, e.g. ("srinivas2010/se-1d", "agent", 3).

    The same keys give the same seed on every machine and in every process; different keys give
    independent streams (128 bits of SHA-256).

    Args:
        keys: strings and whole numbers that name the stream.
    """
    text = json.dumps(keys, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def stream(*keys: str | int) -> np.random.Generator:
    """The generator of the stream named by the keys (see `seed_for`)."""
    return np.random.default_rng(seed_for(*keys))


def child(rng: np.random.Generator) -> np.random.Generator:
    """A new generator whose stream is set by four draws from the given one.

    Unlike `Generator.spawn`, which counts children outside the bit generator, what comes next is
    a function of the generator's state alone, so a snapshot of that state is enough to resume.
    """
    return np.random.default_rng(rng.integers(0, 2**63, size=4).tolist())

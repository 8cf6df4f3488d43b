"""A belief that lives in the small box of an embedding."""

import zlib

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.agents.candidates import Places
from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.learning import InputScaling


class EmbeddedPlaces(Places):
    """Points y of a small box, played as points of a large one.

    What is told of a point outside the embedding's image counts at the nearest point of the image
    (`Embedding.lower`): rewards from there teach something wrong by so much.

    Where many y play one point (clipping), that asked for is remembered until it is told, so that
    the belief learns there; the memory is no part of a snapshot.

    Args:
        embedding: of the cube [-1, 1]^D.
        box: the problem's, D coordinates of any range.
    """

    def __init__(self, embedding: Embedding, box: Box) -> None:
        super().__init__(Box(-embedding.half, embedding.half))
        self.embedding = embedding
        self._box, self._scaling = box, InputScaling.of(box)
        self._asked: dict[bytes, Array] = {}

    @property
    def fingerprint(self) -> int:
        """Of the embedding: its image of a fixed point."""
        y = np.linspace(0.1, 0.2, len(self.embedding.half))[None] * self.embedding.half
        return zlib.crc32(self.embedding.lift(y).tobytes())

    def actions(self, places: Array) -> Array:
        points = self._scaling.unscale(self.embedding.lift(places))
        self._asked = {x.tobytes(): y for x, y in zip(points, places.copy(), strict=True)}
        return points

    def indices(self, actions: ArrayLike) -> Array:
        points = self._box.check(actions)
        lowered = self.embedding.lower(self._scaling.scale(points))
        for i, point in enumerate(points):
            lowered[i] = self._asked.get(np.ascontiguousarray(point).tobytes(), lowered[i])
        return np.clip(lowered, -self.embedding.half, self.embedding.half)

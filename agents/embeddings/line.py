"""The part of a line inside the cube: the embedding of LineBO."""

import numpy as np

from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.arrays import Array

# A coordinate whose direction is smaller than this never reaches a face.
STILL = 1e-14


class Line(Embedding):
    """x = anchor + s v for all s with x in [-1, 1]^D; its coordinate y in [-1, 1] is s, scaled.

    Args:
        anchor: (D,) in the cube.
        direction: v, (D,), not 0; its length does not matter.
    """

    def __init__(self, anchor: Array, direction: Array) -> None:
        v = direction / np.linalg.norm(direction)
        moving = np.abs(v) > STILL
        ends = (np.array([[-1.0], [1.0]]) - anchor[moving]) / v[moving]
        first, last = ends.min(axis=0).max(), ends.max(axis=0).min()
        self.dim, self.half = len(anchor), np.ones(1)
        self._start = anchor + 0.5 * (first + last) * v
        self._step = 0.5 * (last - first) * v

    def lift(self, y: Array) -> Array:
        return np.clip(self._start + y * self._step, -1.0, 1.0)

    def lower(self, x: Array) -> Array:
        length = max(float(self._step @ self._step), STILL**2)
        return np.clip((x - self._start) @ self._step[:, None] / length, -1.0, 1.0)

    def pull(self, y: Array, gradients: Array) -> Array:
        return np.asarray(gradients @ self._step[:, None])

    @property
    def stretch(self) -> float:
        return float(np.linalg.norm(self._step))

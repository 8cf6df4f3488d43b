"""Slices of the cube: the coordinates of DropoutUCB, and the lines of LineBO."""

import numpy as np

from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.arrays import Array, IntArray

# A coordinate whose direction is smaller than this never reaches a face.
STILL = 1e-14


class Coordinates(Embedding):
    """x is y in [-1, 1]^d on the active coordinates (d,), and a fill (m, D) on the others.

    The i-th point of a batch takes row i of the fill; further ones start again at row 0.
    """

    def __init__(self, active: IntArray, fill: Array) -> None:
        self.active, self.fill = active, fill
        self.half, self.stretch = np.ones(len(active)), 1.0

    def lift(self, y: Array) -> Array:
        x: Array = self.fill[np.arange(len(y)) % len(self.fill)]
        x[:, self.active] = y
        return x

    def lower(self, x: Array) -> Array:
        return x[:, self.active]

    def pull(self, y: Array, gradients: Array) -> Array:
        return gradients[:, self.active]


class LineEmbedding(Embedding):
    """x = anchor + s v for all s with x in [-1, 1]^D; its coordinate y in [-1, 1] is s, scaled.

    Args:
        anchor: (D,) in the cube.
        direction: v, (D,), not 0; its length does not matter.
    """

    def __init__(self, anchor: Array, direction: Array) -> None:
        self.anchor, self.direction = anchor, direction
        v = direction / np.linalg.norm(direction)
        moving = np.abs(v) > STILL
        ends = (np.array([[-1.0], [1.0]]) - anchor[moving]) / v[moving]
        first, last = ends.min(axis=0).max(), ends.max(axis=0).min()
        self.half = np.ones(1)
        self._start = anchor + 0.5 * (first + last) * v
        self._step = 0.5 * (last - first) * v
        self.stretch = float(np.linalg.norm(self._step))

    def lift(self, y: Array) -> Array:
        return np.clip(self._start + y * self._step, -1.0, 1.0)

    def lower(self, x: Array) -> Array:
        length = max(float(self._step @ self._step), STILL**2)
        return np.clip((x - self._start) @ self._step[:, None] / length, -1.0, 1.0)

    def pull(self, y: Array, gradients: Array) -> Array:
        return np.asarray(gradients @ self._step[:, None])

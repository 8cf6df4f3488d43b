"""Some of the coordinates, the others filled: the embedding of DropoutUCB."""

import numpy as np

from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.arrays import Array, IntArray


class Coordinates(Embedding):
    """x is y on the active coordinates, and something given on the others; y in [-1, 1]^d.

    Args:
        active: (d,) which coordinates of x are y.
        fill: (m, D) the others: the i-th point of a batch takes row i, further ones start anew.
    """

    def __init__(self, active: IntArray, fill: Array) -> None:
        self.active, self.fill = active, fill
        self.dim, self.half = fill.shape[1], np.ones(len(active))

    def lift(self, y: Array) -> Array:
        x: Array = self.fill[np.arange(len(y)) % len(self.fill)]
        x[:, self.active] = y
        return x

    def lower(self, x: Array) -> Array:
        return x[:, self.active]

    def pull(self, y: Array, gradients: Array) -> Array:
        return gradients[:, self.active]

    @property
    def stretch(self) -> float:
        return 1.0

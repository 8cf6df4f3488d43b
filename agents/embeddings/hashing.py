"""The hashing embedding of HeSBO."""

import numpy as np

from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.arrays import Array, IntArray


class HashEmbedding(Embedding):
    """x_i = s_i y_{h(i)}: every coordinate copies one of d, with a sign; y in [-1, 1]^d.

    No point leaves the cube, so nothing is clipped. What no coordinate copies has no effect.

    Args:
        dim: D.
        low_dim: d.
        rng: the hash h, uniform on {1..d}, and the signs s, uniform, are drawn from it.
    Source: Nayebi, Munteanu & Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
    Subspaces", Section 3.
    """

    def __init__(self, dim: int, low_dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.hash: IntArray = rng.integers(0, low_dim, size=dim)
        self.signs: Array = rng.choice([-1.0, 1.0], size=dim)
        self.half = np.ones(low_dim)
        self._copies = np.bincount(self.hash, minlength=low_dim).astype(np.float64)

    def lift(self, y: Array) -> Array:
        return np.asarray(y[:, self.hash] * self.signs)

    def lower(self, x: Array) -> Array:
        # The mean of the copies: exact on the image, the nearest point of it elsewhere.
        return self.pull(x, x) / np.maximum(self._copies, 1.0)

    def pull(self, y: Array, gradients: Array) -> Array:
        signed, low_dim = gradients * self.signs, len(self.half)
        columns = [np.bincount(self.hash, row, low_dim) for row in signed]
        return np.array(columns, dtype=np.float64).reshape(len(signed), low_dim)

    @property
    def stretch(self) -> float:
        return float(np.sqrt(self._copies.mean()))

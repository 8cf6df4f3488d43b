"""A belief that lives in the small box of an embedding."""

import zlib

import numpy as np

from gpbandits_env.agents.action_map import ActionMap
from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning import InputScaling
from gpbandits_env.problem import Problem


class EmbeddedMap(ActionMap):
    """Points y of a small box, played as points of a large one.

    What is told of a point outside the embedding's image counts at the nearest point of the image
    (`Embedding.lower`): rewards from there teach something wrong by so much.

    Where many y play one point (clipping), that asked for is remembered until it is told, so that
    the belief learns there; the memory is no part of a snapshot.

    Args:
        embedding: of the cube [-1, 1]^D.
        problem: the agent's, in a box of D coordinates of any range.
    """

    def __init__(self, embedding: Embedding, problem: Problem) -> None:
        self._scaling = InputScaling.of(problem.domain)
        kernel = kernel_on_y(problem.kernel, self._scaling, embedding.stretch)
        box = Box(-embedding.half, embedding.half)
        super().__init__(problem.replaced(domain=box, kernel=kernel))
        self.embedding = embedding
        self._asked: dict[bytes, Array] = {}

    @property
    def fingerprint(self) -> int:
        """Of the embedding: its image of a fixed point."""
        y = np.linspace(0.1, 0.2, len(self.embedding.half))[None] * self.embedding.half
        return zlib.crc32(self.embedding.lift(y).tobytes())

    def actions(self, points: Array) -> Array:
        lifted = self._scaling.unscale(self.embedding.lift(points))
        self._asked = {x.tobytes(): y for x, y in zip(lifted, points.copy(), strict=True)}
        return lifted

    def points(self, actions: Array) -> Array:
        lowered = self.embedding.lower(self._scaling.scale(actions))
        for i, point in enumerate(actions):
            lowered[i] = self._asked.get(np.ascontiguousarray(point).tobytes(), lowered[i])
        return np.clip(lowered, -self.embedding.half, self.embedding.half)


def kernel_on_y(kernel: Kernel, scaling: InputScaling, stretch: float) -> Kernel:
    """The kernel of y that has, on average over axes, the correlations of a kernel of x.

    Several lengthscales count by their geometric mean; a kernel that has none stays as it is.

    Args:
        kernel: of x, in the units of the box.
        scaling: of the box to [-1, 1]^D.
        stretch: how much longer a step is in [-1, 1]^D than in y.
    """
    return kernel.with_lengthscale(
        lambda ell: float(np.exp(np.mean(np.log(np.asarray(ell) / scaling.unit)))) / stretch
    )

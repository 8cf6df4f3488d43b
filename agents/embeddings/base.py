"""Maps of a small box into a large one: for a search, or for an agent that acts through it."""

import zlib
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from gpbandits_env.agents.action_map import ActionMap
from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning import InputScaling
from gpbandits_env.problem import Problem


class Embedding(ABC):
    """Points y of a small box, (n, d), as points x of [-1, 1]^D, (n, D).

    Attributes:
        half: (d,) the small box is [-half, half].
        stretch: how much longer a step is in x than in y: the root mean square over axes.
    """

    half: Array
    stretch: float

    @abstractmethod
    def lift(self, y: Array) -> Array:
        """The points x, (n, D), fresh; always inside [-1, 1]^D."""

    @abstractmethod
    def lower(self, x: Array) -> Array:
        """Points y, (n, d), of the small box whose lift is x, or near x where none lifts to it."""

    @abstractmethod
    def pull(self, y: Array, gradients: Array) -> Array:
        """Gradients in x at the lifts of y, (n, D), as gradients in y, (n, d)."""


class BoxMap:
    """The map of an embedding in the units of a box, whose D sides are scaled to [-1, 1].

    Attributes:
        embedding: as given.
        small: the small box.
        scaling: of the box to the cube.
    """

    def __init__(self, embedding: Embedding, box: Box) -> None:
        self.embedding, self.small = embedding, Box(-embedding.half, embedding.half)
        self.scaling = InputScaling.of(box)

    @property
    def fingerprint(self) -> int:
        """A number that differs between embeddings: of the image of a fixed point."""
        y = np.linspace(0.1, 0.2, self.small.dim)[None] * self.embedding.half
        return zlib.crc32(self.embedding.lift(y).tobytes())

    def lift(self, y: Array) -> Array:
        """The images (n, D), fresh, in the box of points y (n, d) of the small box."""
        return self.scaling.unscale(self.embedding.lift(y))

    def lower(self, x: Array) -> Array:
        """Points y, (n, d), of the small box whose images are x, or near x."""
        return self.embedding.lower(self.scaling.scale(x))

    def pull(self, y: Array, gradients: Array) -> Array:
        """Gradients in x at the lifts of y, (n, D), as gradients in y, (n, d)."""
        return self.embedding.pull(y, gradients * self.scaling.unit)


class EmbeddedMap(ActionMap):
    """The posterior is on points y of a small box, the actions are points of a large one.

    The problem's kernel is one of x; that of y has its lengthscale over the embedding's stretch, so
    that the two agree on average. A reward observed outside the embedding's image counts at the
    nearest point of the image (`Embedding.lower`), which is an error of that distance.

    Where many y are one action (clipping), the one chosen last is remembered until it is observed,
    so that the posterior is conditioned there; the memory is no part of a snapshot.
    """

    identity: ClassVar[bool] = False

    def __init__(self, problem: Problem, through: BoxMap) -> None:
        self._map = through
        kernel = kernel_on_y(problem.kernel, through.scaling, through.embedding.stretch)
        inner = problem.replaced(domain=through.small, kernel=kernel)
        super().__init__(inner, through.fingerprint)
        self._chosen: dict[bytes, Array] = {}

    def actions(self, points: Array) -> Array:
        lifted = self._map.lift(points)
        self._chosen = {x.tobytes(): y for x, y in zip(lifted, points.copy(), strict=True)}
        return lifted

    def points(self, actions: Array) -> Array:
        lowered = self._map.lower(actions)
        for i, point in enumerate(actions):
            lowered[i] = self._chosen.get(np.ascontiguousarray(point).tobytes(), lowered[i])
        return np.clip(lowered, self._map.small.low, self._map.small.high)


def kernel_on_y(kernel: Kernel, scaling: InputScaling, stretch: float) -> Kernel:
    """The kernel of y that has, on average over axes, the correlations of a kernel of x.

    Several lengthscales count by their geometric mean; a kernel without one is unchanged. The
    kernel of x is in the units of the box, ``stretch`` in those of [-1, 1]^D.
    """
    return kernel.with_lengthscale(
        lambda ell: float(np.exp(np.mean(np.log(np.asarray(ell) / scaling.unit)))) / stretch
    )

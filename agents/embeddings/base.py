"""Maps from a small box into a large one, for a search or for an agent."""

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
    """A map from points y of a small box, (n, d), to points x of [-1, 1]^D, (n, D).

    Attributes:
        half: (d,) the small box is [-half, half].
        stretch: the ratio of the length of a step in x to that in y: the root mean square over
            axes.
    """

    half: Array
    stretch: float

    @abstractmethod
    def lift(self, y: Array) -> Array:
        """The points x in [-1, 1]^D, a new array (n, D)."""

    @abstractmethod
    def lower(self, x: Array) -> Array:
        """Points y of the small box, (n, d), whose lift is x, or close to x if there is none."""

    @abstractmethod
    def pull(self, y: Array, gradients: Array) -> Array:
        """Convert gradients by x at the lifts of y, (n, D), to gradients by y, (n, d)."""


class BoxMap:
    """The map of an embedding in the units of a box, whose D sides are scaled to [-1, 1].

    Attributes:
        embedding: as given.
        small: the small box.
        scaling: the scaling of the box to the cube.
    """

    def __init__(self, embedding: Embedding, box: Box) -> None:
        self.embedding, self.small = embedding, Box(-embedding.half, embedding.half)
        self.scaling = InputScaling.of(box)

    @property
    def fingerprint(self) -> int:
        """A number that differs between embeddings: a checksum of the image of a fixed point."""
        y = np.linspace(0.1, 0.2, self.small.dim)[None] * self.embedding.half
        return zlib.crc32(self.embedding.lift(y).tobytes())

    def lift(self, y: Array) -> Array:
        """The images in the box of points y of the small box, (n, d): a new array (n, D)."""
        return self.scaling.unscale(self.embedding.lift(y))

    def lower(self, x: Array) -> Array:
        """Points y of the small box, (n, d), whose images are x or close to x."""
        return self.embedding.lower(self.scaling.scale(x))

    def pull(self, y: Array, gradients: Array) -> Array:
        """Convert gradients by x at the lifts of y, (n, D), to gradients by y, (n, d)."""
        return self.embedding.pull(y, gradients * self.scaling.unit)


class EmbeddedMap(ActionMap):
    """The posterior is on points y of a small box; the actions are points x of a large box.

    The problem's kernel is a kernel of x. The kernel of y has its lengthscale divided by the
    stretch of the embedding, so that the two agree on average. A reward observed outside the image
    of the embedding counts at the nearest point of the image (`Embedding.lower`), which is an
    approximation.

    If several y give the same action (clipping), the posterior is conditioned at the y that was
    chosen last. That y is kept until its reward is observed; it is not part of a snapshot.
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
    """The kernel of y with the correlations of a kernel of x, on average over axes.

    Several lengthscales are replaced by their geometric mean. A kernel without lengthscale is
    unchanged. The kernel of x is in the units of the box, ``stretch`` in those of [-1, 1]^D.
    """
    return kernel.with_lengthscale(
        lambda ell: float(np.exp(np.mean(np.log(np.asarray(ell) / scaling.unit)))) / stretch
    )

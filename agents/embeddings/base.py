"""What an embedding is: a map of a small box into the cube [-1, 1]^D, and its way back."""

from abc import ABC, abstractmethod

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.learning import InputScaling


class Embedding(ABC):
    """Points y of a small box, (n, d), as points x of [-1, 1]^D, (n, D).

    Attributes:
        half: (d,) the small box is [-half, half].
    """

    half: Array

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
    """The map of an embedding in the units of a box: a coordinate map for a search.

    Args:
        embedding: of the cube [-1, 1]^D.
        box: D coordinates of any range, which are scaled to the cube.

    Attributes:
        embedding: as given.
        small: the small box.
    """

    def __init__(self, embedding: Embedding, box: Box) -> None:
        self.embedding, self.small = embedding, Box(-embedding.half, embedding.half)
        self._scaling = InputScaling.of(box)

    def lift(self, y: Array) -> Array:
        """The points of the box (n, D), fresh, that points y (n, d) of the small box stand for."""
        return self._scaling.unscale(self.embedding.lift(y))

    def lower(self, x: Array) -> Array:
        """Points y, (n, d), of the small box that stand for x, or for points near x."""
        return self.embedding.lower(self._scaling.scale(x))

    def pull(self, y: Array, gradients: Array) -> Array:
        """Gradients in x at the lifts of y, (n, D), as gradients in y, (n, d)."""
        return self.embedding.pull(y, gradients * self._scaling.unit)

"""What an embedding is: a map of a small box into the cube [-1, 1]^D, and its way back."""

from abc import ABC, abstractmethod

from gpbandits_env.arrays import Array


class Embedding(ABC):
    """Points y of a small box, (n, d), as points x of [-1, 1]^D, (n, D).

    Attributes:
        half: (d,) the small box is [-half, half].
        dim: D.
    """

    half: Array
    dim: int

    @abstractmethod
    def lift(self, y: Array) -> Array:
        """The points x, (n, D), fresh; always inside [-1, 1]^D."""

    @abstractmethod
    def lower(self, x: Array) -> Array:
        """Points y, (n, d), of the small box whose lift is x, or near x where none lifts to it."""

    @abstractmethod
    def pull(self, y: Array, gradients: Array) -> Array:
        """Gradients in x at the lifts of y, (n, D), as gradients in y, (n, d)."""

    @property
    @abstractmethod
    def stretch(self) -> float:
        """How much longer a step is in x than in y: the root mean square over axes."""

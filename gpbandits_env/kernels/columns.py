"""A kernel against fixed points: values and gradients at many x, without an (n, m, d) array.

For data z_1..z_m that stay while x moves, `Columns` holds what can be computed once. Its `pull`
gives the values together with a function that contracts their gradients:

    k, pulled = columns.pull(x);  pulled(weights)[i] = sum_j weights[i, j] dk(x_i, z_j) / dx_i

so the gradient of any function of k costs a matrix product or two.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from gpbandits_env.arrays import Array

Pulled = Callable[[Array], Array]
OfPairs = Callable[[Array, Array], Array]
# Points whose gradients (n, m, d) are held at once take at most so many numbers (16 MB).
MOST_NUMBERS = 1 << 21


class Columns(ABC):
    """The functions k(., z_j) of m fixed points."""

    @abstractmethod
    def __call__(self, x: Array) -> Array:
        """k(x_i, z_j), (n, d) -> a fresh (n, m)."""

    @abstractmethod
    def pull(self, x: Array) -> tuple[Array, Pulled]:
        """k(x_i, z_j), fresh, and the function weights -> sum_j weights_ij dk(x_i, z_j)/dx_i.

        It takes weights (n, m), or (m,) for all x, and returns (n, d); it may be called again, and
        the values may be written to.
        """


@dataclass(frozen=True, eq=False)
class PlainColumns(Columns):
    """Any kernel, by its own values and gradients; block by block where these are large."""

    kernel: OfPairs
    gradient: OfPairs
    z: Array

    def __call__(self, x: Array) -> Array:
        return self.kernel(x, self.z)

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        step = max(1, MOST_NUMBERS // max(self.z.size, 1))

        def pulled(weights: Array) -> Array:
            weights = np.broadcast_to(weights, (len(x), len(self.z)))
            out = np.empty(x.shape)
            for start in range(0, len(x), step):
                part = slice(start, start + step)
                gradient = self.gradient(x[part], self.z)
                out[part] = np.einsum("ij,ijk->ik", weights[part], gradient)
            return out

        return self(x), pulled


@dataclass(frozen=True, eq=False)
class SumColumns(Columns):
    """The sum of several columns on the same points."""

    parts: Sequence[Columns]

    def __call__(self, x: Array) -> Array:
        return reduce(np.add, [part(x) for part in self.parts])

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        values, pulls = zip(*(part.pull(x) for part in self.parts), strict=True)
        return reduce(np.add, values), lambda w: reduce(np.add, [pulled(w) for pulled in pulls])


@dataclass(frozen=True, eq=False)
class ProductColumns(Columns):
    """The product of several columns on the same points."""

    parts: Sequence[Columns]

    def __call__(self, x: Array) -> Array:
        return reduce(np.multiply, [part(x) for part in self.parts])

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        values, pulls = zip(*(part.pull(x) for part in self.parts), strict=True)

        def pulled(weights: Array) -> Array:
            total = np.zeros(x.shape)
            for i, own in enumerate(pulls):
                # No division by the own value: it may be 0.
                others = (value for j, value in enumerate(values) if j != i)
                total += own(reduce(np.multiply, others, weights))
            return total

        # The values are kept for `pulled`, so the product must be an array of its own.
        return reduce(np.multiply, values[1:], values[0].copy()), pulled

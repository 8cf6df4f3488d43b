"""A kernel with one argument fixed: values and contracted gradients at many x.

For data z_1..z_m that stay fixed while x changes, `Columns` holds what can be computed once. Its
`pull` returns the values together with a function that contracts their gradients:

    k, pulled = columns.pull(x);  pulled(weights)[i] = sum_j weights[i, j] dk(x_i, z_j) / dx_i

so for a kernel of a distance the gradient of any function of k costs a matrix product, without an
(n, m, d) array. A kernel without columns of its own makes that array in blocks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from gpbandits_env.arrays import Array

Pulled = Callable[[Array], Array]
OfPairs = Callable[[Array, Array], Array]
# The gradients (n, m, d) of a block of several points take at most this many numbers (16 MB).
MOST_NUMBERS = 1 << 21


class Columns(ABC):
    """The functions k(., z_j) of m fixed points."""

    @abstractmethod
    def __call__(self, x: Array) -> Array:
        """k(x_i, z_j) for points (n, d), a new array (n, m)."""

    @abstractmethod
    def pull(self, x: Array) -> tuple[Array, Pulled]:
        """k(x_i, z_j), a new array, and the function weights -> sum_j weights_ij dk(x_i, z_j)/dx_i.

        The function takes weights (n, m), or (m,) for all x, and returns (n, d). It may be called
        several times, and the values may be overwritten.
        """


@dataclass(frozen=True, eq=False)
class PlainColumns(Columns):
    """The columns of any kernel, by its own values and gradients, in blocks if these are large."""

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
class ScaledColumns(Columns):
    """Each column times a number of its own, (m,)."""

    columns: Columns
    factors: Array

    def __call__(self, x: Array) -> Array:
        return self.columns(x) * self.factors

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        values, pulled = self.columns.pull(x)
        return values * self.factors, lambda weights: pulled(weights * self.factors)


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
                # Division by the factor's own value is not possible: it may be 0.
                others = (value for j, value in enumerate(values) if j != i)
                total += own(reduce(np.multiply, others, weights))
            return total

        # `pulled` needs the values later, so the product must be a new array.
        return reduce(np.multiply, values[1:], values[0].copy()), pulled

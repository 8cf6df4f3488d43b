"""The linear kernel."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.kernels.base import KERNELS, Kernel
from gpbandits_env.kernels.columns import Columns, Pulled


@KERNELS.register("linear")
@dataclass(frozen=True)
class Linear(Kernel):
    r"""The linear kernel: f(x) = w^T x with w ~ N(0, v I).

    .. math:: k(x, z) = v x^T z

    The theorems require k(x, x) <= 1: with v = 1, points must lie in the unit ball.

    Args:
        variance: v > 0, the prior variance of a weight.
    Source: srinivas2010, Section 5.2.
    """

    variance: float = 1.0

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        k: Array = x @ (x if z is None else z).T
        k *= self.variance
        return k

    def diagonal(self, x: Array) -> Array:
        return np.asarray(self.variance * np.einsum("ij,ij->i", x, x))

    def gradient(self, x: Array, z: Array) -> Array:
        return np.tile(self.variance * z, (len(x), 1, 1))

    def diagonal_gradient(self, x: Array) -> Array:
        return 2.0 * self.variance * x

    def columns(self, z: Array, centre: Array) -> Columns:
        return _LinearColumns(self.variance * z)


@dataclass(frozen=True, eq=False)
class _LinearColumns(Columns):
    gradients: Array  # (m, d) v z

    def __call__(self, x: Array) -> Array:
        return x @ self.gradients.T

    def pull(self, x: Array) -> tuple[Array, Pulled]:
        shape = len(x), len(self.gradients)
        return self(x), lambda weights: np.broadcast_to(weights, shape) @ self.gradients

"""Sums and products of temporal kernels."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, listed, positive
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.temporal.base import TEMPORAL, TemporalKernel

# A product of several seasons has the product of their numbers of states.
MOST_STATES = 256


@TEMPORAL.register("sum")
@dataclass(frozen=True)
class TemporalSum(TemporalKernel):
    r"""A sum of independent functions: T = sum_i w_i T_i; the numbers of states add.

    Args:
        kernels: the temporal kernels of the terms.
        weights: w_i > 0, one per term; by default the same for all, with a sum of 1.
    Raises:
        InvalidInput: there are no terms, or not one weight per term.
    """

    kernels: tuple[TemporalKernel, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        kernels = _parts(self.kernels)
        given = listed(self.weights, "weights") or (1.0 / len(kernels),) * len(kernels)
        if len(given) != len(kernels):
            raise InvalidInput(
                f"a temporal sum needs one weight per kernel, got {len(given)} for {len(kernels)}"
            )
        object.__setattr__(self, "kernels", kernels)
        object.__setattr__(self, "weights", tuple(positive(w, "weights") for w in given))
        _check_states(sum(kernel.states for kernel in kernels))

    def __call__(self, t: Array, s: Array) -> Array:
        terms = zip(self.weights, self.kernels, strict=True)
        return np.sum([weight * kernel(t, s) for weight, kernel in terms], axis=0)

    def transition(self, dt: float) -> Array:
        return _joined([kernel.transition(dt) for kernel in self.kernels])

    def covariance(self, t: float) -> Array:
        return _joined([kernel.covariance(t) for kernel in self.kernels])

    def row(self, t: float) -> Array:
        terms = zip(self.weights, self.kernels, strict=True)
        return np.concatenate([np.sqrt(weight) * kernel.row(t) for weight, kernel in terms])

    @property
    def stationary(self) -> bool:
        return all(kernel.stationary for kernel in self.kernels)


@TEMPORAL.register("product")
@dataclass(frozen=True)
class TemporalProduct(TemporalKernel):
    """T = T_1 T_2 ...; the numbers of states multiply.

    Args:
        kernels: the temporal kernels of the factors.
    Raises:
        InvalidInput: there are no factors, or more than 256 states.
    """

    kernels: tuple[TemporalKernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", _parts(self.kernels))
        states = [kernel.states for kernel in self.kernels]
        _check_states(int(np.prod(states, dtype=float)))

    def __call__(self, t: Array, s: Array) -> Array:
        return reduce(np.multiply, [kernel(t, s) for kernel in self.kernels])

    def transition(self, dt: float) -> Array:
        return _crossed([kernel.transition(dt) for kernel in self.kernels])

    def covariance(self, t: float) -> Array:
        return _crossed([kernel.covariance(t) for kernel in self.kernels])

    def row(self, t: float) -> Array:
        return _crossed([kernel.row(t) for kernel in self.kernels])

    @property
    def stationary(self) -> bool:
        return all(kernel.stationary for kernel in self.kernels)


def _parts(given: Any) -> tuple[TemporalKernel, ...]:
    kernels = listed(given, "kernels")
    if not kernels:
        raise InvalidInput("a sum or product of temporal kernels needs one or more kernels")
    for kernel in kernels:
        if not isinstance(kernel, TemporalKernel):
            raise InvalidInput(f"kernels must be temporal kernels, got {shown(kernel)}")
    return kernels


def _check_states(states: int) -> None:
    if states > MOST_STATES:
        raise InvalidInput(
            f"a temporal kernel may have at most {MOST_STATES} states, got {states}: use fewer "
            "harmonics or fewer factors"
        )


def _crossed(factors: list[Array]) -> Array:
    """The Kronecker product of vectors or of matrices."""
    product: Array = factors[0]
    for factor in factors[1:]:
        product = np.asarray(np.kron(product, factor), dtype=np.float64)
    return product


def _joined(blocks: list[Array]) -> Array:
    """The block-diagonal matrix of square blocks."""
    size = sum(len(block) for block in blocks)
    joined, start = np.zeros((size, size)), 0
    for block in blocks:
        end = start + len(block)
        joined[start:end, start:end] = block
        start = end
    return joined

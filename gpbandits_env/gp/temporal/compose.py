"""Sums and products of kernels in time, and one kernel in time for each term in space."""

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.linalg import block_diag

from gpbandits_env.arrays import Array, all_of, listed, positive
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.temporal.kernel import TEMPORAL, TemporalKernel

# A product of several seasons has the product of their numbers of states.
MOST_STATES = 256


@dataclass(frozen=True)
class TemporalCombination(TemporalKernel):
    """A kernel that combines others, none of them `TermsInTime`; it has at most 256 `states`."""

    kernels: tuple[TemporalKernel, ...]

    def __post_init__(self) -> None:
        kernels = all_of(TemporalKernel, self.kernels, "kernels", "temporal kernels")
        object.__setattr__(self, "kernels", kernels)
        if self.states > MOST_STATES:
            raise InvalidInput(
                f"a temporal kernel may have at most {MOST_STATES} states, got {self.states}: use "
                "fewer harmonics or fewer factors"
            )
        if any(len(kernel.parts) > 1 for kernel in kernels):
            raise InvalidInput(
                "a temporal kernel 'terms' is not a part of another: give a sum or product for "
                "each term"
            )

    @property
    def stationary(self) -> bool:
        return all(kernel.stationary for kernel in self.kernels)


@dataclass(frozen=True)
class _Joined(TemporalCombination):
    """Independent functions, whose states are joined."""

    @property
    def states(self) -> int:
        return sum(kernel.states for kernel in self.kernels)

    def transition(self, dt: float) -> Array:
        return block_diag(*(kernel.transition(dt) for kernel in self.kernels))

    def covariance(self, t: float) -> Array:
        return block_diag(*(kernel.covariance(t) for kernel in self.kernels))


@TEMPORAL.register("terms")
@dataclass(frozen=True)
class TermsInTime(_Joined):
    r"""One temporal kernel for each term of the kernel in space, which is a sum.

    .. math:: \mathrm{Cov}(f_t(x), f_s(z)) = \sum_i k_i(x, z) T_i(t, s)

    With a constant term in space, all points share a shift that has a law of its own in time. It is
    no function of two times; see `gp.model.terms`.

    Args:
        kernels: the temporal kernels, in the order of the terms.
    Raises:
        InvalidInput: there are fewer than two, one is itself a `TermsInTime`, or there are more
            than 256 states.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.kernels) < 2:
            raise InvalidInput("the temporal kernel 'terms' needs two or more kernels")

    @property
    def parts(self) -> tuple[TemporalKernel, ...]:
        return self.kernels

    def __call__(self, t: Array, s: Array) -> Array:
        raise InvalidInput(
            "the temporal kernel 'terms' belongs to a kernel in space: each term has its own "
            "covariance in time"
        )

    def row(self, t: float) -> Array:
        return np.concatenate([kernel.row(t) for kernel in self.kernels])


@TEMPORAL.register("sum")
@dataclass(frozen=True)
class TemporalSum(_Joined):
    r"""A sum of independent functions: T = sum_i w_i T_i; the numbers of states add.

    Args:
        kernels: the temporal kernels of the terms.
        weights: w_i > 0, one per term; by default the same for all, with a sum of 1.
    Raises:
        InvalidInput: there are no terms, not one weight > 0 per term, a term is a `TermsInTime`, or
            there are more than 256 states.
    """

    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.kernels)
        given = listed(self.weights, "weights") or (1.0 / count,) * count
        if len(given) != count:
            raise InvalidInput(
                f"a temporal sum needs one weight per kernel, got {len(given)} for {count}"
            )
        object.__setattr__(self, "weights", tuple(positive(w, "weights") for w in given))

    def __call__(self, t: Array, s: Array) -> Array:
        terms = zip(self.weights, self.kernels, strict=True)
        return np.sum([weight * kernel(t, s) for weight, kernel in terms], axis=0)

    def row(self, t: float) -> Array:
        terms = zip(self.weights, self.kernels, strict=True)
        return np.concatenate([np.sqrt(weight) * kernel.row(t) for weight, kernel in terms])


@TEMPORAL.register("product")
@dataclass(frozen=True)
class TemporalProduct(TemporalCombination):
    """T = T_1 T_2 ...; the numbers of states multiply.

    Args:
        kernels: the temporal kernels of the factors.
    Raises:
        InvalidInput: there are no factors, a factor is a `TermsInTime`, or there are more than 256
            states.
    """

    @property
    def states(self) -> int:
        return math.prod(kernel.states for kernel in self.kernels)

    def __call__(self, t: Array, s: Array) -> Array:
        return reduce(np.multiply, [kernel(t, s) for kernel in self.kernels])

    def transition(self, dt: float) -> Array:
        return reduce(_crossed, [kernel.transition(dt) for kernel in self.kernels])

    def covariance(self, t: float) -> Array:
        return reduce(_crossed, [kernel.covariance(t) for kernel in self.kernels])

    def row(self, t: float) -> Array:
        return reduce(_crossed, [kernel.row(t) for kernel in self.kernels])


def _crossed(a: Array, b: Array) -> Array:
    return np.asarray(np.kron(a, b), dtype=np.float64)

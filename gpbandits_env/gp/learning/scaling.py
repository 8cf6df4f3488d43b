"""The scaling of inputs and outputs, as small explicit objects.

A model is learned with the box scaled to [-1, 1]^D and the rewards to mean 0 and variance 1. It is
returned in the units of the problem, so no other code handles scaled numbers.
"""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array, finite_array, frozen
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel, Stationary

# A variance of standardized rewards, times the square of these, is valid for a kernel.
LEAST_SD, MOST_SD = 1e-35, 1e70


@dataclass(frozen=True, eq=False)
class InputScaling:
    """The affine map of a box onto [-1, 1]^D, coordinate by coordinate.

    Args:
        low: (D,) the corner that becomes (-1, ..., -1).
        high: (D,) the corner that becomes (1, ..., 1).
    Raises:
        InvalidInput: low is not below high.
    """

    low: Array
    high: Array

    def __post_init__(self) -> None:
        low, high = finite_array(self.low, "low", 1), finite_array(self.high, "high", 1)
        if low.shape != high.shape or not (low < high).all():
            raise InvalidInput("low (D,) must be below high (D,) in every coordinate")
        object.__setattr__(self, "low", frozen(low.copy()))
        object.__setattr__(self, "high", frozen(high.copy()))

    @staticmethod
    def of(domain: Domain) -> "InputScaling":
        """The scaling of a box, or of the bounding box of arms; a side of length 0 counts as 2."""
        low, high = domain.span.min(axis=0), domain.span.max(axis=0)
        flat = low == high
        return InputScaling(low - flat, high + flat)

    @property
    def unit(self) -> Array:
        """The length in x of one unit of the cube, (D,)."""
        return (self.high - self.low) / 2.0

    def scale(self, x: Array) -> Array:
        """Points (n, D) of the box, mapped to the cube; a new array."""
        return np.asarray((x - self.low) / self.unit - 1.0)

    def unscale(self, u: Array) -> Array:
        """Points (n, D) of the cube, mapped to the box; a new array, inside despite rounding."""
        x = self.low + (u + 1.0) * self.unit
        return np.clip(x, self.low, self.high)

    def lengthscales(self, kernel: Stationary) -> Array:
        """The lengthscales of the kernel in units of the cube, (D,)."""
        return np.asarray(np.asarray(kernel.lengthscale) / self.unit)

    def kernel(self, kernel: Kernel, lengthscales: Array) -> Kernel:
        """The kernel with lengthscales (D,) or () of the cube, in the units of the box.

        A single lengthscale stays a single number if all sides are equal.
        """
        ell = np.broadcast_to(lengthscales, self.unit.shape) * self.unit
        alike = np.ndim(lengthscales) == 0 and np.ptp(ell) <= 1e-12 * ell.max()
        return kernel.with_lengthscale(lambda _: float(ell[0]) if alike else tuple(ell.tolist()))


@dataclass(frozen=True)
class OutputScaling:
    """The affine map of rewards to mean 0 and standard deviation 1.

    Args:
        mean: what becomes 0.
        sd: > 0, what becomes 1.
    """

    mean: float = 0.0
    sd: float = 1.0

    @staticmethod
    def of(rewards: Array, mean: float | None = None) -> "OutputScaling":
        """The scaling of rewards (n,); a standard deviation of 0, up to rounding, counts as 1.

        Args:
            rewards: at least one reward.
            mean: the mean, if known; by default the mean of the rewards.
        """
        centre = float(np.mean(rewards)) if mean is None else mean
        gaps = rewards - centre
        unit = binary_unit(gaps)
        sd = unit * float(np.sqrt(np.mean((gaps / unit) ** 2)))
        # A deviation below the rounding of the rewards is not meaningful as a scale.
        enough = sd > 1e-12 * (abs(centre) + float(np.abs(rewards).max()))
        return OutputScaling(centre, sd if enough else 1.0)

    @property
    def var(self) -> float:
        """sd^2, from 1e-70 to 1e140: it converts standardized variances to units of the rewards.

        Beyond that range, the kernel variance and the noise are wrong by the same factor, on which
        posterior means do not depend.
        """
        return min(max(self.sd, LEAST_SD), MOST_SD) ** 2

    def scale(self, y: Array) -> Array:
        """The standardized rewards, a new array."""
        return np.asarray((y - self.mean) / self.sd)


def binary_unit(values: Array) -> float:
    """The largest power of two that does not exceed the largest size of the values.

    Squares of numbers in this unit neither vanish nor overflow, and have the same digits.
    """
    return float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1]) - 1))


# Rewards beyond this many robust standard deviations from the median are winsorized.
# Chosen among 1.5, 2.5 and 5 on BBOB in 5 dimensions, instances 11 and 12.
REACH = 2.5
# Images beyond that count as this far beyond it when the map is undone, in the same units.
FARTHEST = 300.0


@dataclass(frozen=True)
class Winsorizer:
    """An increasing map of rewards that moves those far from most others closer to them.

    With z = (y - centre) / sd, it leaves |z| <= r = 2.5 unchanged, and maps other z to sign(z) (r +
    log(1 + |z| - r)). It is continuously differentiable, so smooth functions stay smooth.

    Args:
        centre: a usual reward.
        sd: > 0, the usual deviation from it.
    """

    centre: float
    sd: float

    @staticmethod
    def of(rewards: Array) -> "Winsorizer":
        """The map for rewards (n,): their median, and the interquartile range of a normal.

        If the quartiles are equal, it is the standard deviation.
        """
        low, centre, high = np.quantile(rewards, [0.25, 0.5, 0.75]).tolist()
        sd = (high - low) / 1.349 or OutputScaling.of(rewards).sd
        return Winsorizer(centre, sd)

    def __call__(self, rewards: Array) -> Array:
        """The mapped rewards, a new array."""
        gap = rewards - self.centre
        beyond = np.maximum(np.abs(gap) / self.sd - REACH, 0.0)
        near = self.centre + np.sign(gap) * self.sd * (REACH + np.log1p(beyond))
        return np.where(beyond > 0.0, near, rewards)

    def undone(self, mapped: Array) -> tuple[Array, Array]:
        """The rewards whose images are ``mapped`` (n,), and their derivatives in these, (n,)."""
        gap = mapped - self.centre
        beyond = np.clip(np.abs(gap) / self.sd - REACH, 0.0, FARTHEST)
        far = self.centre + np.sign(gap) * self.sd * (REACH + np.expm1(beyond))
        return np.where(beyond > 0.0, far, mapped), np.exp(beyond)

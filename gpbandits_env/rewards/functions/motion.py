"""Motions of an analytic function: its input is shifted, rotated or scaled from round to round.

In round t the function is f(A_t(x)), where A_t is an invertible map. The optimum of round t is
therefore A_t^-1 of the static optimum, in closed form.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpbandits_env.arrays import Array, positive
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.specs import Family

# The number of phases at which a motion is checked when an environment is made.
TRIED = 720


class Motion(ABC):
    """A periodic map of the cube [-1, 1]^d, to which the box is scaled."""

    period: float

    def __post_init__(self) -> None:
        positive(self.period, "period")

    @property
    @abstractmethod
    def room(self) -> float:
        """Points of [-room, room]^d stay in the cube at every phase."""

    @abstractmethod
    def onto(self, u: Array, phase: float) -> Array:
        """A_t: the points at which the static function is read for u (n, d); phase in [0, 1)."""

    @abstractmethod
    def back(self, u: Array, phase: float) -> Array:
        """A_t^-1: the current positions of the points u (n, d) of the static function."""


MOTIONS: Family[Motion] = Family("motion", Motion)


@dataclass(frozen=True)
class _Translation(Motion):
    """A shift that never exceeds `radius` in any coordinate.

    Args:
        radius: the largest shift, as a fraction of half the side of the box, in (0, 1).
        period: the number of rounds of a full cycle.
    Raises:
        InvalidInput: a number is out of range.
    """

    radius: float = 0.3
    period: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if positive(self.radius, "radius") >= 1:
            raise InvalidInput(f"radius must be below 1 (half the box side), got {self.radius!r}")

    @property
    def room(self) -> float:
        return 1.0 - self.radius

    @abstractmethod
    def shift(self, dim: int, phase: float) -> Array:
        """The current shift (d,)."""

    def onto(self, u: Array, phase: float) -> Array:
        return u - self.shift(u.shape[1], phase)

    def back(self, u: Array, phase: float) -> Array:
        return u + self.shift(u.shape[1], phase)


@MOTIONS.register("orbit")
@dataclass(frozen=True)
class Orbit(_Translation):
    """Translation on a circle in the first two coordinates; an oscillation in one dimension."""

    def shift(self, dim: int, phase: float) -> Array:
        angle = 2.0 * np.pi * phase
        shift = np.zeros(dim)
        shift[:2] = (self.radius * np.array([np.cos(angle), np.sin(angle)]))[:dim]
        return shift


@MOTIONS.register("line")
@dataclass(frozen=True)
class Sweep(_Translation):
    """Translation back and forth along the diagonal of the box, at constant speed."""

    def shift(self, dim: int, phase: float) -> Array:
        return np.full(dim, self.radius * (4.0 * abs(phase - 0.5) - 1.0))


@MOTIONS.register("turn")
@dataclass(frozen=True)
class Turn(Motion):
    """Rotation about the center of the box in the plane of the first two coordinates.

    Args:
        period: the number of rounds of a full turn.
    Raises:
        InvalidInput: the period is not positive.
    """

    room: ClassVar[float] = 1.0 / 2.0**0.5
    period: float = 100.0

    def onto(self, u: Array, phase: float) -> Array:
        return self.back(u, -phase)

    def back(self, u: Array, phase: float) -> Array:
        if u.shape[1] < 2:
            raise InvalidInput("the motion 'turn' needs at least 2 dimensions")
        turned, angle = u.copy(), 2.0 * np.pi * phase
        c, s = np.cos(angle), np.sin(angle)
        turned[:, 0], turned[:, 1] = c * u[:, 0] - s * u[:, 1], s * u[:, 0] + c * u[:, 1]
        return turned


@MOTIONS.register("stretch")
@dataclass(frozen=True)
class Stretch(Motion):
    """Scaling about the center of the box by factor^sin(2 pi t / period).

    Args:
        factor: the largest magnification, above 1.
        period: the number of rounds of a full cycle.
    Raises:
        InvalidInput: a number is out of range.
    """

    factor: float = 1.5
    period: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if positive(self.factor, "factor") <= 1:
            raise InvalidInput(f"factor must be above 1, got {self.factor!r}")

    @property
    def room(self) -> float:
        return 1.0 / self.factor

    def _scale(self, phase: float) -> float:
        return float(self.factor ** np.sin(2.0 * np.pi * phase))

    def onto(self, u: Array, phase: float) -> Array:
        return u / self._scale(phase)

    def back(self, u: Array, phase: float) -> Array:
        return u * self._scale(phase)


def stays_inside(motion: Motion | None, point: Array, what: str) -> None:
    """Check that a motion (or none) keeps a point (d,) in the cube.

    Raises:
        InvalidInput: at some phase the point is outside; the message names the function ``what``.
    """
    for phase in np.arange(TRIED) / TRIED if motion else (0.0,):
        gone = point if motion is None else motion.back(point[None], float(phase))
        if (np.abs(gone) > 1.0 + 1e-12).any():
            when = f" at {phase:.0%} of the period of the motion" if motion else ""
            raise InvalidInput(
                f"the maximum of {what!r} is outside of its box{when}; use another box, or a "
                "smaller shift, radius or factor"
            )


def to_cube(x: Array, box: Box) -> Array:
    """Points of a box, scaled to [-1, 1]^d."""
    return (2.0 * x - (box.low + box.high)) / (box.high - box.low)


def from_cube(u: Array, box: Box) -> Array:
    """Points of [-1, 1]^d, scaled to a box."""
    return 0.5 * (u * (box.high - box.low) + (box.low + box.high))

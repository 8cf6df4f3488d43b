"""Observations for learning hyper-parameters: points, times and rewards."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from gpbandits_env.arrays import Array, finite_array, frozen, own_noise
from gpbandits_env.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Observations:
    """Noisy observations of one function of space and time; several may share one time.

    Args:
        points: (n, d) the observed points.
        rewards: (n,) the observed rewards.
        times: (n,) the times, in rounds or another unit; all zero by default, which means a static
            function. Epsilon is per that unit, and at most 0.999: the unit must not be much longer
            than the time from one observation to the next.
        noise_var: (n,) the variances of the noise where they are known, and NaN where it is that of
            the model; by default it is everywhere.
    Raises:
        InvalidInput: the shapes do not agree, there are no data, a number is not finite, or a
            noise variance is negative.
    """

    points: Array
    rewards: Array
    times: Array = field(default_factory=lambda: np.empty(0))
    noise_var: Array | None = None

    def __post_init__(self) -> None:
        points = finite_array(self.points, "points")
        points = points[:, None] if points.ndim == 1 else points
        rewards = finite_array(self.rewards, "rewards", 1)
        given = np.size(self.times) > 0
        times = finite_array(self.times, "times", 1) if given else np.zeros(len(rewards))
        if points.ndim != 2 or not len(points) == len(rewards) == len(times) > 0:
            raise InvalidInput(
                "points (n, d), rewards (n,) and times (n,) must agree in n > 0, got "
                f"{points.shape}, {rewards.shape} and {times.shape}"
            )
        if self.noise_var is not None:
            own = own_noise(self.noise_var, len(rewards)).copy()
            object.__setattr__(self, "noise_var", None if np.isnan(own).all() else frozen(own))
        for name, value in (("points", points), ("rewards", rewards), ("times", times)):
            object.__setattr__(self, name, frozen(value.copy()))


@dataclass(frozen=True, eq=False)
class Series:
    """Readings of every arm at each of T times.

    Args:
        values: (T, n), one row per time.
        times: (T,) the times, in increasing order; 0, 1, ... by default. A temporal kernel counts
            them from the first.
    Raises:
        InvalidInput: the shapes do not agree, there are no data, the times decrease, or a number is
            not finite.
    """

    values: Array
    times: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        values = finite_array(self.values, "values", 2)
        given = np.size(self.times) > 0
        times = finite_array(self.times, "times", 1) if given else np.arange(float(len(values)))
        if values.size == 0 or len(times) != len(values):
            raise InvalidInput(
                f"values (T, n) and times (T,) must agree, got {values.shape} and {times.shape}"
            )
        if (np.diff(times) < 0).any():
            raise InvalidInput("times must not decrease")
        for name, value in (("values", values), ("times", times)):
            object.__setattr__(self, name, frozen(value.copy()))


def time_gaps(times: Iterable[Array]) -> tuple[float, float]:
    """The shortest time from one to the next of each series, but at least 1, and the median one."""
    gaps = np.concatenate([np.diff(np.unique(own)) for own in times])
    return (max(gaps.min(), 1.0), float(np.median(gaps))) if len(gaps) else (1.0, 1.0)

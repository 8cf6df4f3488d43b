"""Functions that come back: seasons, and rotation between a few functions."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.drift.base import DRIFTS, Drift, Fresh, Memory
from gpbandits_env.errors import InvalidInput


class _Fixed(Drift):
    """A drift whose draws are all made at the start; only their weights move."""

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        return memory


@DRIFTS.register("seasonal")
@dataclass(frozen=True)
class Seasonal(_Fixed):
    r"""A periodic function of time: f_{t + period} = f_t.

    .. math:: f_t = \sum_h w_h (\cos(2\pi h t / P) a_h + \sin(2\pi h t / P) b_h),
        \quad \textstyle\sum_h w_h^2 = 1

    so that Cov(f_t(x), f_{t+j}(z)) = k(x, z) sum_h w_h^2 cos(2 pi h j / P).

    Args:
        period: P > 0, in rounds.
        weights: w_1, w_2, ... up to a common factor; more harmonics make sharper seasons.
    Raises:
        InvalidInput: a period that is not positive, or weights that are all 0.
    """

    period: float
    weights: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        positive(self.period, "period")
        weights = tuple(positive(w, "weights", zero=True) for w in self.weights)
        if not any(weights):
            raise InvalidInput("seasonal needs a weight above 0")
        object.__setattr__(self, "weights", weights)

    def start(self, fresh: Fresh) -> Memory:
        return tuple(fresh() for _ in range(2 * len(self.weights)))

    def values(self, memory: Memory, t: int) -> Array:
        w = np.asarray(self.weights) / np.linalg.norm(self.weights)
        angles = 2.0 * np.pi * np.arange(1, len(w) + 1) * (t % self.period) / self.period
        mix = np.stack([w * np.cos(angles), w * np.sin(angles)], axis=1).ravel()
        return mix @ np.stack(memory)


@DRIFTS.register("rotation")
@dataclass(frozen=True)
class Rotation(_Fixed):
    """A slow turn from one function to the next and, after the last, back to the first.

    Between g_i and g_{i+1} the function is cos(a) g_i + sin(a) g_{i+1}, a from 0 to pi/2.

    Args:
        period: rounds for the whole round trip.
        functions: how many independent functions there are, at least 2.
    Raises:
        InvalidInput: a period that is not positive, or fewer than 2 functions.
    """

    period: float
    functions: int = 2

    def __post_init__(self) -> None:
        positive(self.period, "period")
        whole(self.functions, "functions", 2)

    def start(self, fresh: Fresh) -> Memory:
        return tuple(fresh() for _ in range(self.functions))

    def values(self, memory: Memory, t: int) -> Array:
        place = self.functions * (((t - 1) / self.period) % 1.0)
        i = int(place) % self.functions
        angle = 0.5 * np.pi * (place - int(place))
        here, there = memory[i], memory[(i + 1) % self.functions]
        return np.cos(angle) * here + np.sin(angle) * there

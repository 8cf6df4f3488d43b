"""Test functions whose last coordinate is time, as in the experiments of W-DBO.

Source: Bardou, Thiran and Ranieri (2024), Section 5; the formulas and domains are those of
Surjanovic and Bingham, Virtual Library of Simulation Experiments, except the domain of Rosenbrock,
which is that of the authors' public code.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpbandits_env.arrays import Array, positive
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.functions import formulas
from gpbandits_env.rewards.functions.function import ArmFunction
from gpbandits_env.rewards.functions.process import RewardProcess, RoundPath
from gpbandits_env.seeding import stream

# The scale of a function is that of its values at this many random points and times.
SAMPLE = 4096


def rastrigin(x: Array) -> Array:
    """Negated Rastrigin: -10 d - sum (x_i^2 - 10 cos 2 pi x_i)."""
    return -np.sum(10.0 + x**2 - 10.0 * np.cos(2.0 * np.pi * x), axis=1)


def schwefel(x: Array) -> Array:
    """Negated Schwefel 2.26, without its constant: sum x_i sin sqrt |x_i|."""
    return np.sum(x * np.sin(np.sqrt(np.abs(x))), axis=1)


def styblinski_tang(x: Array) -> Array:
    """Negated Styblinski-Tang: -1/2 sum (x_i^4 - 16 x_i^2 + 5 x_i)."""
    return -0.5 * np.sum(x**4 - 16.0 * x**2 + 5.0 * x, axis=1)


def eggholder(x: Array) -> Array:
    """Negated Eggholder, with b = y + 47: b sin sqrt |b + x/2| + x sin sqrt |x - b|."""
    a, b = x[:, 0], x[:, 1] + 47.0
    return b * np.sin(np.sqrt(np.abs(b + 0.5 * a))) + a * np.sin(np.sqrt(np.abs(a - b)))


SHEKEL_WIDTHS = 0.1 * np.array([1.0, 2.0, 2.0, 4.0, 4.0, 6.0, 3.0, 7.0, 5.0, 5.0])
SHEKEL_CENTRES = np.array(
    [
        *([4.0, 4.0, 4.0, 4.0], [1.0, 1.0, 1.0, 1.0], [8.0, 8.0, 8.0, 8.0], [6.0, 6.0, 6.0, 6.0]),
        *([3.0, 7.0, 3.0, 7.0], [2.0, 9.0, 2.0, 9.0], [5.0, 5.0, 3.0, 3.0], [8.0, 1.0, 8.0, 1.0]),
        *([6.0, 2.0, 6.0, 2.0], [7.0, 3.6, 7.0, 3.6]),
    ]
)


def shekel(x: Array) -> Array:
    """Negated Shekel, m = 10: sum_i 1 / (c_i + |x - a_i|^2)."""
    squares = np.sum((x[:, None] - SHEKEL_CENTRES) ** 2, axis=2)
    return np.sum(1.0 / (SHEKEL_WIDTHS + squares), axis=1)


HARTMANN_3_SCALES = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0]] * 2)
HARTMANN_3_CENTRES = 1e-4 * np.array(
    [
        *([3689.0, 1170.0, 2673.0], [4699.0, 4387.0, 7470.0]),
        *([1091.0, 8732.0, 5547.0], [381.0, 5743.0, 8828.0]),
    ]
)


def hartmann_3(x: Array) -> Array:
    """Negated Hartmann-3, with the weights of Hartmann-6."""
    squares = np.sum(HARTMANN_3_SCALES * (x[:, None] - HARTMANN_3_CENTRES) ** 2, axis=2)
    return np.exp(-squares) @ formulas.HARTMANN_WEIGHTS


def powell(x: Array) -> Array:
    """Negated Powell: -(a + 10 b)^2 - 5 (c - d)^2 - (b - 2 c)^4 - 10 (a - d)^4."""
    a, b, c, d = x.T
    return -((a + 10 * b) ** 2) - 5 * (c - d) ** 2 - (b - 2 * c) ** 4 - 10 * (a - d) ** 4


class Swept(NamedTuple):
    """A formula of d coordinates in [low, high]^d, the last of which is time."""

    formula: Callable[[Array], Array]
    low: float
    high: float
    dim: int

    def at(self, points: Array, place: float) -> Array:
        """The values (n,) at points (n, d - 1), at a place of time in [0, 1]."""
        time = np.full(len(points), self.low + place * (self.high - self.low))
        return self.formula(np.column_stack([points, time]))

    def scale(self) -> tuple[float, float]:
        """The mean and the standard deviation over the box and over time."""
        points = stream("gpbandits_env", "scale").uniform(self.low, self.high, (SAMPLE, self.dim))
        values = self.formula(points)
        return float(values.mean()), float(values.std())


SWEPT: dict[str, Swept] = {
    "rastrigin": Swept(rastrigin, -5.12, 5.12, 5),
    "schwefel": Swept(schwefel, -500.0, 500.0, 4),
    "styblinski-tang": Swept(styblinski_tang, -5.0, 5.0, 4),
    "eggholder": Swept(eggholder, -512.0, 512.0, 2),
    "ackley": Swept(formulas.ackley, -32.768, 32.768, 4),
    "rosenbrock": Swept(formulas.rosenbrock, -1.0, 1.5, 3),
    "shekel": Swept(shekel, 0.0, 10.0, 4),
    "hartmann-3": Swept(hartmann_3, 0.0, 1.0, 3),
    "hartmann-6": Swept(formulas.hartmann, 0.0, 1.0, 6),
    "powell": Swept(powell, -4.0, 5.0, 4),
}


class SweptProcess(RewardProcess):
    """A function whose last coordinate goes from its low to its high end, and back, and so on.

    Values have mean 0 and variance 1 over the box and over time. A round costs O(n d) for n arms.

    Args:
        swept: the function.
        arms: n points of its first d - 1 coordinates.
        rounds: the number of rounds from one end to the other.
    Raises:
        InvalidInput: the arms have another dimension, or the number is not positive.
    """

    def __init__(self, swept: Swept, arms: Arms, rounds: float) -> None:
        self.domain, self.swept = arms, swept
        self.sweep = positive(rounds, "sweep")
        if arms.dim != swept.dim - 1:
            raise InvalidInput(
                f"the function has {swept.dim - 1} coordinates besides time, but the arms have "
                f"{arms.dim}"
            )
        self.box = Box(np.full(arms.dim, swept.low), np.full(arms.dim, swept.high))
        self._mean, self._sd = swept.scale()

    def begin(self, rng: np.random.Generator) -> RoundPath:
        return RoundPath(self.at)

    def at(self, round_: float) -> ArmFunction:
        """The function of a round."""
        place = 1.0 - abs(1.0 - (round_ - 1.0) / self.sweep % 2.0)
        return ArmFunction((self.swept.at(self.domain.span, place) - self._mean) / self._sd)

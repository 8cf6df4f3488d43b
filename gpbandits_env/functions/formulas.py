"""Formulas of test functions in any number of dimensions, negated where they are minimised.

Each takes points (n, d) to values (n,) in O(n d), fast at d = 5000. ``least_*`` bounds a formula
from below where all |x_i| <= b.

Source: Surjanovic and Bingham, Virtual Library of Simulation Experiments.
"""

import math

import numpy as np

from gpbandits_env.arrays import Array

# Michalewicz's ridges are sin^(2 STEEPNESS).
STEEPNESS = 10


def ackley(x: Array) -> Array:
    """Negated Ackley: 20 exp(-0.2 |x| / sqrt d) + exp(mean cos 2 pi x) - 20 - e."""
    root = np.sqrt(np.mean(x**2, axis=1))
    ripple = np.mean(np.cos(2.0 * np.pi * x), axis=1)
    return 20.0 * np.exp(-0.2 * root) - 20.0 + np.exp(ripple) - np.e


def least_ackley(dim: int, b: float) -> float:
    return -20.0 - math.e


def levy(x: Array) -> Array:
    """Negated Levy, in w = 1 + (x - 1) / 4, with waves in the first and the last coordinate."""
    v = 0.25 * (x - 1.0)
    angle = np.pi * v
    # w = 1 + v; a shift by a whole turn leaves a sine's square as it is.
    first = np.sin(angle[:, 0]) ** 2
    middle = v[:, :-1] ** 2 * (1.0 + 10.0 * np.sin(angle[:, :-1] + np.pi + 1.0) ** 2)
    last = v[:, -1] ** 2 * (1.0 + np.sin(2.0 * angle[:, -1]) ** 2)
    return -(first + np.sum(middle, axis=1) + last)


def least_levy(dim: int, b: float) -> float:
    return -(1.0 + (11.0 * (dim - 1) + 2.0) * ((b + 1.0) / 4.0) ** 2)


def hyper_ellipsoid(x: Array) -> Array:
    """Negated "rotated" hyper-ellipsoid: -sum_i sum_{j<=i} x_j^2, which is separable."""
    return -(x**2 @ np.arange(x.shape[1], 0.0, -1.0))


def least_hyper_ellipsoid(dim: int, b: float) -> float:
    return -(b**2) * dim * (dim + 1) / 2


def schwefel(x: Array) -> Array:
    """Negated Schwefel 1.2: -sum_i (sum_{j<=i} x_j)^2, whose variables interact."""
    return -np.sum(np.cumsum(x, axis=1) ** 2, axis=1)


def least_schwefel(dim: int, b: float) -> float:
    return -(b**2) * dim * (dim + 1) * (2 * dim + 1) / 6


def griewank(x: Array) -> Array:
    """Negated Griewank: prod cos(x_i / sqrt i) - sum x_i^2 / 4000 - 1."""
    return _griewank(x, np.sqrt(np.arange(1.0, x.shape[1] + 1.0)))


def griewank_i(x: Array) -> Array:
    """The same without the root: prod cos(x_i / i) - sum x_i^2 / 4000 - 1.

    Source: the public code of ren2024 (github.com/rafflesintown/TSRSR).
    """
    return _griewank(x, np.arange(1.0, x.shape[1] + 1.0))


def _griewank(x: Array, scales: Array) -> Array:
    waves: Array = np.prod(np.cos(x / scales), axis=1)
    return waves - np.sum(x**2, axis=1) / 4000.0 - 1.0


def least_griewank(dim: int, b: float) -> float:
    return -2.0 - dim * b**2 / 4000.0


def michalewicz(x: Array) -> Array:
    """Negated Michalewicz: sum_i sin(x_i) sin^20(i x_i^2 / pi)."""
    i = np.arange(1.0, x.shape[1] + 1.0)
    ridge = np.sin(i * x**2 / np.pi)
    ridge **= 2
    return np.sum(np.sin(x) * ridge**STEEPNESS, axis=1)


def least_michalewicz(dim: int, b: float) -> float:
    return -float(dim)


def best_michalewicz(dim: int) -> Array:
    """The maximiser (d,) in [0, pi]^d.

    The sum is separable. Coordinate i has ridges round pi sqrt((k + 1/2) / i); on each the
    logarithm is concave, and Newton's method ends at its top. The highest is among those next to
    pi / 2, where sin x is largest.
    """
    i = np.arange(1.0, dim + 1.0)[:, None]
    nearest = np.clip(np.floor(i / 4.0) + np.arange(-2.0, 3.0), 0.0, i - 1.0)
    x = np.pi * np.sqrt((nearest + 0.5) / i)
    power = 2.0 * STEEPNESS
    for _ in range(12):  # four are enough; the rest change nothing
        u, du = i * x**2 / np.pi, 2.0 * i * x / np.pi
        slope = 1.0 / np.tan(x) + power * du / np.tan(u)
        curve = power * (2.0 * i / np.pi / np.tan(u) - (du / np.sin(u)) ** 2) - np.sin(x) ** -2.0
        x = x - slope / curve
    heights = np.sin(x) * np.sin(i * x**2 / np.pi) ** power
    tops: Array = x[np.arange(dim), np.argmax(heights, axis=1)]
    return tops


def most_michalewicz(dim: int) -> float:
    """The maximum in [0, pi]^d."""
    return float(michalewicz(best_michalewicz(dim)[None])[0])

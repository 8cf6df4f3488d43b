"""Formulas of test functions; functions that are usually minimized are negated.

Each formula maps points (n, d) to values (n,) in O(n d), and is fast at d = 5000. The first
functions have a fixed dimension; their maximizers have a closed form, or were found by Newton's
method with 40 digits.

Source: Surjanovic and Bingham, Virtual Library of Simulation Experiments; `example`: bedi2022.
"""

import math

import numpy as np

from gpbandits_env.arrays import Array

# Michalewicz's ridges are sin^(2 STEEPNESS).
STEEPNESS = 10


def example(x: Array) -> Array:
    """The one-dimensional function of bedi2022: sin x + cos x + 0.1 x."""
    u = x[:, 0]
    return np.sin(u) + np.cos(u) + 0.1 * u


# The slope is 0 where sqrt(2) cos(x + pi/4) = -0.1; this is the last such maximum before 10.
BEST_EXAMPLE = math.acos(-0.1 / math.sqrt(2.0)) - math.pi / 4.0 + 2.0 * math.pi
MOST_EXAMPLE = math.sin(BEST_EXAMPLE) + math.cos(BEST_EXAMPLE) + 0.1 * BEST_EXAMPLE


def rosenbrock(x: Array, b: float = 100.0) -> Array:
    """Negated Rosenbrock: -sum (b (x_{i+1} - x_i^2)^2 + (1 - x_i)^2)."""
    return -np.sum(b * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2, axis=1)


def rosenbrock_10(x: Array) -> Array:
    """Negated Rosenbrock with b = 10, as in bedi2022."""
    return rosenbrock(x, 10.0)


def camelback(x: Array) -> Array:
    """Negated six-hump camelback."""
    a, b = x[:, 0], x[:, 1]
    return -((4.0 - 2.1 * a**2 + a**4 / 3.0) * a**2 + a * b + (-4.0 + 4.0 * b**2) * b**2)


BEST_CAMELBACK = (0.08984201368301331, -0.7126564032704135)


def bird(x: Array) -> Array:
    """Negated Bird: sin a exp((1 - cos b)^2) + cos b exp((1 - sin a)^2) + (a - b)^2."""
    a, b = x[:, 0], x[:, 1]
    sine, cosine = np.sin(a), np.cos(b)
    waves = sine * np.exp((1.0 - cosine) ** 2) + cosine * np.exp((1.0 - sine) ** 2)
    return -(waves + (a - b) ** 2)


BEST_BIRD = (-1.5821421769300335, -3.1302468034546562)


def branin(x: Array) -> Array:
    """Negated Branin: (b - 5.1 a^2 / (4 pi^2) + 5 a / pi - 6)^2 + 10 (1 - 1/(8 pi)) cos a + 10."""
    a, b = x[:, 0], x[:, 1]
    bowl = b - 5.1 / (4.0 * math.pi**2) * a**2 + 5.0 / math.pi * a - 6.0
    return -(bowl**2) - 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * np.cos(a) - 10.0


HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_SCALES = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
HARTMANN_CENTRES = 1e-4 * np.array(
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ]
)


def hartmann(x: Array) -> Array:
    """Negated Hartmann-6: a sum of four Gaussian bumps with centers in the unit cube."""
    squares = np.sum(HARTMANN_SCALES * (x[:, None] - HARTMANN_CENTRES) ** 2, axis=2)
    return np.exp(-squares) @ HARTMANN_WEIGHTS


BEST_HARTMANN = (
    *(0.20168951100670543, 0.15001069182345797, 0.476873974221897),
    *(0.2753324304940561, 0.31165161660011326, 0.6573005340656203),
)


def ackley(x: Array) -> Array:
    """Negated Ackley: 20 exp(-0.2 |x| / sqrt d) + exp(mean cos 2 pi x) - 20 - e."""
    root = np.sqrt(np.mean(x**2, axis=1))
    ripple = np.mean(np.cos(2.0 * np.pi * x), axis=1)
    return 20.0 * np.exp(-0.2 * root) - 20.0 + np.exp(ripple) - np.e


def levy(x: Array) -> Array:
    """Negated Levy, in w = 1 + (x - 1) / 4, with waves in the first and the last coordinate."""
    v = 0.25 * (x - 1.0)
    angle = np.pi * v
    # w = 1 + v; adding a multiple of pi does not change the square of a sine.
    first = np.sin(angle[:, 0]) ** 2
    middle = v[:, :-1] ** 2 * (1.0 + 10.0 * np.sin(angle[:, :-1] + np.pi + 1.0) ** 2)
    last = v[:, -1] ** 2 * (1.0 + np.sin(2.0 * angle[:, -1]) ** 2)
    return -(first + np.sum(middle, axis=1) + last)


def hyper_ellipsoid(x: Array) -> Array:
    """Negated "rotated" hyper-ellipsoid: -sum_i sum_{j<=i} x_j^2, which is separable."""
    return -(x**2 @ np.arange(x.shape[1], 0.0, -1.0))


def schwefel(x: Array) -> Array:
    """Negated Schwefel 1.2: -sum_i (sum_{j<=i} x_j)^2, whose variables interact."""
    return -np.sum(np.cumsum(x, axis=1) ** 2, axis=1)


def griewank(x: Array) -> Array:
    """Negated Griewank: prod cos(x_i / sqrt i) - sum x_i^2 / 4000 - 1."""
    scales = np.sqrt(np.arange(1.0, x.shape[1] + 1.0))
    waves: Array = np.prod(np.cos(x / scales), axis=1)
    return waves - np.sum(x**2, axis=1) / 4000.0 - 1.0


def michalewicz(x: Array) -> Array:
    """Negated Michalewicz: sum_i sin(x_i) sin^20(i x_i^2 / pi)."""
    i = np.arange(1.0, x.shape[1] + 1.0)
    ridge = np.sin(i * x**2 / np.pi)
    ridge **= 2
    return np.sum(np.sin(x) * ridge**STEEPNESS, axis=1)


def best_michalewicz(dim: int) -> Array:
    """The maximizer (d,) in [0, pi]^d.

    The sum is separable. Coordinate i has ridges near pi sqrt((k + 1/2) / i). On each ridge the
    logarithm is concave, and Newton's method ends at its top. The highest ridge is next to pi / 2,
    where sin x is largest.
    """
    i = np.arange(1.0, dim + 1.0)[:, None]
    nearest = np.clip(np.floor(i / 4.0) + np.arange(-2.0, 3.0), 0.0, i - 1.0)
    x = np.pi * np.sqrt((nearest + 0.5) / i)
    power = 2.0 * STEEPNESS
    for _ in range(12):  # four steps are enough; more change nothing
        u, du = i * x**2 / np.pi, 2.0 * i * x / np.pi
        slope = 1.0 / np.tan(x) + power * du / np.tan(u)
        curve = power * (2.0 * i / np.pi / np.tan(u) - (du / np.sin(u)) ** 2) - np.sin(x) ** -2.0
        x = x - slope / curve
    heights = np.sin(x) * np.sin(i * x**2 / np.pi) ** power
    return x[np.arange(dim), np.argmax(heights, axis=1)]


def most_michalewicz(dim: int) -> float:
    """The maximum in [0, pi]^d."""
    return float(michalewicz(best_michalewicz(dim)[None])[0])

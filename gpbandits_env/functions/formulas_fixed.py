"""Formulas of test functions whose dimension is fixed, negated where they are minimised.

Each takes points (n, d) to values (n,). ``least_*`` bounds a formula from below where all
|x_i| <= b. Maximisers were found by Newton's method with 40 digits, but for `BEST_EXAMPLE`,
which has a closed form.

Source: Surjanovic and Bingham, Virtual Library of Simulation Experiments; `example`: bedi2022.
"""

import math

import numpy as np

from gpbandits_env.arrays import Array


def example(x: Array) -> Array:
    """bedi2022's function of one variable: sin x + cos x + 0.1 x."""
    u = x[:, 0]
    return np.sin(u) + np.cos(u) + 0.1 * u


def least_example(dim: int, b: float) -> float:
    return -math.sqrt(2.0) - 0.1 * b


# sqrt(2) cos(x + pi/4) = -0.1 where the slope is 0; the last such top before 10.
BEST_EXAMPLE = math.acos(-0.1 / math.sqrt(2.0)) - math.pi / 4.0 + 2.0 * math.pi
MOST_EXAMPLE = math.sin(BEST_EXAMPLE) + math.cos(BEST_EXAMPLE) + 0.1 * BEST_EXAMPLE


def rosenbrock(x: Array, b: float = 100.0) -> Array:
    """Negated Rosenbrock: -sum b (x_{i+1} - x_i^2)^2 + (1 - x_i)^2."""
    return -np.sum(b * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2, axis=1)


def rosenbrock_10(x: Array) -> Array:
    """Rosenbrock with b = 10, as bedi2022 has it."""
    return rosenbrock(x, 10.0)


def least_rosenbrock(dim: int, b: float) -> float:
    return -(dim - 1) * (100.0 * (b + b**2) ** 2 + (1.0 + b) ** 2)


def camelback(x: Array) -> Array:
    """Negated six-hump camelback."""
    a, b = x[:, 0], x[:, 1]
    return -((4.0 - 2.1 * a**2 + a**4 / 3.0) * a**2 + a * b + (-4.0 + 4.0 * b**2) * b**2)


def least_camelback(dim: int, b: float) -> float:
    return -((4.0 + 2.1 * b**2 + b**4 / 3.0) + 1.0 + (4.0 + 4.0 * b**2)) * b**2


BEST_CAMELBACK = (0.08984201368301331, -0.7126564032704135)


def bird(x: Array) -> Array:
    """Negated Bird: sin a exp((1 - cos b)^2) + cos b exp((1 - sin a)^2) + (a - b)^2."""
    a, b = x[:, 0], x[:, 1]
    sine, cosine = np.sin(a), np.cos(b)
    waves = sine * np.exp((1.0 - cosine) ** 2) + cosine * np.exp((1.0 - sine) ** 2)
    return -(waves + (a - b) ** 2)


def least_bird(dim: int, b: float) -> float:
    return -(2.0 * math.exp(4.0) + (2.0 * b) ** 2)


BEST_BIRD = (-1.5821421769300335, -3.1302468034546562)

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
    """Negated Hartmann-6: a sum of four Gaussian bumps, whose centres lie in the unit cube."""
    squares = np.sum(HARTMANN_SCALES * (x[:, None] - HARTMANN_CENTRES) ** 2, axis=2)
    values: Array = np.exp(-squares) @ HARTMANN_WEIGHTS
    return values


def least_hartmann(dim: int, b: float) -> float:
    return 0.0


BEST_HARTMANN = (
    0.20168951100670543,
    0.15001069182345797,
    0.476873974221897,
    0.2753324304940561,
    0.31165161660011326,
    0.6573005340656203,
)

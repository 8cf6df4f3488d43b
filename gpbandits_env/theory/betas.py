"""The confidence widths beta_t of srinivas2010, one function a theorem.

beta_t multiplies the variance under the root: mu + sqrt(beta_t) sigma. Each takes a round t or an
array of rounds, and returns a number or an array of the same shape.
"""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.theory.checks import nonnegative, probability, rounds


def beta_finite(t: ArrayLike, arms: int, delta: float) -> Array:
    """On finitely many arms: 2 log(|D| t^2 pi^2 / (6 delta)).

    In the paper's experiments it is divided by 5.

    Source: srinivas2010, Theorem 1.
    """
    factor = whole(arms, "arms") * np.pi**2 / (6.0 * probability(delta))
    return np.asarray(2.0 * np.log(factor * rounds(t) ** 2))


def beta_continuous(
    t: ArrayLike, dim: int, delta: float, a: float = 1.0, b: float = 1.0, r: float = 1.0
) -> Array:
    """In a box: 2 log(t^2 2 pi^2 / (3 delta)) + 2 d log(t^2 d b r sqrt(log(4 d a / delta))).

    The second logarithm is that of the cells per axis in the proof's grid, of which there is at
    least one: where the formula has fewer (tiny b r), the logarithm is taken as 0.

    The domain lies in [0, r]^d.

    Raises:
        InvalidInput: a number out of range, or a <= delta / (4 d).
    Source: srinivas2010, Theorem 2.
    """
    times, d = rounds(t), whole(dim, "dim")
    tail = 4.0 * d * positive(a, "a") / probability(delta)
    if tail <= 1.0:
        raise InvalidInput(f"a must be above delta / (4 dim) = {delta / (4 * d):g}, got {a!r}")
    cells = times**2 * (d * positive(b, "b") * positive(r, "r") * np.sqrt(np.log(tail)))
    first = 2.0 * np.log(times**2 * (2.0 * np.pi**2 / (3.0 * delta)))
    return np.asarray(first + 2.0 * d * np.log(np.maximum(cells, 1.0)))


def beta_rkhs(t: ArrayLike, gamma: ArrayLike, delta: float, norm_bound: float) -> Array:
    """For a function in the RKHS: 2 B + 300 gamma_t log^3(t / delta).

    ``gamma`` is gamma_t or a bound on it; a number or one per round.

    Source: srinivas2010, Theorem 3.
    """
    times, gain = rounds(t), nonnegative(gamma, "gamma")
    if gain.ndim and gain.shape != times.shape:
        raise InvalidInput(f"gamma must be a number or one a round, got shape {gain.shape}")
    norm = positive(norm_bound, "norm_bound", zero=True)
    return np.asarray(2.0 * norm + 300.0 * gain * np.log(times / probability(delta)) ** 3)

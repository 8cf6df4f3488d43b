"""The confidence widths beta_t of srinivas2010, one function per theorem.

The upper confidence bound is mu + sqrt(beta_t) sigma: beta_t multiplies the variance. Each function
takes a round t or an array of rounds and returns a number or an array of the same shape.
"""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.theory.checks import nonnegative, probability, rounds


def beta_finite(t: ArrayLike, arms: int, delta: float) -> Array:
    r"""The width for finitely many arms.

    .. math:: \beta_t = 2 \log \frac{|D| t^2 \pi^2}{6 \delta}

    The experiments of the paper divide it by 5.

    Source: srinivas2010, Theorem 1.
    """
    factor = whole(arms, "arms") * np.pi**2 / (6.0 * probability(delta))
    return np.asarray(2.0 * np.log(factor * rounds(t) ** 2))


def beta_continuous(
    t: ArrayLike, dim: int, delta: float, a: float = 1.0, b: float = 1.0, r: float = 1.0
) -> Array:
    r"""The width for a box in [0, r]^d.

    .. math:: \beta_t = 2 \log \frac{2 \pi^2 t^2}{3 \delta}
        + 2 d \log\left(t^2 d b r \sqrt{\log(4 d a / \delta)}\right)

    The argument of the second logarithm is the number of cells per axis in the grid of the proof.
    There is at least one cell, so a negative logarithm (for tiny b r) is replaced by 0.

    Raises:
        InvalidInput: a number is out of range, or a <= delta / (4 d).
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
    r"""The width for a function in the reproducing kernel Hilbert space.

    .. math:: \beta_t = 2 B + 300 \gamma_t \log^3(t / \delta)

    ``gamma`` is gamma_t, or a bound on it; a number, or one per round.

    Source: srinivas2010, Theorem 3.
    """
    times, gain = rounds(t), nonnegative(gamma, "gamma")
    if gain.ndim and gain.shape != times.shape:
        raise InvalidInput(f"gamma must be a number or one per round, got shape {gain.shape}")
    norm = positive(norm_bound, "norm_bound", zero=True)
    return np.asarray(2.0 * norm + 300.0 * gain * np.log(times / probability(delta)) ** 3)

r"""The theory of compressed and budgeted posteriors: thresholds, regret bounds, model orders.

The notation is that of bedi2022: epsilon is the compression budget in nats, p the dimension, M_T
the model order after T rounds, gamma_{M_T} the largest information gain of M_T observations, and
C1 = 8/log(1 + 1/s^2). Its schedule is epsilon = 1/2 log(1 + T^-alpha), so log(1 + T^-alpha) =
2 epsilon.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, finite_array, positive, whole
from gpbandits_env.gp.theory.arguments import nonnegative, probability, rounds
from gpbandits_env.gp.theory.regret_bounds import regret_constant

# exp(700) is just short of the largest float.
LARGEST_EXPONENT = 700.0


def compression_budget(horizon: ArrayLike, alpha: float) -> Array:
    """The budget epsilon = 1/2 log(1 + T^-alpha) in nats, in the shape of ``horizon``.

    ``alpha`` is at least 0; the theory requires 0 < alpha < 1/p.

    Source: bedi2022, Theorem 3.1.
    """
    return 0.5 * np.log1p(rounds(horizon) ** -positive(alpha, "alpha", zero=True))


def compression_threshold(epsilon: float, noise_var: float) -> float:
    """s^2 (exp(2 epsilon) - 1): more variance is informative. Source: bedi2022, eq. (2.12)."""
    exponent = min(2.0 * positive(epsilon, "epsilon", zero=True), LARGEST_EXPONENT)
    return positive(noise_var, "noise_var", zero=True) * math.expm1(exponent)


def regret_bound_compressed(
    horizon: ArrayLike,
    beta: ArrayLike,
    gain: ArrayLike,
    noise_var: float,
    epsilon: ArrayLike,
    variance: float = 1.0,
    *,
    continuous: bool = False,
) -> Array:
    r"""The regret bound of compressed GP-UCB.

    .. math:: \sqrt{C_1 T \beta_T \gamma_{M_T}} + T \sqrt{2 \epsilon} \sqrt{C_1 \beta_T}

    With epsilon = `compression_budget(T, alpha)`, the second term is T sqrt(log(1 + T^-alpha))
    sqrt(C1 beta_T), as printed. The proof has epsilon in place of 2 epsilon there (eq. (8.31)).
    ``continuous`` selects the bound in a box, which adds pi^2/6.

    Source: bedi2022, Theorem 3.2, eqs. (3.2) and (3.4).
    """
    t, c1 = rounds(horizon), regret_constant(noise_var, variance)
    betas, gains = nonnegative(beta, "beta"), nonnegative(gain, "gain")
    budget = nonnegative(epsilon, "epsilon")
    learned = np.sqrt(c1 * t * betas * gains)
    bound = learned + t * np.sqrt(2.0 * budget) * np.sqrt(c1 * betas)
    return bound + np.pi**2 / 6.0 if continuous else bound


def regret_bound_compressed_ei(
    horizon: ArrayLike,
    beta: ArrayLike,
    gain: ArrayLike,
    noise_var: float,
    epsilon: ArrayLike,
    largest_z: ArrayLike,
    *,
    as_printed: bool = False,
) -> Array:
    r"""The regret bound of compressed EI.

    .. math:: \frac{\sqrt{3 (\beta_T + 1 + R^2)} + \sqrt{\beta_T}}{\sqrt{\log(1 + 1/s^2)}}
        \left(\sqrt{2 T \gamma_{M_T}} + T \sqrt{2 \epsilon}\right)

    ``largest_z`` is R, the largest |mu - y_max| / sigma over rounds and arms, a number or an array.

    ERRATUM: eqs. (3.6) and (9.28) lack the root over log(1 + 1/s^2) that the preceding eq. (9.27)
    has. For s^2 < 0.58 the printed bound is the smaller one. In addition, the proof applies a bound
    on sigma(x_t) to sigma(x*), and bounds (a + b)^2 by a^2 + b^2 in (9.21).

    Source: bedi2022, Theorem 3.4, eq. (3.6).
    """
    t = rounds(horizon)
    betas, gains = nonnegative(beta, "beta"), nonnegative(gain, "gain")
    budget = nonnegative(epsilon, "epsilon")
    log = math.log1p(1.0 / positive(noise_var, "noise_var"))
    largest = nonnegative(largest_z, "largest_z")
    width = np.sqrt(3.0 * (betas + 1.0 + largest**2)) + np.sqrt(betas)
    bracket = np.sqrt(2.0 * t * gains) + t * np.sqrt(2.0 * budget)
    return width / (log if as_printed else math.sqrt(log)) * bracket


def regret_bound_compressed_finite(
    horizon: ArrayLike, beta: ArrayLike, trace: float, noise_var: float
) -> Array:
    """The bound for alpha = 1/2 and p = 1: sqrt(C1 beta_T) max(sqrt(Z1), 1) T^(3/4).

    ``trace`` is the sum of the eigenvalues of the kernel matrix of all arms, and Z1 is the trace
    divided by s^2 (1 - 1/e). ``beta`` is the width of srinivas2010, Theorem 1.

    Source: bedi2022, Corollary 3.3, eq. (3.5).
    """
    t, c1 = rounds(horizon), regret_constant(noise_var)
    z1 = positive(trace, "trace", zero=True) / (noise_var * (1.0 - math.exp(-1.0)))
    return np.sqrt(c1 * nonnegative(beta, "beta")) * max(math.sqrt(z1), 1.0) * t**0.75


def model_order_bound_by_gain(gain: ArrayLike, epsilon: float) -> int:
    """The largest M with gamma_M > M epsilon: a bound on the model order without unknown constants.

    Each informative observation adds more than epsilon nats (eq. (2.12)). So M of them add more
    than M epsilon, and at most gamma_M. ``gain`` (T,) is the curve of gamma_M, or of a bound on it,
    for M = 1, 2, ... If the curve stays above M epsilon to its end, the result is T.

    Source: srinivas2010, Lemma 5.3, and bedi2022, eq. (2.12).
    """
    gains = finite_array(gain, "gain", ndim=1)
    count = np.arange(1, len(gains) + 1)
    possible = np.flatnonzero(gains > count * positive(epsilon, "epsilon", zero=True))
    return int(possible[-1]) + 1 if len(possible) else 0


def bkb_qbar(horizon: int, delta: float, accuracy: float = 0.5) -> float:
    """The factor qbar = 6 alpha log(4 T/delta) / a^2, where alpha = (1 + a)/(1 - a).

    With this factor, the variances of BKB are within a factor alpha of the exact ones in all T
    rounds, with probability 1 - delta. Experiments use small constants instead. ``accuracy`` is a,
    in (0, 1).

    Source: Calandriello et al. (2019), Theorem 1.
    """
    alpha = (1.0 + probability(accuracy, "accuracy")) / (1.0 - accuracy)
    log = math.log(4.0 * whole(horizon, "horizon") / probability(delta))
    return 6.0 * alpha * log / accuracy**2

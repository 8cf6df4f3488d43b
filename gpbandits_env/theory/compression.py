r"""The theory of compressed and budgeted posteriors: thresholds, regret bounds, model orders.

Notation of bedi2022: epsilon the compression budget in nats, p dimensions, M_T the model order
after T rounds, gamma_{M_T} the largest information gain of M_T observations, C1 = 8/log(1 + 1/s^2).
In its schedule epsilon = 1/2 log(1 + T^-alpha), so that log(1 + T^-alpha) = 2 epsilon.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, finite_array, positive, whole
from gpbandits_env.theory.checks import nonnegative, probability, rounds
from gpbandits_env.theory.regret_bounds import regret_constant

# exp(700) is just short of the largest float.
LARGEST_EXPONENT = 700.0


def compression_budget(horizon: ArrayLike, alpha: float) -> Array:
    """The budget epsilon = 1/2 log(1 + T^-alpha), in nats, of the shape of the horizon.

    ``alpha`` is at least 0; the theory wants 0 < alpha < 1/p.

    Source: bedi2022, Theorem 3.1.
    """
    return 0.5 * np.log1p(rounds(horizon) ** -positive(alpha, "alpha", zero=True))


def compression_threshold(epsilon: float, noise_var: float) -> float:
    """s^2 (exp(2 epsilon) - 1): the variance above which an observation is informative.

    Source: bedi2022, eq. (2.12).
    """
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
    """Of compressed GP-UCB: sqrt(C1 T beta_T gamma_{M_T}) + T sqrt(2 epsilon) sqrt(C1 beta_T).

    With epsilon = `compression_budget(T, alpha)` the second term is the printed T sqrt(log(1 +
    T^-alpha)) sqrt(C1 beta_T). The proof gives it with epsilon in place of 2 epsilon (eq. (8.31)).
    With ``continuous`` it is the bound in a box, which adds pi^2/6.

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
    largest_z: float,
    *,
    as_printed: bool = False,
) -> Array:
    """Of compressed EI: (sqrt(3 (beta_T + 1 + R^2)) + sqrt(beta_T)) / sqrt(log(1 + 1/s^2)) * (...).

    The bracket is sqrt(2 T gamma_{M_T}) + T sqrt(2 epsilon).

    ERRATUM: eqs. (3.6) and (9.28) are printed without the root over log(1 + 1/s^2); the line
    before, (9.27), has it. For s^2 < 0.58 the printed form is the smaller. In addition, the proof
    bounds sigma(x*) by what holds for sigma(x_t), and (a + b)^2 by a^2 + b^2 in (9.21).
    ``largest_z`` is R, the largest |mu - y_max| / sigma over rounds and arms.

    Source: bedi2022, Theorem 3.4, eq. (3.6).
    """
    t = rounds(horizon)
    betas, gains = nonnegative(beta, "beta"), nonnegative(gain, "gain")
    budget = nonnegative(epsilon, "epsilon")
    log = math.log1p(1.0 / positive(noise_var, "noise_var"))
    largest = positive(largest_z, "largest_z", zero=True)
    width = np.sqrt(3.0 * (betas + 1.0 + largest**2)) + np.sqrt(betas)
    bracket = np.sqrt(2.0 * t * gains) + t * np.sqrt(2.0 * budget)
    return width / (log if as_printed else math.sqrt(log)) * bracket


def regret_bound_compressed_finite(
    horizon: ArrayLike, beta: ArrayLike, trace: float, noise_var: float
) -> Array:
    """At alpha = 1/2, p = 1: sqrt(C1 beta_T) max(sqrt(Z1), 1) T^(3/4).

    Z1 is the trace over s^2 (1 - 1/e). ``beta`` is that of srinivas2010, Theorem 1. ``trace`` is
    the sum of the eigenvalues of the kernel matrix of all arms.

    Source: bedi2022, Corollary 3.3, eq. (3.5).
    """
    t, c1 = rounds(horizon), regret_constant(noise_var)
    z1 = positive(trace, "trace", zero=True) / (noise_var * (1.0 - math.exp(-1.0)))
    return np.sqrt(c1 * nonnegative(beta, "beta")) * max(math.sqrt(z1), 1.0) * t**0.75


def model_order_bound(epsilon: ArrayLike, dim: int, constant: float = 1.0) -> Array:
    """The order (1 / (exp(2 epsilon) - 1))^p of the model, for all T; infinite at epsilon = 0.

    With epsilon = `compression_budget(T, alpha)` it is T^(alpha p). ``constant`` is what stands
    before it, which the paper leaves unnamed; it takes in s^2 (eq. (7.12)).

    Source: bedi2022, Theorem 3.1, eq. (3.1).
    """
    budget = nonnegative(epsilon, "epsilon")
    with np.errstate(divide="ignore"):
        order = (1.0 / np.expm1(np.minimum(2.0 * budget, LARGEST_EXPONENT))) ** whole(dim, "dim")
    return np.asarray(positive(constant, "constant") * order)


def compression_orders(horizon: ArrayLike, alpha: float, dim: int) -> tuple[Array, Array]:
    """What epsilon = 1/2 log(1 + T^-alpha) costs and saves: T^(1 - alpha/2), and T^(alpha p).

    The first is what compression adds to the regret of GP-UCB (to its leading term I), the second
    the model order; constants and logarithms are left out.

    ERRATUM: the paper's Table 1 prints T^(1 - 1/(4p)) at alpha = 1/p and T^(1 - 1/(2p)) at alpha =
    1/(2p): the second term of its eq. (3.2) gives them the other way round. ``alpha`` is 1/p,
    1/(2p) and 0 in the table.

    Source: bedi2022, Table 1, from eqs. (3.1) and (3.2).
    """
    t = rounds(horizon)
    power = positive(alpha, "alpha", zero=True)
    return t ** (1.0 - power / 2.0), t ** (power * whole(dim, "dim"))


def model_order_bound_by_gain(gain: ArrayLike, epsilon: float) -> int:
    """The largest M with gamma_M > M epsilon: a bound on the model order without unknown constants.

    Each informative observation brings more than epsilon nats (eq. (2.12)), so M of them more than
    M epsilon, and never more than gamma_M. ``gain`` is (T,) the curve of gamma_M, or of a bound on
    it, M = 1, 2, ...; if it stays above M epsilon to its end, so does the answer: T.

    Source: srinivas2010, Lemma 5.3, and bedi2022, eq. (2.12).
    """
    gains = finite_array(gain, "gain", ndim=1)
    count = np.arange(1, len(gains) + 1)
    possible = np.flatnonzero(gains > count * positive(epsilon, "epsilon", zero=True))
    return int(possible[-1]) + 1 if len(possible) else 0


def bkb_qbar(horizon: int, delta: float, accuracy: float = 0.5) -> float:
    """The factor qbar = 6 alpha log(4 T/delta) / a^2, alpha = (1 + a)/(1 - a).

    With it, with probability 1 - delta, BKB's variances are within a factor alpha of the exact ones
    in all T rounds. Experiments use small constants instead. ``accuracy`` is a, in (0, 1).

    Source: Calandriello et al. (2019), Theorem 1.
    """
    alpha = (1.0 + probability(accuracy, "accuracy")) / (1.0 - accuracy)
    log = math.log(4.0 * whole(horizon, "horizon") / probability(delta))
    return 6.0 * alpha * log / accuracy**2

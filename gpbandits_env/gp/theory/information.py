r"""Information gain: how much T noisy observations reveal about the function.

.. math:: I(y_A; f) = \tfrac12 \log\det(I + K_A / s^2)

Its maximum over T observations is gamma_T. A curve has one entry per number of observations
1, ..., T. All values are in nats. The orders of growth of gamma_T (srinivas2010, Theorem 5) leave
out constants: use them to compare shapes, not values.
"""

import heapq
import math
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, finite_array, leading, positive, share, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.theory.arguments import nonnegative, rounds

GREEDY = 1.0 - 1.0 / math.e
"""The greedy rule reaches at least this fraction of the optimum (srinivas2010, eq. 5)."""
TINY = 1e-290


def information_gain(covariance: ArrayLike, noise_var: float) -> float:
    """I(y_A; f) = 1/2 log det(I + K_A / s^2), in O(T^3).

    ``covariance`` is K_A (T, T), the prior covariance of f at the observed points.

    Raises:
        InvalidInput: the matrix is not symmetric, or a number is out of range.
        NotPositiveDefinite: the matrix is not a covariance.
    Source: srinivas2010, Section 2.2.
    """
    matrix = finite_array(covariance, "covariance", ndim=2)
    if matrix.shape != matrix.T.shape or not np.allclose(matrix, matrix.T):
        raise InvalidInput(f"covariance must be a symmetric matrix, got shape {matrix.shape}")
    scaled = np.eye(len(matrix)) + matrix / positive(noise_var, "noise_var")
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        raise NotPositiveDefinite("covariance must be positive semidefinite") from None
    return float(np.log(np.diag(factor)).sum())


def running_information_gain(variances: ArrayLike, noise_var: float) -> Array:
    """The information gain after each observation: 1/2 sum_t log(1 + sigma_{t-1}^2(x_t) / s^2).

    ``variances`` (T,) are those of the observed points, each just before its observation.

    Source: srinivas2010, Lemma 5.3.
    """
    values = nonnegative(variances, "variances", ndim=1)
    return np.cumsum(0.5 * np.log1p(values / positive(noise_var, "noise_var")))


def greedy_design(
    arms: Arms, kernel: Kernel, noise_var: float, horizon: int, epsilon: float = 0.0
) -> tuple[IntArray, Array]:
    """Greedy experimental design: observe the arm of largest posterior variance, T times.

    Ties go to the lowest index. With a drift, there is a round between any two observations. Cost:
    ``horizon`` posterior updates.

    Returns:
        The observed arms (T,), and the information gain after each observation (T,), which is at
        least (1 - 1/e) gamma_T, or half of gamma~_T with a drift.
    Raises:
        InvalidInput: a number is out of range, or the kernel does not accept the arms.
    Source: srinivas2010, eqs. (4)-(5).
    """
    noise_var, epsilon = positive(noise_var, "noise_var"), share(epsilon, "epsilon")
    posterior = posterior_for(arms, kernel, noise_var, horizon=whole(horizon, "horizon"))
    read, variances, nothing = np.empty(horizon, np.int64), np.empty(horizon), np.zeros(1)
    size = posterior.var.max()
    for t in range(horizon):
        if t:
            posterior.advance(epsilon)
        read[t] = leading(posterior.var, size)
        variances[t] = posterior.var[read[t]]
        posterior.condition(read[t : t + 1], nothing)  # the variance does not depend on the reward
    return read, running_information_gain(variances, noise_var)


def information_gain_bound(arms: Arms, kernel: Kernel, noise_var: float, horizon: int) -> Array:
    """An upper bound on gamma_1, ..., gamma_T: the greedy gain divided by (1 - 1/e), (T,).

    Source: srinivas2010, Section 5.1.
    """
    return greedy_design(arms, kernel, noise_var, horizon)[1] / GREEDY


def spectral_bound(eigenvalues: ArrayLike, noise_var: float, horizon: int) -> Array:
    r"""Eq. (8): an upper bound on gamma_1, ..., gamma_T from the spectrum of K_D alone, (T,).

    .. math:: \gamma_T \le \frac{1/2}{1 - 1/e} \max_m \sum_t \log(1 + m_t \lambda_t / s^2)

    The maximum is over integers m_t >= 0 with sum T. Each term is concave in m_t, so it is optimal
    to assign the observations one by one to the eigenvalue that gains most; this gives the optimum
    for every smaller T as well. Cost: O((n + T) log n).

    Raises:
        NotPositiveDefinite: an eigenvalue is negative beyond rounding.
    Source: srinivas2010, eq. (8) and Lemma 7.6.
    """
    ratios = (spectrum(eigenvalues) / positive(noise_var, "noise_var")).tolist()
    gains = np.empty(whole(horizon, "horizon"))
    queue = [(-math.log1p(ratio), ratio, 1) for ratio in ratios]
    heapq.heapify(queue)
    for t in range(horizon):
        gain, ratio, m = queue[0]
        gains[t] = -gain
        # log(1 + (m+1) ratio) - log(1 + m ratio)
        heapq.heapreplace(queue, (-math.log1p(ratio / (1.0 + m * ratio)), ratio, m + 1))
    return 0.5 / GREEDY * np.cumsum(gains)


def theorem4_bound(eigenvalues: ArrayLike, noise_var: float, horizon: int) -> Array:
    r"""Theorem 4 with its constants: an upper bound on gamma_1, ..., gamma_T, (T,).

    .. math:: \gamma_T \le \frac{1/2}{1 - 1/e} \max_{0 \le r \le T}
        \left[T_* \log(1 + r n_T / s^2) + (T - r) B(T_*) / s^2\right]

    Here n_T is the sum of all eigenvalues and B(T*) the sum without the T* largest. The bound is
    never below `spectral_bound`. The paper takes T* <= T, but its proof holds for any T* <= n. The
    best of these is used for each T, so that the curve grows with T. Cost: O(T n).

    ERRATUM: Lemma 7.8 has log(r n_T / s^2) without the 1, which fails where r n_T < s^2.

    Raises:
        NotPositiveDefinite: an eigenvalue is negative beyond rounding.
    Source: srinivas2010, Theorem 4; constants from Lemma 7.8.
    """
    values, s2 = spectrum(eigenvalues), positive(noise_var, "noise_var")
    times = np.arange(1.0, whole(horizon, "horizon") + 1.0)
    bounds = (_split_bound(values, s2, times, head) for head in range(1, len(values) + 1))
    return reduce(np.minimum, bounds)


def spectrum(eigenvalues: ArrayLike) -> Array:
    """The eigenvalues in decreasing order, with negative rounding errors set to 0.

    Raises:
        InvalidInput: the eigenvalues are not a list of finite numbers.
        NotPositiveDefinite: an eigenvalue is negative beyond rounding.
    """
    values = finite_array(eigenvalues, "eigenvalues", ndim=1)
    if not len(values):
        raise InvalidInput("eigenvalues must not be empty")
    if values.min() < -1e-9 * abs(values).max():
        raise NotPositiveDefinite(f"eigenvalues must be at least 0, but one is {values.min():g}")
    return np.maximum(np.sort(values)[::-1], 0.0)


def _split_bound(values: Array, noise_var: float, times: Array, head: int) -> Array:
    total, tail = values.sum() / noise_var, values[head:].sum() / noise_var
    # The bracket is concave in r: its slope head total / (1 + r total) - tail vanishes at
    best = head / max(tail, TINY) - 1.0 / max(total, TINY)
    r = np.clip(best, 0.0, times)
    return np.asarray(0.5 / GREEDY * (head * np.log1p(r * total) + (times - r) * tail))


def gain_order_linear(horizon: ArrayLike, dim: int) -> Array:
    """The order of gamma_T for the linear kernel: d log T."""
    return np.asarray(whole(dim, "dim") * np.log(rounds(horizon)))


def gain_order_se(horizon: ArrayLike, dim: int) -> Array:
    """The order of gamma_T for the squared exponential kernel: (log T)^(d+1)."""
    return np.asarray(np.log(rounds(horizon)) ** (whole(dim, "dim") + 1))


def gain_order_matern(horizon: ArrayLike, dim: int, nu: float) -> Array:
    """The order of gamma_T for Matern kernels, nu > 1: T^(d(d+1) / (2 nu + d(d+1))) log T."""
    if not 1.0 < nu < np.inf:
        raise InvalidInput(f"nu must be above 1, got {nu!r}")
    d, log = whole(dim, "dim"), np.log(rounds(horizon))
    return np.asarray(np.exp(d * (d + 1) / (2.0 * nu + d * (d + 1)) * log) * log)

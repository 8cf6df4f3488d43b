r"""Information gain: how much T noisy readings say about the function.

I(y_A; f) = 1/2 log det(I + K_A / s^2); gamma_T is its maximum over T readings. A curve has one
entry for each number of readings 1, ..., T; all are in nats. The orders, how gamma_T grows with T
(srinivas2010, Theorem 5), leave out constants: compare shapes with them, not values.
"""

import heapq
import math
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, finite_array, positive, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.kernels import Kernel
from gpbandits_env.posterior import posterior_on
from gpbandits_env.theory import checks
from gpbandits_env.theory.checks import counts, curve, matern_exponent

GREEDY = 1.0 - 1.0 / math.e
"""The part of the optimum that the greedy rule reaches at least (srinivas2010, eq. 5)."""
TINY = 1e-290


def information_gain(covariance: ArrayLike, noise_var: float) -> float:
    """I(y_A; f) = 1/2 log det(I + K_A / s^2), in O(T^3).

    ``covariance`` is K_A, (T, T), the prior covariance of f at the readings' points.

    Raises:
        InvalidInput: not a square matrix, or a number out of range.
        NotPositiveDefinite: not a covariance.
    Source: srinivas2010, Section 2.2.
    """
    matrix = finite_array(covariance, "covariance", ndim=2)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"covariance must be a square matrix, got shape {matrix.shape}")
    scaled = np.eye(len(matrix)) + matrix / positive(noise_var, "noise_var")
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        raise NotPositiveDefinite("covariance must be positive semidefinite") from None
    return float(np.log(np.diag(factor)).sum())


def running_information_gain(variances: ArrayLike, noise_var: float) -> Array:
    """The information gain after each reading: 1/2 sum_t log(1 + sigma_{t-1}^2(x_t) / s^2).

    ``variances`` is (T,) the posterior variance at each reading's point just before it.

    Returns:
        The curve (T,).
    Source: srinivas2010, Lemma 5.3.
    """
    values = curve(variances, "variances")
    return np.cumsum(0.5 * np.log1p(values / positive(noise_var, "noise_var")))


def greedy_design(
    arms: Arms, kernel: Kernel, noise_var: float, horizon: int
) -> tuple[IntArray, Array]:
    """Experimental design: read the arm of largest posterior variance, T times over.

    Ties go to the lowest index. Cost: that of ``horizon`` posterior updates.

    Returns:
        The arms read, (T,), and the information gain after each, (T,).
    Raises:
        InvalidInput: a number out of range, or arms that the kernel cannot be called on.
    Source: srinivas2010, eq. (4).
    """
    positive(noise_var, "noise_var")
    posterior = posterior_on(arms, kernel, noise_var, horizon=whole(horizon, "horizon"))
    read, variances, nothing = np.empty(horizon, np.int64), np.empty(horizon), np.zeros(1)
    for t in range(horizon):
        read[t] = np.argmax(posterior.var)
        variances[t] = posterior.var[read[t]]
        posterior.condition(read[t : t + 1], nothing)  # the variance does not depend on the reward
    return read, running_information_gain(variances, noise_var)


def greedy_information_gain(arms: Arms, kernel: Kernel, noise_var: float, horizon: int) -> Array:
    """The information gain of `greedy_design`: a curve (T,), at least (1 - 1/e) gamma_T.

    Source: srinivas2010, eqs. (4)-(5).
    """
    return greedy_design(arms, kernel, noise_var, horizon)[1]


def information_gain_bound(arms: Arms, kernel: Kernel, noise_var: float, horizon: int) -> Array:
    """An upper bound on gamma_1, ..., gamma_T: the greedy gain divided by (1 - 1/e), (T,).

    Source: srinivas2010, Section 5.1.
    """
    return greedy_information_gain(arms, kernel, noise_var, horizon) / GREEDY


def spectral_bound(eigenvalues: ArrayLike, noise_var: float, horizon: int) -> Array:
    """Eq. (8): an upper bound on gamma_1, ..., gamma_T from the spectrum of K_D alone, (T,).

    gamma_T <= 1/2 / (1 - 1/e) max_m sum_t log(1 + m_t lambda_t / s^2), over whole m_t >= 0 with
    sum T. Each term is concave in m_t, so giving the readings one by one to the eigenvalue that
    gains most is exact, and is the optimum for every T on the way. Cost: O((n + T) log n).

    Raises:
        NotPositiveDefinite: an eigenvalue that is negative beyond rounding.
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


def theorem4_bound(
    eigenvalues: ArrayLike, noise_var: float, horizon: int, split: int | None = None
) -> Array:
    """Theorem 4 with its constants: an upper bound on gamma_1, ..., gamma_T, (T,).

    gamma_T <= 1/2 / (1 - 1/e) max_r [T* log(1 + r n_T / s^2) + (T - r) B(T*) / s^2], 0 <= r <= T,
    with n_T the sum of the eigenvalues and B(T*) the sum of those after the T* largest. It is
    never below `spectral_bound`. The paper takes T* <= T; its proof holds for any T* <= n, and the
    best of these is taken, so that the curve grows with T. Cost: O(T n); for one T* O(n log n + T).

    ERRATUM: Lemma 7.8 has log(r n_T / s^2) without the 1, which fails where r n_T < s^2. ``split``
    is T*, from 1 to n; the best one for each T when it is not given.

    Raises:
        NotPositiveDefinite: an eigenvalue that is negative beyond rounding.
    Source: srinivas2010, Theorem 4; constants from Lemma 7.8.
    """
    values, s2 = spectrum(eigenvalues), positive(noise_var, "noise_var")
    rounds = counts(whole(horizon, "horizon"))
    if split is not None:
        if whole(split, "split") > len(values):
            raise InvalidInput(f"split must be at most {len(values)}, the arms, got {split}")
        return _split_bound(values, s2, rounds, split)
    bounds = (_split_bound(values, s2, rounds, head) for head in range(1, len(values) + 1))
    return reduce(np.minimum, bounds)


def spectrum(eigenvalues: ArrayLike) -> Array:
    """The eigenvalues in falling order, negative rounding errors set to 0.

    Raises:
        InvalidInput: not a list of finite numbers.
        NotPositiveDefinite: an eigenvalue that is negative beyond rounding.
    """
    values = finite_array(eigenvalues, "eigenvalues", ndim=1)
    if not len(values):
        raise InvalidInput("eigenvalues must not be empty")
    if values.min() < -1e-9 * abs(values).max():
        raise NotPositiveDefinite(f"eigenvalues must be at least 0, the least is {values.min():g}")
    return np.maximum(np.sort(values)[::-1], 0.0)


def _split_bound(values: Array, noise_var: float, rounds: Array, head: int) -> Array:
    total, tail = values.sum() / noise_var, values[head:].sum() / noise_var
    # The bracket is concave in r: its slope head total / (1 + r total) - tail vanishes at
    best = head / max(tail, TINY) - 1.0 / max(total, TINY)
    r = np.clip(best, 0.0, rounds)
    return np.asarray(0.5 / GREEDY * (head * np.log1p(r * total) + (rounds - r) * tail))


def gain_order_linear(horizon: ArrayLike, dim: int) -> Array:
    """Of the linear kernel: d log T."""
    return np.asarray(whole(dim, "dim") * np.log(checks.rounds(horizon)))


def gain_order_se(horizon: ArrayLike, dim: int) -> Array:
    """Of the squared exponential kernel: (log T)^(d+1)."""
    return np.asarray(np.log(checks.rounds(horizon)) ** (whole(dim, "dim") + 1))


def gain_order_matern(horizon: ArrayLike, dim: int, nu: float) -> Array:
    """Of Matern kernels, nu > 1: T^(d(d+1) / (2 nu + d(d+1))) log T."""
    log = np.log(checks.rounds(horizon))
    return np.asarray(np.exp(matern_exponent(nu, dim) * log) * log)

"""The theory of time-varying GP bandits: block lengths, beta, and regret bounds.

The notation is that of bogunovic2016: the domain lies in [0, r]^d, and P(sup |f| > L) <= a0
exp(-(L/b0)^2).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, positive, share, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.theory.arguments import log_tail, nonnegative, probability, rounds
from gpbandits_env.gp.theory.information import greedy_design
from gpbandits_env.gp.theory.regret_bounds import regret_constant


def block_length_se(epsilon: float, horizon: int) -> int:
    """N, the integer in 1, ..., T closest to 12 epsilon^(-1/4), for the squared exponential kernel.

    Source: bogunovic2016, Corollary 4.1, Section 5.1, and Appendix E for the rounding.
    """
    return _block_length(12.0, 4.0, epsilon, horizon)


def block_length_matern(epsilon: float, horizon: int, nu: float, dim: int) -> int:
    """N, the integer in 1, ..., T closest to 24 epsilon^(-1/(4 - c)), for Matern kernels.

    c = d(d+1) / (2 nu + d(d+1)).

    Source: bogunovic2016, Corollary 4.1, Section 5.1, and Appendix E for the rounding.
    """
    d = whole(dim, "dim")
    c = d * (d + 1) / (2.0 * positive(nu, "nu") + d * (d + 1))
    return _block_length(24.0, 4.0 - c, epsilon, horizon)


def tail_constants(mean_supremum: float, sd: float) -> tuple[float, float]:
    r"""Constants (a, b) with P(sup |h| > L) <= a exp(-(L/b)^2) for all L >= 0, h a Gaussian field.

    .. math:: a = 2 e^{m^2 / (2 s^2)}, \quad b = 2 s

    They follow from the concentration of Gaussian suprema around their mean m, with the largest
    pointwise standard deviation s. No b below sqrt(2) s can hold: a = b = 1 is wrong for the
    derivatives of a squared exponential function with a lengthscale below sqrt(2).

    Args:
        mean_supremum: m, or an upper bound on E sup |h|.
        sd: s > 0.
    Source: bogunovic2016, assumptions (9)-(10), whose constants it does not state.
    """
    m, s = positive(mean_supremum, "mean_supremum"), positive(sd, "sd")
    return 2.0 * math.exp(0.5 * (m / s) ** 2), 2.0 * s


def beta_resetting(
    horizon: ArrayLike, dim: int, delta: float, a: float = 1.0, b: float = 1.0, r: float = 1.0
) -> Array:
    r"""The confidence width of R-GP-UCB.

    .. math:: \beta_T = 2 \log u + 2 d \log\left(r d b T^2 \sqrt{\log(d a u)}\right), \quad
        u = \frac{2 \pi^2 T^2}{3 \delta}

    As in `beta_continuous`, the second logarithm is at least 0.

    Source: bogunovic2016, Theorem 4.2, eq. (16).
    """
    return _beta(horizon, 1.5, dim, delta, a, b, r)


def beta_time_varying(
    horizon: ArrayLike, dim: int, delta: float, a: float = 1.0, b: float = 1.0, r: float = 1.0
) -> Array:
    r"""The confidence width of TV-GP-UCB: that of `beta_resetting`, with u = pi^2 T^2 / (2 delta).

    Source: bogunovic2016, Theorem 4.3, eq. (19).
    """
    return _beta(horizon, 2.0, dim, delta, a, b, r)


def greedy_time_varying_gain(
    arms: Arms, kernel: Kernel, noise_var: float, epsilon: float, horizon: int
) -> Array:
    """The information gain 1/2 log det(I + K~_T/s^2) of `greedy_design` under drift, (T,).

    Rounds partition the ground set and the gain is submodular, so the largest gain gamma~_T is at
    most twice this curve (Fisher, Nemhauser and Wolsey 1978).

    Source: bogunovic2016, Section 4.2 (gamma~_T).
    """
    return greedy_design(arms, kernel, noise_var, horizon, epsilon)[1]


def time_varying_gain_bound(
    horizon: ArrayLike,
    block: int,
    block_gain: float,
    noise_var: float,
    epsilon: float,
    variance: float = 1.0,
    *,
    as_printed: bool = False,
) -> Array:
    r"""A bound on gamma~_T from the static gain of a block, for any block length.

    .. math:: \tilde\gamma_T \le (T/N + 1)
        \left(\gamma_N + \tfrac N2 \log(1 + N^2 \epsilon v / s^2)\right)

    ERRATUM: eq. (21) is printed as (T/N + 1)(gamma_N + N^3 epsilon), because step (56) of the proof
    drops a factor. With one arm, s^2 = 1e-4, epsilon = .01, T = 50 and N = 6, it claims 71.5, but
    the true value is 117.9. The corrected bound above is the default.

    Source: bogunovic2016, eq. (21).
    """
    blocks = rounds(horizon) / whole(block, "block") + 1.0
    gain, eps = positive(block_gain, "block_gain", zero=True), share(epsilon, "epsilon")
    ratio = block**2 * eps * positive(variance, "variance") / positive(noise_var, "noise_var")
    return blocks * (gain + (block**3 * eps if as_printed else 0.5 * block * math.log1p(ratio)))


def regret_bound_time_varying(
    horizon: ArrayLike, beta: ArrayLike, gain: ArrayLike, noise_var: float, variance: float = 1.0
) -> Array:
    """The bound of TV-GP-UCB with `beta_time_varying`: R_T <= sqrt(C1 T beta_T gamma~_T) + 2.

    Source: bogunovic2016, Theorem 4.3, eq. (20).
    """
    t, c1 = rounds(horizon), regret_constant(noise_var, variance)
    return np.sqrt(c1 * t * nonnegative(beta, "beta") * nonnegative(gain, "gain")) + 2.0


def regret_bound_resetting(
    horizon: ArrayLike,
    beta: ArrayLike,
    block: int,
    block_gain: float,
    noise_var: float,
    epsilon: float,
    delta: float,
    a0: float = 1.0,
    b0: float = 1.0,
    *,
    as_printed: bool = False,
) -> Array:
    """The bound of R-GP-UCB: R_T <= sqrt(C1 T beta_T (T/N + 1) gamma_N) + 2 + T psi_T(N, epsilon).

    beta_T comes from `beta_resetting`. The kernel has k(x, x) <= 1.

    ERRATUM: by eq. (72) of the proof psi_T is twice what eq. (18) prints. Twice is the default. The
    proof has noise of variance 1 in eq. (65): the 2 in 2 + b0 stands for 2 max(1, s).

    Source: bogunovic2016, Theorem 4.2, eqs. (17)-(18) and (72).
    """
    t, betas = rounds(horizon), nonnegative(beta, "beta")
    gain, per_block = positive(block_gain, "block_gain", zero=True), t / whole(block, "block") + 1.0
    learned = np.sqrt(regret_constant(noise_var) * t * betas * per_block * gain)
    stale = block**3 * share(epsilon, "epsilon")
    factor = 2.0 * (1.0 + positive(a0, "a0", zero=True)) * np.pi**2
    tail = np.sqrt(np.log(factor * t**2 / (3.0 * probability(delta))))
    precision, noise = 1.0 / noise_var, 1.0 if as_printed else math.sqrt(max(1.0, noise_var))
    largest = 2.0 * noise + positive(b0, "b0", zero=True)
    psi = np.sqrt(betas * (3.0 * precision + precision**2) * stale)
    psi = psi + (precision + precision**2) * stale * largest * tail
    return learned + 2.0 + t * psi * (1.0 if as_printed else 2.0)


def least_regret(epsilon: ArrayLike, correlation: float = 0.0, variance: float = 1.0) -> Array:
    r"""The expected regret per round on two arms, from round 2 on, below which no agent can be.

    .. math:: E[r_t] \ge \sqrt{\frac{v (1 - \rho)}{\pi}} \left(1 - \sqrt{1 - \epsilon}\right)
        \ge \sqrt{\frac{v (1 - \rho)}{\pi}} \, \frac{\epsilon}{2}

    It is the regret of the agent that knows f_{t-1} and chooses its maximizer: the difference of
    the two values changes its sign with the correlation sqrt(1 - epsilon) between rounds. This
    gives the lower bound of order T epsilon its constant.

    Args:
        epsilon: the drift, in [0, 1]; a number or an array.
        correlation: rho, the prior correlation of the two arms, in [-1, 1].
        variance: v, the prior variance of each arm.
    Source: bogunovic2016, Theorem 4.1 and Appendix F; the constant is ours, exact for two arms.
    """
    eps = nonnegative(epsilon, "epsilon")
    if (eps > 1.0).any():
        raise InvalidInput(f"epsilon must lie in [0, 1], got {epsilon!r}")
    if not -1.0 <= correlation <= 1.0:
        raise InvalidInput(f"correlation must lie in [-1, 1], got {correlation!r}")
    spread = math.sqrt(positive(variance, "variance") * (1.0 - correlation) / math.pi)
    return np.asarray(spread * (1.0 - np.sqrt(1.0 - eps)))


def _block_length(factor: float, root: float, epsilon: float, horizon: int) -> int:
    share(epsilon, "epsilon")
    whole(horizon, "horizon")
    # factor >= 12, so that N >= 1
    return horizon if epsilon == 0 else round(min(horizon, factor * epsilon ** (-1.0 / root)))


def _beta(
    horizon: ArrayLike, part: float, dim: int, delta: float, a: float, b: float, r: float
) -> Array:
    """The width for u = pi^2 T^2 / (part delta)."""
    t2, d = rounds(horizon) ** 2, whole(dim, "dim")
    u = t2 * np.pi**2 / (part * probability(delta))
    cells = positive(r, "r") * d * positive(b, "b") * t2
    cells = cells * np.sqrt(log_tail(d * positive(a, "a") * u, a))
    return 2.0 * np.log(u) + 2.0 * d * np.log(np.maximum(cells, 1.0))

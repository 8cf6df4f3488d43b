r"""The confidence widths beta_t and the regret bounds of srinivas2010, to compare with results.

The upper confidence bound is mu + sqrt(beta_t) sigma: beta_t multiplies the variance. The functions
of beta_t take a round t or an array of rounds and return a number or an array of the same shape.

With probability 1 - delta, R_T <= sqrt(C1 T beta_T gamma_T) for all T at once. ``gain`` is the
curve of gamma_T, or of a bound on it (`information_gain_bound`, `spectral_bound`), T = 1, 2, ...

In batches of m actions, the cost of choosing before the other rewards are known is

.. math:: \rho_m = \max_{x, t, |A| \le m} \sigma_t(x) / \sigma_t(x \mid A)
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.theory.arguments import curve, log_tail, nonnegative, probability, rounds


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
    tail = log_tail(4.0 * d * positive(a, "a") / probability(delta), a)
    cells = times**2 * (d * positive(b, "b") * positive(r, "r") * np.sqrt(tail))
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


def regret_constant(noise_var: float, variance: float = 1.0) -> float:
    """C1 = 8 v / log(1 + v / s^2); at prior variance v = 1 this is the paper's 8 / log(1 + 1/s^2).

    Source: srinivas2010, Lemma 5.4, with v in place of the bound 1 on k(x, x).
    """
    v = positive(variance, "variance")
    return 8.0 * v / math.log1p(v / positive(noise_var, "noise_var"))


def regret_bound(
    gain: ArrayLike, beta: ArrayLike, noise_var: float, variance: float = 1.0
) -> Array:
    """The curve sqrt(C1 T beta_T gamma_T), T = 1, 2, ..., for any valid widths.

    ``beta`` holds the widths, (T,) or a number; they must not decrease with T.

    Raises:
        InvalidInput: the curves differ in length, or a number is out of range.
    Source: srinivas2010, Lemma 5.4.
    """
    times, gains = curve(gain)
    widths = nonnegative(beta, "beta")
    if widths.ndim and widths.shape != gains.shape:
        raise InvalidInput(f"beta must be a number or {gains.shape}, got {widths.shape}")
    return np.sqrt(regret_constant(noise_var, variance) * times * widths * gains)


def regret_bound_theorem1(
    gain: ArrayLike, arms: int, delta: float, noise_var: float, variance: float = 1.0
) -> Array:
    """The bound for finitely many arms and f ~ GP(0, k): sqrt(C1 T beta_T gamma_T), (T,).

    Source: srinivas2010, Theorem 1.
    """
    times, gains = curve(gain)
    return regret_bound(gains, beta_finite(times, arms, delta), noise_var, variance)


def regret_bound_theorem2(
    gain: ArrayLike,
    dim: int,
    delta: float,
    noise_var: float,
    variance: float = 1.0,
    *,
    a: float = 1.0,
    b: float = 1.0,
    r: float = 1.0,
) -> Array:
    """The bound for a box and f ~ GP(0, k) with smooth draws: sqrt(C1 T beta_T gamma_T) + 2, (T,).

    Source: srinivas2010, Theorem 2.
    """
    times, gains = curve(gain)
    beta = beta_continuous(times, dim, delta, a, b, r)
    return regret_bound(gains, beta, noise_var, variance) + 2.0


def regret_bound_theorem3(
    gain: ArrayLike, norm_bound: float, delta: float, noise_var: float, variance: float = 1.0
) -> Array:
    """The bound for |f|_k^2 <= B and martingale noise up to s: sqrt(C1 T beta_T gamma_T), (T,).

    Source: srinivas2010, Theorem 3.
    """
    times, gains = curve(gain)
    beta = beta_rkhs(times, gains, delta, norm_bound)
    return regret_bound(gains, beta, noise_var, variance)


def rho_bound(gain: ArrayLike, batch_size: int) -> Array:
    """A bound on rho_m after T_init observations of largest variance: exp(m gamma_T_init / T_init).

    The bound falls to 1 if the gain grows more slowly than the number of observations. It also
    holds with the gain of the design itself (`greedy_design`), which is at most gamma.

    Returns:
        The curve (T,) for T_init = 1, 2, ...; infinite where it overflows.
    Source: ren2024, Appendix B; Desautels, Krause & Burdick (2014), Theorem 5.
    """
    times, gains = curve(gain)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(whole(batch_size, "batch_size") * gains / times))


def regret_bound_ts_rsr(
    gain: ArrayLike, batch_size: int, arms: int, noise_var: float, rho: float, variance: float = 1.0
) -> Array:
    r"""Theorem 1 with its constants: a bound on the expected cumulative regret of TS-RSR.

    .. math:: 2 \sqrt{2 \log(4 |X| (m T)^3)} \, \rho_m \sqrt{T m s^2 C_1 \gamma_{Tm}}
        + \sqrt{24 v \log|X| \, T m}, \quad C_1 = \frac{2 v}{s^2 \log(1 + v/s^2)}

    The paper has v = 1. An observation adds at most 1 / s^2 to the precision, so that rho_m is at
    most sqrt(1 + m v / s^2), if no initial observations bound it further (see `rho_bound`).

    ERRATUM: the last term is sqrt(24 log|X|), without T m, by the paper's own Lemma 9 (printed:
    with T m, which holds too).

    Returns:
        The curve (N // m,) for T = 1, 2, ..., from a gain of N >= m entries.
    Raises:
        InvalidInput: a number is out of range, or the gain curve is shorter than one batch.
    Source: ren2024, Section 5.5, last display.
    """
    if positive(rho, "rho") < 1.0:
        raise InvalidInput(f"rho must be at least 1, got {rho!r}")
    (times, gains), m = curve(gain), whole(batch_size, "batch_size")
    if len(gains) < m:
        raise InvalidInput(f"gain needs an entry for each of {m} observations, got {len(gains)}")
    gains = gains[m - 1 :: m]
    readings = m * times[: len(gains)]
    size = np.log(whole(arms, "arms", 2))
    width = 2.0 * np.sqrt(2.0 * (math.log(4.0) + size + 3.0 * np.log(readings)))
    # regret_constant is 8 v / log(1 + v / s^2), which is 4 s^2 C1.
    spread = np.sqrt(readings * regret_constant(noise_var, variance) / 4.0 * gains)
    return np.asarray(width * rho * spread + np.sqrt(24.0 * variance * size * readings))

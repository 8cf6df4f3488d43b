r"""The regret bounds of srinivas2010, as curves over T to compare with results.

With probability 1 - delta, R_T <= sqrt(C1 T beta_T gamma_T) for all T at once. ``gain`` is the
curve of gamma_T, or of a bound on it (`information_gain_bound`, `spectral_bound`), T = 1, 2, ...
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import InvalidInput
from gpbandits_env.theory.betas import beta_continuous, beta_finite, beta_rkhs
from gpbandits_env.theory.checks import counts, curve, nonnegative


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
    gains = curve(gain)
    widths = nonnegative(beta, "beta")
    if widths.ndim and widths.shape != gains.shape:
        raise InvalidInput(f"beta must be a number or {gains.shape}, got {widths.shape}")
    return np.sqrt(regret_constant(noise_var, variance) * counts(len(gains)) * widths * gains)


def regret_bound_theorem1(
    gain: ArrayLike, arms: int, delta: float, noise_var: float, variance: float = 1.0
) -> Array:
    """The bound for finitely many arms and f ~ GP(0, k): sqrt(C1 T beta_T gamma_T), (T,).

    Source: srinivas2010, Theorem 1.
    """
    gains = curve(gain)
    return regret_bound(gains, beta_finite(counts(len(gains)), arms, delta), noise_var, variance)


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
    gains = curve(gain)
    beta = beta_continuous(counts(len(gains)), dim, delta, a, b, r)
    return regret_bound(gains, beta, noise_var, variance) + 2.0


def regret_bound_theorem3(
    gain: ArrayLike, norm_bound: float, delta: float, noise_var: float, variance: float = 1.0
) -> Array:
    """The bound for |f|_k^2 <= B and bounded martingale noise: sqrt(C1 T beta_T gamma_T), (T,).

    ``gain`` (T,) is the curve of gamma_T, or of a bound on it; beta_T depends on it too.
    ``noise_var`` is s^2 > 0, where s bounds the absolute value of the noise.

    Source: srinivas2010, Theorem 3.
    """
    gains = curve(gain)
    beta = beta_rkhs(counts(len(gains)), gains, delta, norm_bound)
    return regret_bound(gains, beta, noise_var, variance)

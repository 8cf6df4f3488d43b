r"""The theory of batches of m actions: the cost of choosing before the other rewards are known.

.. math:: \rho_m = \max_{x, t, |A| \le m} \sigma_t(x) / \sigma_t(x \mid A)

A gain curve has one entry per number of observations 1, 2, ... (see `information`). The regret
curves are orders without the paper's constants: use them to compare shapes, not values.
"""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.theory.checks import counts, curve


def rho_bound(gain: ArrayLike, batch_size: int) -> Array:
    """A bound on rho_m after T_init observations of largest variance: exp(m gamma_T_init / T_init).

    The bound falls to 1 if the gain grows more slowly than the number of observations. It also
    holds with the gain of the design itself (`greedy_information_gain`), which is at most gamma.

    Returns:
        The curve (T,) for T_init = 1, 2, ...; infinite where it overflows.
    Source: ren2024, Appendix B; Desautels, Krause & Burdick (2014), Theorem 5.
    """
    gains = curve(gain)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(whole(batch_size, "batch_size") * gains / counts(len(gains))))


def regret_order_ts_rsr(gain: ArrayLike, batch_size: int, arms: int, rho: float = 1.0) -> Array:
    r"""Theorem 1: the order of the expected cumulative regret of TS-RSR.

    .. math:: \rho_m \sqrt{T m \gamma_{Tm}} \sqrt{\log(|X| (T m)^3)}

    The regret is summed over T rounds of m actions. The simple regret is at most this sum divided
    by T m (see `simple_regret_order`). ``rho`` is rho_m >= 1, or a bound on it.

    Returns:
        The curve (N // m,) for T = 1, 2, ..., from a gain of N >= m entries.
    Raises:
        InvalidInput: a number is out of range, or the gain curve is shorter than one batch.
    Source: ren2024, Theorem 1.
    """
    readings, gains = _in_rounds(gain, batch_size)
    if positive(rho, "rho") < 1.0:
        raise InvalidInput(f"rho must be at least 1, got {rho!r}")
    logs = np.log(whole(arms, "arms", 2)) + 3.0 * np.log(readings)
    return np.asarray(rho * np.sqrt(readings * gains * logs))


def regret_order_initialised(
    gain: ArrayLike, batch_size: int, arms: int, initial_rounds: int
) -> Array:
    r"""Corollary 1: the regret order of TS-RSR after initial observations of largest variance.

    .. math:: T_{\mathrm{init}} \sqrt{\log |X|} + \sqrt{T m \gamma_{Tm} \log |X|}

    Further factors of log(T m) are left out. ``initial_rounds`` is T_init >= 0, the number of
    initial observations as the paper counts them.

    Returns:
        The curve (N // m,) for T = 1, 2, ... rounds after the start, from a gain of N >= m entries.
    Raises:
        InvalidInput: a number is out of range, or the gain curve is shorter than one batch.
    Source: ren2024, Corollary 1.
    """
    readings, gains = _in_rounds(gain, batch_size)
    root = np.sqrt(np.log(whole(arms, "arms", 2)))
    start = whole(initial_rounds, "initial_rounds", 0) * root
    return np.asarray(start + np.sqrt(readings * gains) * root)


def simple_regret_order(regret: ArrayLike, batch_size: int) -> Array:
    """The order of the expected simple regret: the cumulative regret divided by T m.

    ``regret`` (T,) is the order of the cumulative regret after 1, 2, ... rounds.

    Source: ren2024, Theorem 1 (a minimum is at most the mean).
    """
    total = curve(regret, "regret")
    return total / (whole(batch_size, "batch_size") * counts(len(total)))


def _in_rounds(gain: ArrayLike, batch_size: int) -> tuple[Array, Array]:
    """T m, and gamma at T m, for T = 1, 2, ..."""
    gains, m = curve(gain), whole(batch_size, "batch_size")
    batches = len(gains) // m
    if not batches:
        raise InvalidInput(f"gain needs an entry for each of {m} observations, got {len(gains)}")
    return m * counts(batches), gains[m - 1 :: m]

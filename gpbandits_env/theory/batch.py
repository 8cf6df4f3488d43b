r"""The theory of batches of m actions: what deciding without the rewards of the others costs.

.. math:: \rho_m = \max_{x, t, |A| \le m} \sigma_t(x) / \sigma_t(x \mid A)

A gain curve has one entry for each number of readings 1, 2, ... (see `information`). The regret
curves are orders, without the paper's constants: compare shapes with them, not values.
"""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.theory.checks import counts, curve


def rho_bound(gain: ArrayLike, batch_size: int) -> Array:
    """A bound on rho_m after T_init readings of largest variance: exp(m gamma_T_init / T_init).

    It falls to 1 if the gain grows slower than the readings. It holds with the gain of the design
    itself (`greedy_information_gain`) in the place of gamma, which is never larger.

    Returns:
        The curve (T,), for T_init = 1, 2, ...; infinite where it is too large for a number.
    Source: ren2024, Appendix B; Desautels, Krause & Burdick (2014), Theorem 5.
    """
    gains = curve(gain)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(whole(batch_size, "batch_size") * gains / counts(len(gains))))


def regret_order_ts_rsr(gain: ArrayLike, batch_size: int, arms: int, rho: float = 1.0) -> Array:
    """Theorem 1: the order of the expected cumulative regret of TS-RSR after T rounds of m actions.

    rho_m sqrt(T m gamma_{Tm}) sqrt(log(|X| (T m)^3)), summed over all T m actions. The simple
    regret is at most the T m-th part: see `simple_regret_order`. ``rho`` is rho_m >= 1, or a bound
    on it.

    Returns:
        The curve (N // m,) for T = 1, 2, ..., from a gain of N >= m entries.
    Raises:
        InvalidInput: a number out of range, or a gain curve shorter than one batch.
    Source: ren2024, Theorem 1.
    """
    readings, gains = _in_rounds(gain, batch_size)
    if positive(rho, "rho") < 1.0:
        raise InvalidInput(f"rho is a ratio of at least 1, got {rho!r}")
    logs = np.log(whole(arms, "arms", 2)) + 3.0 * np.log(readings)
    return np.asarray(rho * np.sqrt(readings * gains * logs))


def regret_order_initialised(
    gain: ArrayLike, batch_size: int, arms: int, initial_rounds: int
) -> Array:
    """Corollary 1: TS-RSR after a start by largest variance, whose batches then hardly cost.

    T_init sqrt(log |X|) + sqrt(T m gamma_{Tm} log |X|), further factors of log(T m) left out.
    ``initial_rounds`` is T_init >= 0, as the paper counts the readings of the start.

    Returns:
        The curve (N // m,) for T = 1, 2, ... rounds after the start, from a gain of N >= m entries.
    Raises:
        InvalidInput: a number out of range, or a gain curve shorter than one batch.
    Source: ren2024, Corollary 1.
    """
    readings, gains = _in_rounds(gain, batch_size)
    root = np.sqrt(np.log(whole(arms, "arms", 2)))
    start = whole(initial_rounds, "initial_rounds", 0) * root
    return np.asarray(start + np.sqrt(readings * gains) * root)


def simple_regret_order(regret: ArrayLike, batch_size: int) -> Array:
    """The order of the expected simple regret: that of the cumulative one divided by T m.

    ``regret`` is (T,), that of the cumulative regret after 1, 2, ... rounds.

    Source: ren2024, Theorem 1 (the least of numbers is at most their mean).
    """
    total = curve(regret, "regret")
    return total / (whole(batch_size, "batch_size") * counts(len(total)))


def _in_rounds(gain: ArrayLike, batch_size: int) -> tuple[Array, Array]:
    """T m, and gamma at T m, for T = 1, 2, ..."""
    gains, m = curve(gain), whole(batch_size, "batch_size")
    batches = len(gains) // m
    if not batches:
        raise InvalidInput(f"gain must reach the {m} readings of one batch, got {len(gains)}")
    return m * counts(batches), gains[m - 1 :: m]

r"""The theory of MS-UCB: its confidence width, what its subspaces cover, and its regret's order.

The last d of D coordinates of [-1, 1]^D are searched, the others take the values of |Z_t| random
points, N_0 t^alpha new ones a round.

Source: tranthe2020.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from gpbandits_env.arrays import Array, IntArray, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.theory.betas import beta_continuous
from gpbandits_env.theory.checks import probability, rounds

SIDE = 2.0
"""The side of [-1, 1]^D."""


def beta_subspaces(
    t: ArrayLike, dim: int, subspace_dim: int, delta: float = 0.1, a: float = 1.0, b: float = 1.0
) -> Array:
    """2 log(pi^2 t^2 / delta) + 2 d log(2 b d sqrt(log(6 D a / delta)) t^2).

    For d = 0 it is 4 log(pi^2 t^2 / (2 delta)). d = D is GP-UCB: `beta_continuous` on a side of 2.
    As there, the second logarithm counts cells per axis and is at least 0.

    Source: tranthe2020, Section 4 (Theorem 1 and, for d = 0, the remark after it).
    """
    whole_dim, d = _dims(dim, subspace_dim)
    if d == whole_dim:
        return beta_continuous(t, d, delta, a, b, SIDE)
    times, log_tail = rounds(t), _log_tail(6.0 * whole_dim * positive(a, "a"), delta)
    if d == 0:
        return np.asarray(4.0 * np.log(np.pi**2 * times**2 / (2.0 * delta)))
    cells = 2.0 * positive(b, "b") * d * np.sqrt(log_tail) * times**2
    first = 2.0 * np.log(np.pi**2 * times**2 / delta)
    return np.asarray(first + 2.0 * d * np.log(np.maximum(cells, 1.0)))


def new_subspaces(t: ArrayLike, n0: int, alpha: float) -> IntArray:
    """N_t = N_0 t^alpha, the number drawn at round t; rounded up where it is not whole.

    ``n0`` is N_0 >= 1.

    Source: tranthe2020, Algorithm 1, line 3.
    """
    exact = whole(n0, "n0") * rounds(t) ** positive(alpha, "alpha", zero=True)
    # Powers of whole numbers may come out a rounding above a whole number.
    return np.ceil(exact * (1.0 - 1e-12)).astype(np.int64)


def subspaces_by(t: int, n0: int, alpha: float) -> IntArray:
    """|Z_1|, ..., |Z_t|: how many subspaces there are in each round, (t,).

    Source: tranthe2020, Algorithm 1.
    """
    return np.cumsum(new_subspaces(np.arange(1, whole(t, "t") + 1), n0, alpha))


def covering_term(
    subspaces: ArrayLike,
    dim: int,
    subspace_dim: int,
    delta: float = 0.1,
    a: float = 1.0,
    b: float = 1.0,
) -> Array:
    r"""What looking in |Z_t| subspaces only may lose: v_0 (log(2/delta) / |Z_t|)^{1/(D-d)}.

    v_0 = 2 b sqrt(log(2 D a / delta)) Gamma(D - d + 1)^{1/(D-d)}. For d = D it is 0. ``subspaces``
    is |Z_t|, at least 1; a number or one per round (`subspaces_by`).

    Returns:
        In units of f, of the shape of ``subspaces``.
    Source: tranthe2020, Lemma 4.
    """
    whole_dim, d = _dims(dim, subspace_dim)
    count = np.asarray(subspaces, dtype=np.float64)
    if not (count >= 1.0).all():
        raise InvalidInput(f"there is at least one subspace, got {subspaces!r}")
    log_tail = _log_tail(2.0 * whole_dim * positive(a, "a"), delta)
    rest = whole_dim - d
    if rest == 0:
        return np.zeros_like(count)
    # In logarithms: Gamma(5001) overflows, its 5000th root is 1840.
    exponent = (gammaln(rest + 1.0) + np.log(np.log(2.0 / delta)) - np.log(count)) / rest
    return np.asarray(2.0 * positive(b, "b") * np.sqrt(log_tail) * np.exp(exponent))


def regret_order_subspaces(
    horizon: ArrayLike, gain: ArrayLike, dim: int, subspace_dim: int, alpha: float
) -> Array:
    r"""The order of MS-UCB's cumulative regret, up to constants and logarithms.

    sqrt(d T gamma_T) + D, and, if alpha < D - d - 1, also (D^2 - D d) / (D - d - alpha - 1) T^{1 -
    (alpha + 1) / (D - d)}. For the best of sampled points, d = 0, the first term is sqrt(T
    gamma_T). ``dim`` is D; for Theorem 2 the effective dimension d_e instead.

    Source: tranthe2020, Theorems 1 and 2.
    """
    whole_dim, d = _dims(dim, subspace_dim)
    times, gamma = rounds(horizon), np.asarray(gain, dtype=np.float64)
    growth = positive(alpha, "alpha", zero=True)
    order = np.sqrt(max(d, 1) * times * gamma) + whole_dim
    rest = whole_dim - d
    if growth < rest - 1:
        factor = whole_dim * rest / (rest - growth - 1.0)
        order = order + factor * times ** (1.0 - (growth + 1.0) / rest)
    return np.asarray(order)


def _dims(dim: int, subspace_dim: int) -> tuple[int, int]:
    whole_dim, d = whole(dim, "dim"), whole(subspace_dim, "subspace_dim", 0)
    if d > whole_dim:
        raise InvalidInput(f"a subspace of {dim} dimensions has at most as many, got {d}")
    return whole_dim, d


def _log_tail(factor: float, delta: float) -> float:
    if factor <= probability(delta):
        raise InvalidInput(f"a is too small for delta = {delta!r}: the bound needs a logarithm > 0")
    return float(np.log(factor / delta))

r"""The theory of MS-UCB: confidence width, covering error, order and bound of the regret.

MS-UCB searches the last d of the D coordinates of [-1, 1]^D. The other coordinates take the values
of |Z_t| random points, and each round adds N_0 t^alpha new points.

Source: tranthe2020.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from gpbandits_env.arrays import MOST, Array, IntArray, finite_array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.theory.arguments import curve, log_tail, nonnegative, probability, rounds
from gpbandits_env.gp.theory.regret_bounds import beta_continuous, regret_bound

SIDE = 2.0
"""The side of [-1, 1]^D."""


def beta_subspaces(
    t: ArrayLike, dim: int, subspace_dim: int, delta: float = 0.1, a: float = 1.0, b: float = 1.0
) -> Array:
    r"""The confidence width of MS-UCB.

    .. math:: \beta_t = 2 \log(\pi^2 t^2 / \delta)
        + 2 d \log\left(2 b d \sqrt{\log(6 D a / \delta)}\, t^2\right)

    For d = 0 it is 4 log(pi^2 t^2 / (2 delta)). The case d = D is GP-UCB: `beta_continuous` with
    side 2. As there, the second logarithm is at least 0.

    Source: tranthe2020, Convergence Analysis (Theorem 1 and, for d = 0, the remark after it).
    """
    whole_dim, d = _dims(dim, subspace_dim)
    if d == whole_dim:
        return beta_continuous(t, d, delta, a, b, SIDE)
    times, tail = rounds(t), log_tail(6.0 * whole_dim * positive(a, "a") / probability(delta), a)
    if d == 0:
        return np.asarray(4.0 * np.log(np.pi**2 * times**2 / (2.0 * delta)))
    cells = 2.0 * positive(b, "b") * d * np.sqrt(tail) * times**2
    first = 2.0 * np.log(np.pi**2 * times**2 / delta)
    return np.asarray(first + 2.0 * d * np.log(np.maximum(cells, 1.0)))


def new_subspaces(t: ArrayLike, n0: int, alpha: float) -> IntArray:
    """N_t = N_0 t^alpha, the number of points drawn in round t, rounded up to an integer.

    ``n0`` is N_0 >= 1.

    Source: tranthe2020, Algorithm 1, line 4.
    """
    exact = whole(n0, "n0") * rounds(t) ** positive(alpha, "alpha", zero=True)
    # Rounding may put the power of an integer slightly above an integer.
    return _counted(np.ceil(exact * (1.0 - 1e-12)))


def subspaces_by(t: int, n0: int, alpha: float) -> IntArray:
    """|Z_1|, ..., |Z_t|: the number of subspaces in each round, (t,).

    Source: tranthe2020, Algorithm 1.
    """
    new = new_subspaces(np.arange(1, whole(t, "t") + 1), n0, alpha)
    return _counted(np.cumsum(new, dtype=np.float64))


def _counted(count: Array) -> IntArray:
    """Numbers of subspaces as integers, which are exact up to `MOST`."""
    if (most := float(np.max(count, initial=0.0))) > MOST:
        raise InvalidInput(f"there would be {most:.2g} subspaces, above {MOST:g}: lower alpha")
    return count.astype(np.int64)


def covering_term(
    subspaces: ArrayLike,
    dim: int,
    subspace_dim: int,
    delta: float = 0.1,
    a: float = 1.0,
    b: float = 1.0,
    *,
    effective_dim: int | None = None,
) -> Array:
    r"""The regret that searching only |Z_t| subspaces may add in one round.

    .. math:: v_0 \left(\frac{\log(2/\delta)}{|Z_t|}\right)^{1/n}, \quad
        v_0 = 2 b \sqrt{\log(2 D a / \delta)}\, \Gamma(n + 1)^{1/n}, \quad n = D - d

    For d = D it is 0. ``subspaces`` is |Z_t|, at least 1; a number or one per round
    (`subspaces_by`). With an ``effective_dim`` d_e, the function depends on d_e directions only,
    and n = d_e (Theorem 2, with the factor 2 of the lemma).

    The proof of the lemma does not hold where the maximizer lies in a corner: with |Z_t| = 200 and
    delta = 0.1 no subspace is as close as it says with a probability of 0.18, 0.92 and 1 for
    D - d = 15, 45 and 95, where it allows 0.05.

    Returns:
        The regret in units of f, in the shape of ``subspaces``.
    Source: tranthe2020, Lemma 4; Theorem 2, eq. (28) of the supplement.
    """
    whole_dim, d = _dims(dim, subspace_dim)
    count = finite_array(subspaces, "subspaces")
    if not (count >= 1.0).all():
        raise InvalidInput(f"subspaces must be at least 1, got {subspaces!r}")
    tail = log_tail(2.0 * whole_dim * positive(a, "a") / probability(delta), a)
    n = _covered(whole_dim, d, effective_dim)
    return 2.0 * positive(b, "b") * np.sqrt(tail) * _radius(2.0 / delta, count, n)


def regret_order_subspaces(
    horizon: ArrayLike,
    gain: ArrayLike,
    dim: int,
    subspace_dim: int,
    alpha: float,
    *,
    effective_dim: int | None = None,
) -> Array:
    r"""The order of the cumulative regret of MS-UCB, up to constants and logarithms.

    .. math:: \sqrt{d T \gamma_T} + \begin{cases} D & \alpha \ge n - 1 \\
        \frac{D n}{n - \alpha - 1} T^{1 - (\alpha + 1) / n} & \alpha < n - 1 \end{cases},
        \quad n = D - d

    For d = 0 the agent takes the best of the sampled points, and the first term is
    sqrt(T gamma_T). With an ``effective_dim`` d_e, the function depends on d_e directions only, and
    d_e takes the place of n and of D outside the root.

    Source: tranthe2020, Theorems 1 and 2.
    """
    whole_dim, d = _dims(dim, subspace_dim)
    times, gamma = rounds(horizon), nonnegative(gain, "gain")
    growth = positive(alpha, "alpha", zero=True)
    n = _covered(whole_dim, d, effective_dim)
    factor = whole_dim if effective_dim is None else n
    order = np.sqrt(max(d, 1) * times * gamma)
    if growth >= n - 1:
        return np.asarray(order + factor)
    power = 1.0 - (growth + 1.0) / n
    return np.asarray(order + factor * n / (n - growth - 1.0) * times**power)


def regret_bound_subspaces(
    gain: ArrayLike,
    dim: int,
    subspace_dim: int,
    noise_var: float,
    *,
    n0: int = 1,
    alpha: float = 0.0,
    delta: float = 0.1,
    tail: tuple[float, float] = (1.0, 1.0),
    effective_dim: int | None = None,
    as_printed: bool = False,
) -> Array:
    r"""The bound on the cumulative regret of MS-UCB, (T,), for ``gain`` (T,).

    .. math:: R_T \le \sqrt{C_1 T \beta_T \gamma_T} + \frac{\pi^2}{6}
        + 2 v_0 \left(\frac{\log(6/\delta)}{N_0}\right)^{1/n}
        \begin{cases} 1 & \alpha \ge 2n \\ 1 + \log T & n - 1 \le \alpha < 2n \\
        \frac{n}{n - \alpha - 1} T^{1 - (\alpha + 1)/n} & \alpha < n - 1 \end{cases}

    Here v_0 = 2 b sqrt(log(6 D a / delta)) (n!)^(1/n), n = D - d, or d_e as in `covering_term`, and
    ``tail`` has the constants a and b of Assumption 1.
    As printed, v_0 has the factor b, log(2 D a / delta) and (n + 1)!, and C1 = 8 / log(1 + s^2).
    The bound rests on Lemma 4; see `covering_term`. For d = D it has no last term.

    Source: tranthe2020, supplement, Proposition 4, with Theorem 2 for d_e.
    """
    (whole_dim, d), (a, b) = _dims(dim, subspace_dim), tail
    (times, gains), growth = curve(gain), positive(alpha, "alpha", zero=True)
    first = np.array(float(whole(n0, "n0")))
    bound = regret_bound(gains, beta_subspaces(times, dim, d, delta, a, b), noise_var)
    if as_printed:
        bound = bound * np.sqrt(np.log1p(1.0 / noise_var) / np.log1p(noise_var))
    bound = bound + np.pi**2 / 6.0
    n = _covered(whole_dim, d, effective_dim)
    if n == 0:
        return np.asarray(bound)
    words, logs = (1.0, 2.0) if as_printed else (2.0, 6.0)
    size = log_tail(logs * whole_dim * positive(a, "a") / probability(delta), a)
    v0 = words * positive(b, "b") * np.sqrt(size) * _radius(6.0 / delta, first, n)
    if as_printed:
        v0 = v0 * (n + 1.0) ** (1.0 / n)
    growing = np.ones_like(times)
    if n - 1 <= growth < 2 * n:
        growing = 1.0 + np.log(times)
    elif growth < n - 1:
        growing = n / (n - growth - 1.0) * times ** (1.0 - (growth + 1.0) / n)
    return np.asarray(bound + 2.0 * v0 * growing)


def _radius(odds: float, count: Array, n: int) -> Array:
    """(n! log(odds) / count)^(1/n); 0 for n = 0."""
    if n == 0:
        return np.zeros_like(count)
    # Computed in logarithms: Gamma(5001) overflows, although its 5000th root is 1840.
    return np.exp((gammaln(n + 1.0) + np.log(np.log(odds)) - np.log(count)) / n)


def _covered(whole_dim: int, d: int, effective_dim: int | None) -> int:
    """The number of dimensions that subspaces must cover: D - d, or d_e if it is given."""
    if effective_dim is None:
        return whole_dim - d
    covered = whole(effective_dim, "effective_dim")
    if covered > whole_dim:
        raise InvalidInput(f"effective_dim must be at most dim = {whole_dim}, got {covered}")
    return covered


def _dims(dim: int, subspace_dim: int) -> tuple[int, int]:
    whole_dim, d = whole(dim, "dim"), whole(subspace_dim, "subspace_dim", 0)
    if d > whole_dim:
        raise InvalidInput(f"subspace_dim must be at most dim = {dim}, got {d}")
    return whole_dim, d

r"""The theory of MS-UCB: confidence width, covering error of the subspaces, and regret order.

MS-UCB searches the last d of the D coordinates of [-1, 1]^D. The other coordinates take the values
of |Z_t| random points, and each round adds N_0 t^alpha new points.

Source: tranthe2020.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from gpbandits_env.arrays import Array, IntArray, finite_array, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.theory.arguments import log_tail, nonnegative, probability, rounds
from gpbandits_env.gp.theory.regret_bounds import beta_continuous

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

    Source: tranthe2020, Section 4 (Theorem 1 and, for d = 0, the remark after it).
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

    Source: tranthe2020, Algorithm 1, line 3.
    """
    exact = whole(n0, "n0") * rounds(t) ** positive(alpha, "alpha", zero=True)
    # Rounding may put the power of an integer slightly above an integer.
    return np.ceil(exact * (1.0 - 1e-12)).astype(np.int64)


def subspaces_by(t: int, n0: int, alpha: float) -> IntArray:
    """|Z_1|, ..., |Z_t|: the number of subspaces in each round, (t,).

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
    r"""The regret that searching only |Z_t| subspaces may add in one round.

    .. math:: v_0 \left(\frac{\log(2/\delta)}{|Z_t|}\right)^{1/(D-d)}, \quad
        v_0 = 2 b \sqrt{\log(2 D a / \delta)}\, \Gamma(D - d + 1)^{1/(D-d)}

    For d = D it is 0. ``subspaces`` is |Z_t|, at least 1; a number or one per round
    (`subspaces_by`).

    Returns:
        The regret in units of f, in the shape of ``subspaces``.
    Source: tranthe2020, Lemma 4.
    """
    whole_dim, d = _dims(dim, subspace_dim)
    count = finite_array(subspaces, "subspaces")
    if not (count >= 1.0).all():
        raise InvalidInput(f"subspaces must be at least 1, got {subspaces!r}")
    tail = log_tail(2.0 * whole_dim * positive(a, "a") / probability(delta), a)
    rest = whole_dim - d
    if rest == 0:
        return np.zeros_like(count)
    # Computed in logarithms: Gamma(5001) overflows, although its 5000th root is 1840.
    exponent = (gammaln(rest + 1.0) + np.log(np.log(2.0 / delta)) - np.log(count)) / rest
    return np.asarray(2.0 * positive(b, "b") * np.sqrt(tail) * np.exp(exponent))


def regret_order_subspaces(
    horizon: ArrayLike, gain: ArrayLike, dim: int, subspace_dim: int, alpha: float
) -> Array:
    r"""The order of the cumulative regret of MS-UCB, up to constants and logarithms.

    .. math:: \sqrt{d T \gamma_T} + D
        + \frac{D^2 - D d}{D - d - \alpha - 1} T^{1 - (\alpha + 1) / (D - d)}

    The last term applies only if alpha < D - d - 1. For d = 0 the agent takes the best of the
    sampled points, and the first term is sqrt(T gamma_T). ``dim`` is D, or for Theorem 2 the
    effective dimension d_e.

    Source: tranthe2020, Theorems 1 and 2.
    """
    whole_dim, d = _dims(dim, subspace_dim)
    times, gamma = rounds(horizon), nonnegative(gain, "gain")
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
        raise InvalidInput(f"subspace_dim must be at most dim = {dim}, got {d}")
    return whole_dim, d

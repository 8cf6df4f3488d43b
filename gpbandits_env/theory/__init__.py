"""The theory of GP bandits as numbers: confidence widths, information gain, regret bounds.

Every function raises `InvalidInput` for a number out of range. An argument has one meaning in all
of them; a docstring says more where there is more to say.

    t, horizon      rounds t and horizons T, at least 1; a number or an array, unless typed as int
    arms            the arms, or their number |D|
    dim             the number of coordinates: d, D for MS-UCB, p in bedi2022; subspace_dim: d <= D
    batch_size      m >= 1
    kernel          the prior covariance in space; variance: v >= k(x, x) for all x
    noise_var       s^2 > 0
    epsilon         the drift, in [0, 1]; in `compression` the budget in nats, at least 0
    delta           in (0, 1): the bound fails with at most this probability
    gain            gamma_T in nats, or a bound on it; or the curve (T,) of gamma_1, gamma_2, ...
    beta            beta_T, which multiplies the variance
    a, b, r         P(sup |df/dx_j| > L) <= a exp(-(L/b)^2), b in units of f per unit of x; r is the
                    longest side of the domain
    block           the length N >= 1 of a block; block_gain: gamma_N, or a bound on it
    eigenvalues     (n,) the spectrum of K_D over all arms, in any order
    norm_bound      B, a bound on the squared RKHS norm of f
    as_printed      the formula as the paper prints it, where that has an error
"""

from gpbandits_env.theory.batch import (
    regret_order_initialised,
    regret_order_ts_rsr,
    rho_bound,
    simple_regret_order,
)
from gpbandits_env.theory.betas import beta_continuous, beta_finite, beta_rkhs
from gpbandits_env.theory.compression import (
    bkb_qbar,
    compression_budget,
    compression_orders,
    compression_threshold,
    model_order_bound,
    model_order_bound_by_gain,
    regret_bound_compressed,
    regret_bound_compressed_ei,
    regret_bound_compressed_finite,
)
from gpbandits_env.theory.information import (
    gain_order_linear,
    gain_order_matern,
    gain_order_se,
    greedy_design,
    greedy_information_gain,
    information_gain,
    information_gain_bound,
    running_information_gain,
    spectral_bound,
    theorem4_bound,
)
from gpbandits_env.theory.regret_bounds import (
    regret_bound,
    regret_bound_theorem1,
    regret_bound_theorem2,
    regret_bound_theorem3,
    regret_constant,
)
from gpbandits_env.theory.subspaces import (
    beta_subspaces,
    covering_term,
    new_subspaces,
    regret_order_subspaces,
    subspaces_by,
)
from gpbandits_env.theory.time_varying import resetting_regret_order, time_varying_regret_order

__all__ = [
    "beta_continuous",
    "beta_finite",
    "beta_rkhs",
    "beta_subspaces",
    "bkb_qbar",
    "compression_budget",
    "compression_orders",
    "compression_threshold",
    "covering_term",
    "gain_order_linear",
    "gain_order_matern",
    "gain_order_se",
    "greedy_design",
    "greedy_information_gain",
    "information_gain",
    "information_gain_bound",
    "model_order_bound",
    "model_order_bound_by_gain",
    "new_subspaces",
    "regret_bound",
    "regret_bound_compressed",
    "regret_bound_compressed_ei",
    "regret_bound_compressed_finite",
    "regret_bound_theorem1",
    "regret_bound_theorem2",
    "regret_bound_theorem3",
    "regret_constant",
    "regret_order_initialised",
    "regret_order_subspaces",
    "regret_order_ts_rsr",
    "resetting_regret_order",
    "rho_bound",
    "running_information_gain",
    "simple_regret_order",
    "spectral_bound",
    "subspaces_by",
    "theorem4_bound",
    "time_varying_regret_order",
]

"""The theory of GP bandits as numbers: confidence widths, information gain, regret bounds.

Every function raises `InvalidInput` for a number out of range. Each argument has the same meaning
in all functions; docstrings add details where needed.

    t, horizon      rounds t and horizons T, at least 1; a number or an array, unless typed as int
    arms            the arms, or their number |D|
    dim             the number of coordinates: d, D for MS-UCB; subspace_dim: d <= D
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

from gpbandits_env.gp.theory.compression import bkb_qbar as bkb_qbar
from gpbandits_env.gp.theory.compression import compression_budget as compression_budget
from gpbandits_env.gp.theory.compression import compression_threshold as compression_threshold
from gpbandits_env.gp.theory.compression import (
    model_order_bound_by_gain as model_order_bound_by_gain,
)
from gpbandits_env.gp.theory.compression import regret_bound_compressed as regret_bound_compressed
from gpbandits_env.gp.theory.compression import (
    regret_bound_compressed_ei as regret_bound_compressed_ei,
)
from gpbandits_env.gp.theory.compression import (
    regret_bound_compressed_finite as regret_bound_compressed_finite,
)
from gpbandits_env.gp.theory.information import gain_order_linear as gain_order_linear
from gpbandits_env.gp.theory.information import gain_order_matern as gain_order_matern
from gpbandits_env.gp.theory.information import gain_order_se as gain_order_se
from gpbandits_env.gp.theory.information import greedy_design as greedy_design
from gpbandits_env.gp.theory.information import information_gain as information_gain
from gpbandits_env.gp.theory.information import information_gain_bound as information_gain_bound
from gpbandits_env.gp.theory.information import running_information_gain as running_information_gain
from gpbandits_env.gp.theory.information import spectral_bound as spectral_bound
from gpbandits_env.gp.theory.information import theorem4_bound as theorem4_bound
from gpbandits_env.gp.theory.regret_bounds import beta_continuous as beta_continuous
from gpbandits_env.gp.theory.regret_bounds import beta_finite as beta_finite
from gpbandits_env.gp.theory.regret_bounds import beta_rkhs as beta_rkhs
from gpbandits_env.gp.theory.regret_bounds import regret_bound as regret_bound
from gpbandits_env.gp.theory.regret_bounds import regret_bound_theorem1 as regret_bound_theorem1
from gpbandits_env.gp.theory.regret_bounds import regret_bound_theorem2 as regret_bound_theorem2
from gpbandits_env.gp.theory.regret_bounds import regret_bound_theorem3 as regret_bound_theorem3
from gpbandits_env.gp.theory.regret_bounds import regret_bound_ts_rsr as regret_bound_ts_rsr
from gpbandits_env.gp.theory.regret_bounds import regret_constant as regret_constant
from gpbandits_env.gp.theory.regret_bounds import rho_bound as rho_bound
from gpbandits_env.gp.theory.subspaces import beta_subspaces as beta_subspaces
from gpbandits_env.gp.theory.subspaces import covering_term as covering_term
from gpbandits_env.gp.theory.subspaces import new_subspaces as new_subspaces
from gpbandits_env.gp.theory.subspaces import regret_bound_subspaces as regret_bound_subspaces
from gpbandits_env.gp.theory.subspaces import regret_order_subspaces as regret_order_subspaces
from gpbandits_env.gp.theory.subspaces import subspaces_by as subspaces_by
from gpbandits_env.gp.theory.time_varying import least_regret as least_regret

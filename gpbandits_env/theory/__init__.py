"""The theory of GP bandits as numbers: confidence widths, information gain, regret bounds."""

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

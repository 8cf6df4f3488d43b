"""Learning hyper-parameters from data: epsilon, the noise and the kernel's own."""

from gpbandits_env.learning.data import Observations, Panel
from gpbandits_env.learning.fit import Fit, epsilon_interval, fit, fit_panels
from gpbandits_env.learning.likelihood import (
    Likelihood,
    PanelLikelihood,
    log_marginal_likelihood,
    time_decay,
)

__all__ = [
    "Fit",
    "Likelihood",
    "Observations",
    "Panel",
    "PanelLikelihood",
    "epsilon_interval",
    "fit",
    "fit_panels",
    "log_marginal_likelihood",
    "time_decay",
]

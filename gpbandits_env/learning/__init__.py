"""Learning hyper-parameters from data: epsilon, the noise and the kernel's own."""

from gpbandits_env.learning.data import Observations, Panel
from gpbandits_env.learning.diagnose import Diagnosis, ModelScore, diagnose
from gpbandits_env.learning.fit import Fit, epsilon_interval, fit, fit_panels
from gpbandits_env.learning.likelihood import (
    Likelihood,
    PanelLikelihood,
    log_marginal_likelihood,
    time_decay,
)

__all__ = [
    "Diagnosis",
    "Fit",
    "Likelihood",
    "ModelScore",
    "Observations",
    "Panel",
    "PanelLikelihood",
    "diagnose",
    "epsilon_interval",
    "fit",
    "fit_panels",
    "log_marginal_likelihood",
    "time_decay",
]

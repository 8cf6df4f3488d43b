"""Learning hyper-parameters from data: epsilon, the noise and the kernel's own."""

from gpbandits_env.learning.data import Observations, Panel
from gpbandits_env.learning.diagnose import Diagnosis, ModelScore, diagnose
from gpbandits_env.learning.fit import Fit, epsilon_interval, fit, fit_panels
from gpbandits_env.learning.hyper import Learned, learn
from gpbandits_env.learning.likelihood import (
    Likelihood,
    PanelLikelihood,
    log_marginal_likelihood,
    time_decay,
)
from gpbandits_env.learning.priors import HyperPriors
from gpbandits_env.learning.scaling import InputScaling, OutputScaling

__all__ = [
    "Diagnosis",
    "Fit",
    "HyperPriors",
    "InputScaling",
    "Learned",
    "Likelihood",
    "ModelScore",
    "Observations",
    "OutputScaling",
    "Panel",
    "PanelLikelihood",
    "diagnose",
    "epsilon_interval",
    "fit",
    "fit_panels",
    "learn",
    "log_marginal_likelihood",
    "time_decay",
]

"""Learning a model from data: the kernel's hyper-parameters, the noise, the mean and epsilon."""

from gpbandits_env.learning.data import Observations, Series
from gpbandits_env.learning.diagnose import Diagnosis, ModelScore, diagnose
from gpbandits_env.learning.fit import Fitted, epsilon_interval, fit, learnable
from gpbandits_env.learning.likelihood import log_marginal_likelihood
from gpbandits_env.learning.priors import HyperPriors
from gpbandits_env.learning.scaling import InputScaling, OutputScaling

__all__ = [
    "Diagnosis",
    "Fitted",
    "HyperPriors",
    "InputScaling",
    "ModelScore",
    "Observations",
    "OutputScaling",
    "Series",
    "diagnose",
    "epsilon_interval",
    "fit",
    "learnable",
    "log_marginal_likelihood",
]

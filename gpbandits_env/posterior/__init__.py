"""What a learner believes after its data: mean, variance and joint draws on a set of arms."""

from gpbandits_env.posterior.base import ArmPosterior
from gpbandits_env.posterior.choose import posterior_on
from gpbandits_env.posterior.nystrom import NystromPosterior

__all__ = ["ArmPosterior", "NystromPosterior", "posterior_on"]

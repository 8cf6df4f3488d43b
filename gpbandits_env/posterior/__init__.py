"""Gaussian-process posteriors given observations, and draws from them."""

from gpbandits_env.posterior.arms import ArmPosterior
from gpbandits_env.posterior.base import Posterior
from gpbandits_env.posterior.box import BoxPosterior
from gpbandits_env.posterior.choose import posterior_for, posterior_kind, posterior_on
from gpbandits_env.posterior.mixture import MixturePosterior, Part
from gpbandits_env.posterior.nystrom import NystromPosterior
from gpbandits_env.posterior.paths import Paths
from gpbandits_env.posterior.subspaces import Subspaces

__all__ = [
    "ArmPosterior",
    "BoxPosterior",
    "MixturePosterior",
    "NystromPosterior",
    "Part",
    "Paths",
    "Posterior",
    "Subspaces",
    "posterior_for",
    "posterior_kind",
    "posterior_on",
]

"""Gaussian-process posteriors given observations, and draws from them."""

from gpbandits_env.gp.posterior.arms import ArmPosterior as ArmPosterior
from gpbandits_env.gp.posterior.box import BoxPosterior as BoxPosterior
from gpbandits_env.gp.posterior.choose import posterior_for as posterior_for
from gpbandits_env.gp.posterior.choose import posterior_kind as posterior_kind
from gpbandits_env.gp.posterior.mixture import DriftHypothesis as DriftHypothesis
from gpbandits_env.gp.posterior.mixture import MixturePosterior as MixturePosterior
from gpbandits_env.gp.posterior.nystrom import NystromPosterior as NystromPosterior
from gpbandits_env.gp.posterior.paths import Paths as Paths
from gpbandits_env.gp.posterior.posterior import Posterior as Posterior
from gpbandits_env.gp.posterior.subspaces import Subspaces as Subspaces

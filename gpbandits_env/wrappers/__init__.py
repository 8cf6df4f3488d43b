"""Wrappers for RL libraries: a scaled round, options for every reset, and mixtures."""

from gpbandits_env.wrappers.mixture import Mixture as Mixture
from gpbandits_env.wrappers.observations import ScaledRound as ScaledRound
from gpbandits_env.wrappers.options import ResetOptions as ResetOptions

"""Wrappers for RL libraries: scalar actions, a scaled round, options, mixtures."""

from gpbandits_env.wrappers.forms import DiscreteAction as DiscreteAction
from gpbandits_env.wrappers.forms import ScaledRound as ScaledRound
from gpbandits_env.wrappers.mixture import Mixture as Mixture
from gpbandits_env.wrappers.options import ResetOptions as ResetOptions

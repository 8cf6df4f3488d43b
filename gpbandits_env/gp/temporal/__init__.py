"""Kernels in time: the covariance of a drifting function between two rounds."""

from gpbandits_env.gp.temporal.kinds import MarkovTime as MarkovTime
from gpbandits_env.gp.temporal.kinds import Matern32Time as Matern32Time
from gpbandits_env.gp.temporal.kinds import Matern52Time as Matern52Time
from gpbandits_env.gp.temporal.kinds import PeriodicTime as PeriodicTime
from gpbandits_env.gp.temporal.kinds import QuasiPeriodicTime as QuasiPeriodicTime
from gpbandits_env.gp.temporal.kinds import StaticTime as StaticTime
from gpbandits_env.gp.temporal.kinds import TemporalProduct as TemporalProduct
from gpbandits_env.gp.temporal.kinds import TemporalSum as TemporalSum
from gpbandits_env.gp.temporal.kinds import TermsInTime as TermsInTime
from gpbandits_env.gp.temporal.kinds import WienerTime as WienerTime
from gpbandits_env.gp.temporal.temporal_kernel import TEMPORAL as TEMPORAL
from gpbandits_env.gp.temporal.temporal_kernel import TemporalKernel as TemporalKernel
from gpbandits_env.gp.temporal.temporal_kernel import decay as decay
from gpbandits_env.gp.temporal.temporal_kernel import epsilon_per as epsilon_per
from gpbandits_env.gp.temporal.temporal_kernel import log_decay as log_decay
from gpbandits_env.gp.temporal.temporal_kernel import temporal_from_dict as temporal_from_dict

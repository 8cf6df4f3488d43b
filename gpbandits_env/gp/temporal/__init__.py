"""Kernels in time: the covariance of a drifting function between two rounds.

Each has its formula, and the same law as a linear state-space model. The covariance of a drifting
function is that in space times that in time,

    Cov(f_t(x), f_s(z)) = k(x, z) T(t, s),

where t and s are times in rounds, and round 1 is at time 0. With `TermsInTime` it is a sum of such
products, one for each term of the kernel in space.
"""

from gpbandits_env.gp.temporal.compose import TemporalProduct as TemporalProduct
from gpbandits_env.gp.temporal.compose import TemporalSum as TemporalSum
from gpbandits_env.gp.temporal.compose import TermsInTime as TermsInTime
from gpbandits_env.gp.temporal.kernel import TEMPORAL as TEMPORAL
from gpbandits_env.gp.temporal.kernel import TemporalKernel as TemporalKernel
from gpbandits_env.gp.temporal.kernel import decay as decay
from gpbandits_env.gp.temporal.kernel import epsilon_per as epsilon_per
from gpbandits_env.gp.temporal.kernel import log_decay as log_decay
from gpbandits_env.gp.temporal.kernel import temporal_from_dict as temporal_from_dict
from gpbandits_env.gp.temporal.kinds import MarkovTime as MarkovTime
from gpbandits_env.gp.temporal.kinds import Matern32Time as Matern32Time
from gpbandits_env.gp.temporal.kinds import Matern52Time as Matern52Time
from gpbandits_env.gp.temporal.kinds import PeriodicTime as PeriodicTime
from gpbandits_env.gp.temporal.kinds import QuasiPeriodicTime as QuasiPeriodicTime
from gpbandits_env.gp.temporal.kinds import StaticTime as StaticTime
from gpbandits_env.gp.temporal.kinds import WienerTime as WienerTime
from gpbandits_env.gp.temporal.laws import check_in_time as check_in_time

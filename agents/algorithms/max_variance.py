"""Maximum variance: pure exploration, greedy experimental design.

Paper: srinivas2010, eq. (4).
Assumes: nothing beyond the model; rewards have no effect.
Departures: those of `GPAgent`. With the largest posterior mean as the recommendation it is MVR
(Vakili, Bouziani, Jalali, Bernacchia and Shiu 2021).
"""

from gpbandits_env.agents.acquisitions import Variance
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class MaxVariance(GPAgent):
    r"""The action with the largest posterior variance: greedy experimental design.

    .. math:: x_t = \arg\max_x \sigma_{t-1}(x)
    """

    PARTS = Parts(acquisition=Variance())

"""Maximum mean: pure exploitation.

Paper: srinivas2010, Section 6 ("naive methods which choose points of maximum mean or variance
only").
Assumes: nothing beyond the model.
Departures: those of `GPAgent`. With a constant prior mean, all arms tie in the first round and the
agent chooses arm 0.
"""

from gpbandits_env.agents.acquisitions import Mean
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class MaxMean(GPAgent):
    r"""The action with the largest posterior mean; a batch repeats it m times.

    .. math:: x_t = \arg\max_x \mu_{t-1}(x)
    """

    PARTS = Parts(acquisition=Mean())

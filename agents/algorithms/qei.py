"""qEI by the kriging believer.

Paper: Ginsbourger, Le Riche & Carraro (2008), as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. it is the sequential heuristic, not the joint q-point improvement; 2. those of `EI`.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import POSTERIOR_EI
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class QEI(GPAgent):
    r"""EI for one action after the other, with posterior means in place of the pending rewards.

    .. math:: x_{t,i} = \arg\max_x EI(x \mid y_{t,j} = \mu(x_{t,j}), \, j < i)

    Args:
        incumbent: see `EI`.
        margin: see `EI`.
        augmented: see `EI`.
        batch: a batch rule.
    """

    PARTS = Parts(acquisition=partial(POSTERIOR_EI, augmented=False), batch="believer")

"""UCBPE (GP-UCB-PE).

Paper: Contal, Buffoni, Robicquet & Vayatis (2013), Algorithm 1, as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. beta_t is that of GP-UCB over 5; 2. those of `GPAgent`. Many public implementations
omit the relevant region; batch={"type": "explore", "region": false} does so here.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import THEOREM_OVER_5
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class UCBPE(GPAgent):
    r"""The first action by UCB, the others by largest variance in the relevant region.

    .. math::
        x_{t,1} = \arg\max_x \mu(x) + \sqrt{\beta_t} \, \sigma(x), \quad
        x_{t,i} = \arg\max_{x \in R_t} \sigma(x \mid x_{t,1}, \ldots, x_{t,i-1})

    The relevant region R_t is the set of points where the maximum may lie.

    Args:
        beta: see `GPUCB`; by default the theorem over 5, also where the model is learned.
        batch: a batch rule.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=THEOREM_OVER_5), batch="explore")

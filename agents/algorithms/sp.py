"""Stochastic policies (SP).

Paper: Garcia-Barcos & Martinez-Cantin (2019), Fully distributed Bayesian optimization with
stochastic policies, as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. the paper leaves open how the policy sharpens with time; ours is that of
`batch.Boltzmann`; 2. in a box the action is drawn from a fresh set of candidates; 3. those of `EI`.
"""

from gpbandits_env.agents.acquisitions.rules import POSTERIOR_EI
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class StochasticPolicy(GPAgent):
    r"""Each action is drawn from a Boltzmann distribution over the expected improvement.

    .. math:: P(x_{t,i} = x) \propto \exp(b_t \, EI_t(x))

    Args:
        incumbent: see `EI`.
        margin: see `EI`.
        batch: a batch rule.
    """

    PARTS = Parts(acquisition=POSTERIOR_EI, batch="boltzmann")

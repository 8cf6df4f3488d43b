"""BUCB (GP-BUCB).

Paper: Desautels, Krause & Burdick (2014), Algorithm 2, as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. beta_t is that of Theorem 1 of srinivas2010 over 5; the theory's factor, a bound on
rho_m, is the setting `rho`, 1 by default; 2. t in beta_t counts rounds, not actions; 3. the
theory's initial phase of maximum-variance points is optional (batch rule "initialised"); 4. those
of `GPAgent`.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import THEOREM_OVER_5
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class BUCB(GPAgent):
    r"""UCB with the mean held and the variance updated within the batch.

    .. math::
        x_{t,i} = \arg\max_x \mu_{t-1}(x) + \rho \sqrt{\beta_t} \,
        \sigma_{t-1}(x \mid x_{t,1}, \ldots, x_{t,i-1})

    Args:
        beta: see `GPUCB`; by default the theorem over 5, also where the model is learned.
        rho: the factor of sqrt(beta_t). In theory it bounds the ratio by which the standard
            deviation can fall within a batch (`theory.rho_bound`).
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=THEOREM_OVER_5, rho=1.0))

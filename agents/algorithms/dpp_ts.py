"""DPP-TS.

Paper: Nava, Mutny & Krause (2022), Diversified sampling for batched Bayesian optimization with
determinantal point processes, Algorithm 1, as a baseline of ren2024.
Assumes: Gaussian noise of known positive variance.
Departures: 1. the Markov chain has 50 steps (a setting of the batch rule); 2. those of `GPAgent`.
"""

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class DPPTS(GPAgent):
    r"""A Thompson batch diversified by a determinantal point process.

    .. math:: P(x_{t,1}, \ldots, x_{t,m}) \propto \prod_i p_{TS}(x_{t,i}) \, \det(I + K_t / s^2)

    p_TS is the distribution of a Thompson sample, and K_t the posterior covariance of the batch.

    Args:
        batch: a batch rule that draws posterior samples.
    """

    PARTS = Parts(batch="dpp")

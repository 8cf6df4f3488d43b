"""TS-RSR.

Paper: ren2024, Algorithm 1, with the redraw rule of its Appendix C.
Assumes: Gaussian noise of known variance.
Departures: 1. a sample is redrawn at most 10 times (see `batch.RegretToSigmaRatio`); 2. in a box,
samples are drawn with random features (exact in few dimensions for the squared exponential kernel)
and maximized from many starts; with search="round" they are exact, at candidates only; 3. those of
`GPAgent`. With one action per round and a rule without redraws and replacement it is PIMS (Takeno,
Inatsu, Karasuyama and Takeuchi 2024).
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import Samples
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class TSRSR(GPAgent):
    r"""The smallest ratio of a sampled regret to the posterior standard deviation.

    .. math::
        x_{t,i} = \arg\min_x
        \frac{\tilde f_i^* - \mu_t(x)}{\sigma_t(x \mid x_{t,1}, \ldots, x_{t,i-1})},
        \quad \tilde f_i^* = \max_x \tilde f_i(x)

    Args:
        scale: the factor of the difference between samples and the posterior mean, above 0: v_t of
            GP-TS (Chowdhury & Gopalan 2017, Algorithm 2).
        batch: a batch rule that draws posterior samples.
    """

    PARTS = Parts(acquisition=partial(Samples, scale=1.0), batch="ts-rsr")

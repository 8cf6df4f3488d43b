"""Thompson sampling (TS).

Paper: Kandasamy et al. (2018), Algorithm 1 (synchronous), as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. in a box, samples are drawn with random features (exact in few dimensions for the
squared exponential kernel) and maximized from many starts; with search="round" they are exact, at
candidates only. On arms there are none: the joint samples are exact.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import Samples
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class ThompsonSampling(GPAgent):
    r"""Each action of the batch maximizes its own posterior sample.

    .. math::
        x_{t,i} = \arg\max_x \tilde f_i(x), \quad \tilde f_i \sim P(f \mid y_1, \ldots, y_{t-1})

    Args:
        scale: the factor of the difference between samples and the posterior mean, above 0: v_t of
            GP-TS (Chowdhury & Gopalan 2017, Algorithm 2).
        batch: a batch rule that draws posterior samples.
    """

    PARTS = Parts(acquisition=partial(Samples, scale=1.0), batch="thompson")

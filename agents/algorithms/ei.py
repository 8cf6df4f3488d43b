"""Expected improvement (EI).

Paper: Mockus et al. (1978), as a baseline of srinivas2010, Section 6.
Assumes: Gaussian noise of known variance.
Departures: 1. EI is computed in logarithms (Ament et al. 2023), which leaves the argmax unchanged;
2. srinivas2010 does not state the incumbent; it is the largest posterior mean at an observed point
(option: "observed"); 3. those of `GPAgent`.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import POSTERIOR_EI
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class EI(GPAgent):
    r"""The action with the largest expected improvement.

    .. math::
        x_t = \arg\max_x E[\max(f(x) - \xi - \delta, 0)]
        = \arg\max_x \sigma(x) (z \Phi(z) + \phi(z)), \quad z = (\mu(x) - \xi - \delta) / \sigma(x)

    Here xi is the incumbent and delta the margin.

    Args:
        incumbent: the value to improve on: "posterior-mean", "observed", "max-mean" or "sampled";
            see `acquisitions.rules.Improvement`.
        margin: the least improvement that counts, at least 0, in units of the reward.
        augmented: whether EI is multiplied by 1 - s / sqrt(sigma^2 + s^2) for noise of standard
            deviation s, against repeated evaluations (Huang et al. 2006).
    """

    PARTS = Parts(acquisition=partial(POSTERIOR_EI, augmented=False))

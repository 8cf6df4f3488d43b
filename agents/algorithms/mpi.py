"""Most probable improvement (MPI), also known as probability of improvement.

Paper: Mockus (1989), as a baseline of srinivas2010, Section 6; the other variant is bedi2022's.
Assumes: Gaussian noise of known variance.
Departures: 1. MPI is computed in logarithms, which leaves the argmax unchanged; 2. srinivas2010
does not state the incumbent and the margin; they are the largest posterior mean at an observed
point and 0.01; 3. those of `GPAgent`.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import Improvement
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts


class MPI(GPAgent):
    r"""The action with the largest probability of improvement.

    .. math::
        x_t = \arg\max_x P(f(x) > \xi + \delta)
        = \arg\max_x \Phi((\mu(x) - \xi - \delta) / \sigma(x))

    Here xi is the incumbent and delta the margin. bedi2022 gives the name MPI to another score,
    the variant "improvement":

    .. math::
        \sigma(x) \phi(z) + (\mu(x) - \xi) \Phi(z), \quad z = (\mu(x) - \xi) / \sigma(x),
        \quad \xi = \max_x \mu(x)

    Its settings are variant="improvement", incumbent="max-mean" and margin=0. ERRATUM: the paper
    prints xi = argmax.

    Args:
        variant: "probability" or "improvement".
        incumbent: see `EI`.
        margin: the least improvement that counts, at least 0, in units of the reward. With 0, the
            incumbent itself can have the largest probability of improvement.
    """

    PARTS = Parts(
        acquisition=partial(
            Improvement, variant="probability", incumbent="posterior-mean", margin=0.01
        )
    )

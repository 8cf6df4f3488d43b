"""WGP-UCB: GP-UCB under weighted GP regression, in which old observations count less.

Paper: Deng, Zhou, Kim, Tewari, Gupta and Shroff (2022), "Weighted Gaussian Process Bandits for
Non-stationary Environments", Section 3. The posterior is that of the code of a co-author (Hong, Li
and Tewari 2023, `gpucb_discount`).
Assumes: a function of bounded norm in an RKHS whose total variation over the horizon is limited.
Departures: 1. gamma is a constant instead of a function of the variation, which is unknown: 0.98,
where that code has 0.9996 for 10,000 rounds; 2. beta_t is that of bogunovic2016; 3. in a box it
chooses among candidate points. The width of the paper's theorems holds for one round, not for all
at once; with delta / T in place of delta it does (Wu 2026).
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import USUAL_CANDIDATES, Parts


class WGPUCB(GPAgent):
    r"""GP-UCB whose old observations have a noise variance that grows with their age.

    .. math::
        \mu_t(x) = k_t(x)^T (K_t + \lambda_t W_t^{-1})^{-1} y_t, \quad
        w_s = \gamma^{-s}, \quad \lambda_t = s^2 \gamma^{-t}

    so that an observation of age j counts like one with the noise variance s^2 / gamma^j. In
    contrast to the decay of `TVGPUCB`, the prior of the function stays as it is.

    Cost: O(r^3) per round for a kernel of rank r on the arms; see `DiscountedCoefficients`.

    Args:
        discount: gamma in (0, 1]; about 1 / (1 - gamma) rounds count.
        beta: see `GPUCB`; 0.8 log(4 t) by default.
        candidates: in a box, the number of points to choose among.
    Raises:
        InvalidInput: the discount is out of range, there is no noise, or a posterior is chosen that
            does not support weights.
    Source: Deng et al. (2022), Section 3.
    """

    PARTS = Parts(
        acquisition=partial(ConfidenceBound, beta=LOG_TIME),
        discount=0.98,
        candidates=USUAL_CANDIDATES,
    )

"""UI-TVBO: GP-UCB on a function that is a random walk in time, without a return to the mean.

Paper: Brunzema, von Rohr and Trimpe (2022), "On Controller Tuning with Time-Varying Bayesian
Optimization", Section IV; the rate and beta are those of the authors' public code.
Assumes: lasting changes, each an independent draw from the GP times the root of the rate.
Departures: 1. no convexity constraints, which the paper adds for controllers; 2. lengthscales are
not fitted anew in each round, unless by ``learn``; 3. no initial design, by which the code also
standardizes rewards.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.gp.temporal import WienerTime


class UITVBO(GPAgent):
    r"""GP-UCB under uncertainty injection: the variance grows, and the mean stays.

    .. math:: \mathrm{Cov}(f_t(x), f_s(z)) = k(x, z) (1 + r \min(t, s))

    Args:
        rate: r > 0, the growth of the prior variance per round (see `WienerTime`).
        beta: see `GPUCB`; 2 by default.
    Raises:
        InvalidInput: another way to forget is given, or the rate is out of range.
    Source: Brunzema, von Rohr and Trimpe (2022), Section IV.
    """

    assumes_drift = True

    PARTS = Parts(
        acquisition=partial(ConfidenceBound, beta=2.0), temporal=partial(WienerTime, rate=0.03)
    )

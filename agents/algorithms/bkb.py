"""Budgeted Kernel Bandits (BKB) with GP-UCB, EI and MPI.

Paper: Calandriello et al. (2019), "Gaussian Process Optimization with Adaptive Sketching: Scalable
and No Regret", Algorithm 1; EI and MPI as in the comparison of bedi2022. Other agents use this
posterior with ``posterior="nystrom"``, unless data age or they search a box by a rule of their own.
Assumes: k(x, x) <= 1, Gaussian noise of known positive variance, a function that does not drift.
Departures: 1. lambda is the noise variance, and the posterior standard deviation is sqrt(lambda)
sigma~, as in bedi2022; 2. beta_t is that of bedi2022, Theorem 3.2, not that of BKB's paper;
3. qbar is 5, whereas the theory requires hundreds (`theory.bkb_qbar`); 4. the dictionary is drawn
arm by arm, as in the public code of BKB's authors; Algorithm 1 draws pull by pull (``"per":
"pull"``), and with a small qbar then often misses the arm that is pulled most; 5. the first
dictionary is drawn like the others, from the first observations; 6. those of `GPAgent`.
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import MEAN_EI, OBSERVED_EI, ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import THEOREM_1
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import Settings
from gpbandits_env.gp.posterior.nystrom import QBAR

NYSTROM: Settings = {"type": "nystrom", "qbar": QBAR}


class BKBUCB(GPAgent):
    r"""GP-UCB under a Nystrom posterior.

    .. math:: x_t = \arg\max_x \tilde\mu_{t-1}(x) + \sqrt{\beta_t} \, \tilde\sigma_{t-1}(x)

    The mean and the standard deviation are those of the Nystrom posterior.

    Args:
        beta: see `GPUCB`; by default Theorem 1 without the division by 5.
        posterior: see `Parts`; `qbar` sets the size of the dictionary.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=THEOREM_1), posterior=NYSTROM)


class BKBEI(GPAgent):
    """EI over the largest observed reward, under a Nystrom posterior.

    Args:
        incumbent: see `EI`.
        margin: see `EI`.
        posterior: see `Parts`; `qbar` sets the size of the dictionary.
    """

    PARTS = Parts(acquisition=OBSERVED_EI, posterior=NYSTROM)


class BKBMPI(GPAgent):
    """MPI as in bedi2022, under a Nystrom posterior.

    Args:
        variant: see `MPI`.
        incumbent: see `EI`.
        margin: see `EI`.
        posterior: see `Parts`; `qbar` sets the size of the dictionary.
    """

    PARTS = Parts(acquisition=MEAN_EI, posterior=NYSTROM)

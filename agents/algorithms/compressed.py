"""Compressed GP-UCB (CUB), compressed EI (CEI) and compressed MPI (CMPI).

Paper: bedi2022, Algorithm 1: GP-UCB (eq. (2.5)), EI (eq. (2.6)) or MPI whose posterior uses only
the observations that pass the test of eq. (2.12). Every agent with a posterior has the setting
``compress``.
Assumes: k(x, x) <= 1, Gaussian noise of known variance.
Departures: 1. EI and MPI are computed in logarithms, which leaves the argmax unchanged; 2. ERRATUM:
the paper prints xi = argmax mu in MPI but means the maximum; 3. epsilon is the paper's 1e-4, with
which none of the first 1/(exp(2 epsilon) - 1) = 5000 observations is rejected; 4. those of
`GPAgent`. After a rejection the agent chooses the same action again until the acquisition changes
(for GP-UCB, beta_t grows).
"""

from functools import partial

from gpbandits_env.agents.acquisitions.rules import MEAN_EI, OBSERVED_EI, ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import THEOREM_1
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts

EPSILON = 1e-4


class CUB(GPAgent):
    r"""GP-UCB that learns only from informative pulls.

    .. math:: \sigma^2(x_t) > s^2 (e^{2 \epsilon} - 1)

    An observation at x_t is informative if this holds, where s^2 is the noise variance.

    Args:
        beta: see `GPUCB`; by default Theorem 1 without the division by 5.
        compress: see `Parts`.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=THEOREM_1), compress=EPSILON)


class CEI(GPAgent):
    """EI over the largest informative reward, which learns only from informative pulls.

    Args:
        incumbent: see `EI`.
        margin: see `EI`.
        compress: see `Parts`.
    """

    PARTS = Parts(acquisition=OBSERVED_EI, compress=EPSILON)


class CMPI(GPAgent):
    """MPI as in bedi2022, which learns only from informative pulls.

    Args:
        variant: see `MPI`.
        incumbent: see `EI`.
        margin: see `EI`.
        compress: see `Parts`.
    """

    PARTS = Parts(acquisition=MEAN_EI, compress=EPSILON)

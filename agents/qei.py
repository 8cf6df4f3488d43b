"""qEI by the kriging believer.

Paper: Ginsbourger, Le Riche & Carraro (2008), as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. the sequential heuristic, not the joint q-point improvement; 2. those of `EI`.
"""

from gpbandits_env.agents.ei import EI


class QEI(EI):
    """EI, one action after the other, each believing that those before gave their means."""

    DEFAULT_BATCH = "believer"

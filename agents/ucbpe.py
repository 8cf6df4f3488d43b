"""UCBPE (GP-UCB-PE).

Paper: Contal, Buffoni, Robicquet & Vayatis (2013), Algorithm 1, as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. beta_t is that of GP-UCB over 5; 2. without the region by
batch={"type": "explore", "region": false}, as in many public re-implementations; 3. those of
`GPAgent`.
"""

from gpbandits_env.agents.gp_ucb import GPUCB


class UCBPE(GPUCB):
    """The first action by UCB, the others by largest variance in the relevant region."""

    DEFAULT_BATCH = "explore"

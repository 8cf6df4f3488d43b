"""Stochastic policies (SP).

Paper: Garcia-Barcos & Martinez-Cantin (2019), Fully distributed Bayesian optimization with
stochastic policies, as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. how the policy sharpens with time is a choice of ours (see `batch.Boltzmann`); 2. in
a box the action is drawn from a fresh set of candidates; 3. those of `EI`.
"""

from gpbandits_env.agents.ei import EI


class StochasticPolicy(EI):
    """Each action is drawn from a Boltzmann distribution over the expected improvement."""

    DEFAULT_BATCH = "boltzmann"

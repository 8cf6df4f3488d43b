"""DPP-TS.

Paper: Nava, Mutny & Krause (2022), Diversified sampling for batched Bayesian optimization with
determinantal point processes, Algorithm 1, as a baseline of ren2024.
Assumes: Gaussian noise of known variance, above 0.
Departures: 1. a chain of 50 steps (a setting of the rule); 2. those of `GPAgent`.
"""

from gpbandits_env.agents.thompson import ThompsonSampling


class DPPTS(ThompsonSampling):
    """A Thompson batch diversified by a determinantal point process."""

    DEFAULT_BATCH = "dpp"

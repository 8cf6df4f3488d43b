"""How a batch of actions is put together: rules that take any acquisition, posterior and search."""

from gpbandits_env.agents.batch.base import RULES, Batch, BatchRule, rule_for
from gpbandits_env.agents.batch.explore import Explore, Initialised, LargestVariance
from gpbandits_env.agents.batch.sampled import DeterminantalThompson, RegretToSigmaRatio, Thompson
from gpbandits_env.agents.batch.scored import Boltzmann, Hallucinate, KrigingBeliever

__all__ = [
    "RULES",
    "Batch",
    "BatchRule",
    "Boltzmann",
    "DeterminantalThompson",
    "Explore",
    "Hallucinate",
    "Initialised",
    "KrigingBeliever",
    "LargestVariance",
    "RegretToSigmaRatio",
    "Thompson",
    "rule_for",
]

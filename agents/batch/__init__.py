"""How a batch of actions is put together: rules that take any acquisition, posterior and search."""

from gpbandits_env.agents.batch.base import RULES, Batch, BatchRule, rule_for
from gpbandits_env.agents.batch.believer import KrigingBeliever
from gpbandits_env.agents.batch.boltzmann import Boltzmann
from gpbandits_env.agents.batch.explore import Explore, Initialised, LargestVariance
from gpbandits_env.agents.batch.hallucinate import Hallucinate
from gpbandits_env.agents.batch.thompson import DeterminantalThompson, Thompson
from gpbandits_env.agents.batch.ts_rsr import RegretToSigmaRatio

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

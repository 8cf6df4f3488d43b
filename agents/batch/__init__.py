"""Batch rules, which choose the actions of a round with any acquisition, posterior and search."""

from gpbandits_env.agents.batch.base import RULES as RULES
from gpbandits_env.agents.batch.base import Batch as Batch
from gpbandits_env.agents.batch.base import BatchRule as BatchRule
from gpbandits_env.agents.batch.base import rule_for as rule_for
from gpbandits_env.agents.batch.explore import Explore as Explore
from gpbandits_env.agents.batch.explore import Initialised as Initialised
from gpbandits_env.agents.batch.explore import LargestVariance as LargestVariance
from gpbandits_env.agents.batch.sampled import DeterminantalThompson as DeterminantalThompson
from gpbandits_env.agents.batch.sampled import RegretToSigmaRatio as RegretToSigmaRatio
from gpbandits_env.agents.batch.sampled import Thompson as Thompson
from gpbandits_env.agents.batch.scored import Boltzmann as Boltzmann
from gpbandits_env.agents.batch.scored import Hallucinate as Hallucinate
from gpbandits_env.agents.batch.scored import KrigingBeliever as KrigingBeliever

"""Batch rules, which choose the actions of a round with any acquisition, posterior and search."""

from gpbandits_env.agents.batch import explore as explore
from gpbandits_env.agents.batch import sampled as sampled
from gpbandits_env.agents.batch import scored as scored
from gpbandits_env.agents.batch.rule import RULES as RULES
from gpbandits_env.agents.batch.rule import Batch as Batch
from gpbandits_env.agents.batch.rule import BatchRule as BatchRule
from gpbandits_env.agents.batch.rule import rule_for as rule_for

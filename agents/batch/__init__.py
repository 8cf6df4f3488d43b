"""How a batch of actions is put together: rules that take any acquisition, posterior and search."""

from gpbandits_env.agents.batch.base import RULES, BatchRule, rule_for
from gpbandits_env.agents.batch.hallucinate import Hallucinate

__all__ = ["RULES", "BatchRule", "Hallucinate", "rule_for"]

"""Where a learner finds its actions: the best-scoring arms, or points of a box."""

from gpbandits_env.agents.search.arms import ArmSearch
from gpbandits_env.agents.search.base import Search, Within

__all__ = ["ArmSearch", "Search", "Within"]

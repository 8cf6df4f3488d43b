"""Where an agent finds its actions: the best-scoring arms, or points of a box."""

from gpbandits_env.agents.search.arms import ArmSearch
from gpbandits_env.agents.search.base import Search, Within
from gpbandits_env.agents.search.choose import search_for

__all__ = ["ArmSearch", "Search", "Within", "search_for"]

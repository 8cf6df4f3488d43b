"""Searches: how an agent finds the best-scoring arms, or points of a box."""

from gpbandits_env.agents.search.base import ArmSearch, Search, Within
from gpbandits_env.agents.search.choose import SearchSpec, search_for

__all__ = ["ArmSearch", "Search", "SearchSpec", "Within", "search_for"]

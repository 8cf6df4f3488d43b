"""Experiments: declared, run, stored, reported. Imported as `gpbandits_env.scenarios`.

A declaration is light; what runs it is in `study`, what reads its results in `results`, and what
shows them in `reporting`.
"""

from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.registry import get, scenarios
from gpbandits_env.scenarios.scenario import AgentEntry, Picture, Scenario

__all__ = ["AgentEntry", "Panel", "Picture", "Scenario", "get", "scenarios"]

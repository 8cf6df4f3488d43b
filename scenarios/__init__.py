"""Experiments: declared, run, stored, reported. Imported as `gpbandits_env.scenarios`.

A declaration is quick to import. `study` runs it, `results` reads its results, and `reporting`
shows them.
"""

from gpbandits_env.scenarios.metrics import Panel as Panel
from gpbandits_env.scenarios.registry import get as get
from gpbandits_env.scenarios.registry import scenarios as scenarios
from gpbandits_env.scenarios.scenario import AgentEntry as AgentEntry
from gpbandits_env.scenarios.scenario import Scenario as Scenario

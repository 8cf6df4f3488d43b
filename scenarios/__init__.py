"""Experiments: declared, run, stored, reported. Imported as `gpbandits_env.scenarios`.

A declaration is light; what runs it is in `study`, what reads its results in `results`, and what
shows them in `reporting`.
"""

from gpbandits_env.scenarios.metrics import Panel as Panel
from gpbandits_env.scenarios.registry import get as get
from gpbandits_env.scenarios.registry import scenarios as scenarios
from gpbandits_env.scenarios.scenario import AgentEntry as AgentEntry
from gpbandits_env.scenarios.scenario import Picture as Picture
from gpbandits_env.scenarios.scenario import Scenario as Scenario

"""Experiments: declared, run, stored, reported. Imported as `gpbandits_env.scenarios`."""

from gpbandits_env.scenarios.registry import get, scenarios
from gpbandits_env.scenarios.results.panels import Panel
from gpbandits_env.scenarios.results.records import TrialKey, TrialRecord
from gpbandits_env.scenarios.results.report import Report, report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry, Picture, Scenario
from gpbandits_env.scenarios.study.runner import run_trial
from gpbandits_env.scenarios.study.study import Outcome, run_study

__all__ = [
    "AgentEntry",
    "Outcome",
    "Panel",
    "Picture",
    "Report",
    "Scenario",
    "Store",
    "TrialKey",
    "TrialRecord",
    "get",
    "report",
    "run_study",
    "run_trial",
    "scenarios",
]

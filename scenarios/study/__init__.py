"""Running studies: trials, the engines that run them, scenario files."""

from gpbandits_env.scenarios.study.engines import Engine
from gpbandits_env.scenarios.study.run import Outcome, run_study
from gpbandits_env.scenarios.study.runner import run_trial

__all__ = ["Engine", "Outcome", "run_study", "run_trial"]

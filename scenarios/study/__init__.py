"""Runs studies: trials, the engines that run them, and scenario files."""

from gpbandits_env.scenarios.study.engines import Engine as Engine
from gpbandits_env.scenarios.study.run import Outcome as Outcome
from gpbandits_env.scenarios.study.run import run_study as run_study
from gpbandits_env.scenarios.study.runner import run_trial as run_trial

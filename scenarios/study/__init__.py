"""Runs studies: trials, the engines that run them, and scenario files."""

# First, and not deep in the chain of imports of the rest: there Python 3.11 may map and release
# memory at every call of a loop, which made the start of a worker a sixth slower.
import gpbandits_env.agents  # noqa: F401
from gpbandits_env.scenarios.study.engines import Engine as Engine
from gpbandits_env.scenarios.study.run import Outcome as Outcome
from gpbandits_env.scenarios.study.run import run_study as run_study
from gpbandits_env.scenarios.study.runner import run_trial as run_trial

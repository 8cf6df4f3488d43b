"""Reward functions: how they are drawn, evaluated without noise, and where their maximum is."""

from gpbandits_env.functions.analytic import AnalyticProcess
from gpbandits_env.functions.declared import TEST_FUNCTIONS, TestFunction, add_test_function
from gpbandits_env.functions.function import ArmFunction, Function, FunctionBatch
from gpbandits_env.functions.gp import NEVER_BEYOND, BoxFunction, DriftProcess, GPOnArms, GPOnBox
from gpbandits_env.functions.maximum import BoxMaximum
from gpbandits_env.functions.motion import MOTIONS, Motion
from gpbandits_env.functions.process import (
    ReplayProcess,
    RewardPath,
    RewardProcess,
    StaticProcess,
    TableProcess,
)

__all__ = [
    "MOTIONS",
    "NEVER_BEYOND",
    "TEST_FUNCTIONS",
    "AnalyticProcess",
    "ArmFunction",
    "BoxFunction",
    "BoxMaximum",
    "DriftProcess",
    "Function",
    "FunctionBatch",
    "GPOnArms",
    "GPOnBox",
    "Motion",
    "ReplayProcess",
    "RewardPath",
    "RewardProcess",
    "StaticProcess",
    "TableProcess",
    "TestFunction",
    "add_test_function",
]

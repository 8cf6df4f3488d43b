"""Reward functions: what a world draws, evaluates without noise, and knows the maximum of."""

from gpbandits_env.functions.analytic import AnalyticSource
from gpbandits_env.functions.base import Function, Source
from gpbandits_env.functions.batch import FunctionBatch
from gpbandits_env.functions.course import (
    Course,
    CourseSource,
    DriftingSource,
    ReplaySource,
    StillSource,
)
from gpbandits_env.functions.declared import TEST_FUNCTIONS, TestFunction, add_test_function
from gpbandits_env.functions.gp import BoxFunction, GPOnArms, GPOnBox
from gpbandits_env.functions.maximum import BoxMaximum
from gpbandits_env.functions.motion import MOTIONS, Motion
from gpbandits_env.functions.placed import PlacedSource
from gpbandits_env.functions.tables import ArmFunction, Rows

__all__ = [
    "MOTIONS",
    "TEST_FUNCTIONS",
    "AnalyticSource",
    "ArmFunction",
    "BoxFunction",
    "BoxMaximum",
    "Course",
    "CourseSource",
    "DriftingSource",
    "Function",
    "FunctionBatch",
    "GPOnArms",
    "GPOnBox",
    "Motion",
    "PlacedSource",
    "ReplaySource",
    "Rows",
    "Source",
    "StillSource",
    "TestFunction",
    "add_test_function",
]

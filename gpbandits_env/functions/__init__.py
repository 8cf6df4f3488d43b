"""Reward functions: what a world draws, evaluates without noise, and knows the maximum of."""

from gpbandits_env.functions.base import Function, Source
from gpbandits_env.functions.batch import ArmBatch, Batch, FunctionList, batch_of
from gpbandits_env.functions.gp import BoxFunction, GPOnArms, GPOnBox
from gpbandits_env.functions.maximum import BoxMaximum
from gpbandits_env.functions.tables import ArmFunction, Rows

__all__ = [
    "ArmBatch",
    "ArmFunction",
    "Batch",
    "BoxFunction",
    "BoxMaximum",
    "Function",
    "FunctionList",
    "GPOnArms",
    "GPOnBox",
    "Rows",
    "Source",
    "batch_of",
]

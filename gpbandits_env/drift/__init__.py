"""Drifts: how a function becomes the next round's function."""

from gpbandits_env.drift.base import DRIFTS, Drift, Fresh, FunctionDrift, Memory, as_drift
from gpbandits_env.drift.check import check_drift
from gpbandits_env.drift.compose import Blend, Then
from gpbandits_env.drift.kinds import (
    ChangePoints,
    MarkovDrift,
    Rotation,
    Seasonal,
    VaryingMarkovDrift,
    check_epsilon,
)
from gpbandits_env.drift.path import Path

__all__ = [
    "DRIFTS",
    "Blend",
    "ChangePoints",
    "Drift",
    "Fresh",
    "FunctionDrift",
    "MarkovDrift",
    "Memory",
    "Path",
    "Rotation",
    "Seasonal",
    "Then",
    "VaryingMarkovDrift",
    "as_drift",
    "check_drift",
    "check_epsilon",
]

"""Drifts: how a function becomes the next round's function."""

from gpbandits_env.rewards.drift.base import DRIFTS as DRIFTS
from gpbandits_env.rewards.drift.base import Drift as Drift
from gpbandits_env.rewards.drift.base import DriftSpec as DriftSpec
from gpbandits_env.rewards.drift.base import Fresh as Fresh
from gpbandits_env.rewards.drift.base import FunctionDrift as FunctionDrift
from gpbandits_env.rewards.drift.base import Memory as Memory
from gpbandits_env.rewards.drift.base import Path as Path
from gpbandits_env.rewards.drift.base import as_drift as as_drift
from gpbandits_env.rewards.drift.check import check_drift as check_drift
from gpbandits_env.rewards.drift.kinds import Blend as Blend
from gpbandits_env.rewards.drift.kinds import ChangePoints as ChangePoints
from gpbandits_env.rewards.drift.kinds import MarkovDrift as MarkovDrift
from gpbandits_env.rewards.drift.kinds import Rotation as Rotation
from gpbandits_env.rewards.drift.kinds import Seasonal as Seasonal
from gpbandits_env.rewards.drift.kinds import TemporalDrift as TemporalDrift
from gpbandits_env.rewards.drift.kinds import Then as Then
from gpbandits_env.rewards.drift.kinds import VaryingMarkovDrift as VaryingMarkovDrift

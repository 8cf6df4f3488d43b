"""Drifts: how a function becomes the next round's function."""

from gpbandits_env.rewards.drift.drift import DRIFTS as DRIFTS
from gpbandits_env.rewards.drift.drift import Drift as Drift
from gpbandits_env.rewards.drift.drift import DriftSpec as DriftSpec
from gpbandits_env.rewards.drift.drift import Fresh as Fresh
from gpbandits_env.rewards.drift.drift import FunctionDrift as FunctionDrift
from gpbandits_env.rewards.drift.drift import Memory as Memory
from gpbandits_env.rewards.drift.drift import Path as Path
from gpbandits_env.rewards.drift.drift import as_drift as as_drift
from gpbandits_env.rewards.drift.kinds import Blend as Blend
from gpbandits_env.rewards.drift.kinds import ChangePoints as ChangePoints
from gpbandits_env.rewards.drift.kinds import MarkovDrift as MarkovDrift
from gpbandits_env.rewards.drift.kinds import Rotation as Rotation
from gpbandits_env.rewards.drift.kinds import Seasonal as Seasonal
from gpbandits_env.rewards.drift.kinds import TemporalDrift as TemporalDrift
from gpbandits_env.rewards.drift.kinds import Then as Then
from gpbandits_env.rewards.drift.kinds import VaryingMarkovDrift as VaryingMarkovDrift
from gpbandits_env.rewards.drift.laws import check_drift as check_drift

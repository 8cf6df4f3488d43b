"""The environments; `import gpbandits_env` registers them with Gymnasium."""

from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.declaration import Arguments, Maker
from gpbandits_env.envs.gp import (
    Drifting,
    DriftingVector,
    MarkovGP,
    MarkovGPVector,
    StaticGP,
    StaticGPVector,
)
from gpbandits_env.envs.single import BanditEnv
from gpbandits_env.envs.table import Replay, ReplayVector, Table, TableVector
from gpbandits_env.envs.task import HighDim, HighDimVector, TaskEnv, TaskEnvVector
from gpbandits_env.envs.vector import BanditVectorEnv

__all__ = [
    "Arguments",
    "Bandit",
    "BanditEnv",
    "BanditVectorEnv",
    "Drifting",
    "DriftingVector",
    "HighDim",
    "HighDimVector",
    "Maker",
    "MarkovGP",
    "MarkovGPVector",
    "Replay",
    "ReplayVector",
    "StaticGP",
    "StaticGPVector",
    "Table",
    "TableVector",
    "TaskEnv",
    "TaskEnvVector",
]

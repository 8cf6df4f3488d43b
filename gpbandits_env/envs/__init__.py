"""The environments; `import gpbandits_env` registers them with Gymnasium."""

from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.declaration import Arguments, Maker
from gpbandits_env.envs.gp import Drifting, MarkovGP, StaticGP
from gpbandits_env.envs.single import BanditEnv
from gpbandits_env.envs.table import Replay, Table
from gpbandits_env.envs.task import HighDim, TaskEnv
from gpbandits_env.envs.vector import BanditVectorEnv

__all__ = [
    "Arguments",
    "Bandit",
    "BanditEnv",
    "BanditVectorEnv",
    "Drifting",
    "HighDim",
    "Maker",
    "MarkovGP",
    "Replay",
    "StaticGP",
    "Table",
    "TaskEnv",
]

"""The environments; `import gpbandits_env` registers them with Gymnasium."""

from gpbandits_env.envs.base import BanditEnv
from gpbandits_env.envs.drifting import Drifting, DriftingVector, drifting_world
from gpbandits_env.envs.high_dim import HighDim, HighDimVector, high_dim_world
from gpbandits_env.envs.markov_gp import MarkovGP, MarkovGPVector, markov_gp_world
from gpbandits_env.envs.replay import Replay, ReplayVector, replay_world
from gpbandits_env.envs.static_gp import StaticGP, StaticGPVector, static_gp_world
from gpbandits_env.envs.table import Table, TableVector, table_world
from gpbandits_env.envs.task import TaskEnv, TaskVector, task_world
from gpbandits_env.envs.vector import BanditVectorEnv
from gpbandits_env.envs.world import World

__all__ = [
    "BanditEnv",
    "BanditVectorEnv",
    "Drifting",
    "DriftingVector",
    "HighDim",
    "HighDimVector",
    "MarkovGP",
    "MarkovGPVector",
    "Replay",
    "ReplayVector",
    "StaticGP",
    "StaticGPVector",
    "Table",
    "TableVector",
    "TaskEnv",
    "TaskVector",
    "World",
    "drifting_world",
    "high_dim_world",
    "markov_gp_world",
    "replay_world",
    "static_gp_world",
    "table_world",
    "task_world",
]

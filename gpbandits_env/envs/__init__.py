"""The environments; `import gpbandits_env` registers them with Gymnasium."""

from gpbandits_env.envs.base import BanditEnv
from gpbandits_env.envs.static_gp import StaticGP, StaticGPVector, static_gp_world
from gpbandits_env.envs.table import Table, TableVector, table_world
from gpbandits_env.envs.vector import BanditVectorEnv
from gpbandits_env.envs.world import World

__all__ = [
    "BanditEnv",
    "BanditVectorEnv",
    "StaticGP",
    "StaticGPVector",
    "Table",
    "TableVector",
    "World",
    "static_gp_world",
    "table_world",
]

"""The environments; `import gpbandits_env` registers them with Gymnasium."""

from gpbandits_env.envs.bandit import Bandit as Bandit
from gpbandits_env.envs.declaration import Arguments as Arguments
from gpbandits_env.envs.declaration import EntryPoint as EntryPoint
from gpbandits_env.envs.gp import Drifting as Drifting
from gpbandits_env.envs.gp import MarkovGP as MarkovGP
from gpbandits_env.envs.gp import StaticGP as StaticGP
from gpbandits_env.envs.single import BanditEnv as BanditEnv
from gpbandits_env.envs.table import Replay as Replay
from gpbandits_env.envs.table import Table as Table
from gpbandits_env.envs.task import HighDim as HighDim
from gpbandits_env.envs.task import TaskEnv as TaskEnv
from gpbandits_env.envs.vector import BanditVectorEnv as BanditVectorEnv

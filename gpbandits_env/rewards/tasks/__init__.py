"""Tasks: tuning problems in a box, evaluated by training, simulation or optimization."""

from gpbandits_env.rewards.tasks.boston import Boston as Boston
from gpbandits_env.rewards.tasks.catalogue import Analytic as Analytic
from gpbandits_env.rewards.tasks.catalogue import make_task as make_task
from gpbandits_env.rewards.tasks.logistic import MnistLogistic as MnistLogistic
from gpbandits_env.rewards.tasks.network import OutputWeights as OutputWeights
from gpbandits_env.rewards.tasks.push import Push as Push
from gpbandits_env.rewards.tasks.ramp import RampLoss as RampLoss
from gpbandits_env.rewards.tasks.task import TASKS as TASKS
from gpbandits_env.rewards.tasks.task import Axes as Axes
from gpbandits_env.rewards.tasks.task import Axis as Axis
from gpbandits_env.rewards.tasks.task import Best as Best
from gpbandits_env.rewards.tasks.task import Task as Task
from gpbandits_env.rewards.tasks.task import TaskEntry as TaskEntry
from gpbandits_env.rewards.tasks.task import TaskProcess as TaskProcess

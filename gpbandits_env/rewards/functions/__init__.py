"""Reward functions: how they are drawn and evaluated without noise, and their maxima."""

from gpbandits_env.rewards.functions.analytic import AnalyticProcess as AnalyticProcess
from gpbandits_env.rewards.functions.catalogue import TEST_FUNCTIONS as TEST_FUNCTIONS
from gpbandits_env.rewards.functions.catalogue import TestFunction as TestFunction
from gpbandits_env.rewards.functions.catalogue import add_test_function as add_test_function
from gpbandits_env.rewards.functions.catalogue import benchmark_function as benchmark_function
from gpbandits_env.rewards.functions.context import ContextProcess as ContextProcess
from gpbandits_env.rewards.functions.context import Contexts as Contexts
from gpbandits_env.rewards.functions.function import ArmFunction as ArmFunction
from gpbandits_env.rewards.functions.function import Function as Function
from gpbandits_env.rewards.functions.function import FunctionBatch as FunctionBatch
from gpbandits_env.rewards.functions.gp import NEVER_BEYOND as NEVER_BEYOND
from gpbandits_env.rewards.functions.gp import BoxFunction as BoxFunction
from gpbandits_env.rewards.functions.gp import DriftProcess as DriftProcess
from gpbandits_env.rewards.functions.gp import GPOnArms as GPOnArms
from gpbandits_env.rewards.functions.gp import GPOnBox as GPOnBox
from gpbandits_env.rewards.functions.gp import gp_on as gp_on
from gpbandits_env.rewards.functions.maximum import BoxMaximum as BoxMaximum
from gpbandits_env.rewards.functions.motion import MOTIONS as MOTIONS
from gpbandits_env.rewards.functions.motion import Motion as Motion
from gpbandits_env.rewards.functions.process import ReplayProcess as ReplayProcess
from gpbandits_env.rewards.functions.process import RewardPath as RewardPath
from gpbandits_env.rewards.functions.process import RewardProcess as RewardProcess
from gpbandits_env.rewards.functions.process import StaticProcess as StaticProcess
from gpbandits_env.rewards.functions.process import TableProcess as TableProcess
from gpbandits_env.rewards.functions.swept import SWEPT as SWEPT
from gpbandits_env.rewards.functions.swept import SweptProcess as SweptProcess

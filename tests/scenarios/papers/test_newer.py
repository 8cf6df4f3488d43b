"""The scenarios of papers since 2020."""

import gymnasium as gym
import numpy as np

from gpbandits_env import agents
from gpbandits_env.scenarios import registry


def test_the_spherical_kernel_is_that_of_the_box_of_the_functions():
    scenario = registry.get("newer/high-dim")
    (settings,) = (entry.settings for entry in scenario.agents if entry.label == "spherical")
    for function in scenario.grid["function"]:
        env = gym.make(f"gpbandits_env:{scenario.env}", **scenario.env_kwargs, function=function)
        problem = agents.make("ei", env, seed=0, **settings).problem
        np.testing.assert_array_equal(problem.domain.low, problem.kernel.low)
        np.testing.assert_array_equal(problem.domain.high, problem.kernel.high)

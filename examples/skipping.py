"""Skip evaluations that are not informative: in an environment, and of a function of your own.

Run: python examples/skipping.py
"""

import gymnasium as gym
import numpy as np

from gpbandits_env import agents

env = gym.make("gpbandits_env:gpbandits/StaticGP-v0", grid=[100], selective=True)
agent, own = (agents.make("cub", env, seed=0, compress=0.05) for _ in range(2))
env.reset(seed=0)
for _ in range(200):
    observe = agent.informative(actions := agent.ask())  # needs no reward
    observation, _, _, _, info = env.step((actions, observe))
    agent.tell(actions, observation["rewards"], observed=observe)
print(f"{agent.posterior.size} evaluations, regret {info['cumulative_regret'] / 200:.3f} a round")
x, rewards, rng = np.linspace(0, 1, 100), np.zeros(1), np.random.default_rng(0)
for _ in range(200):  # the same without an environment
    observe = own.informative(actions := own.ask())
    if observe[0]:
        rewards = np.sin(6 * x[actions]) + rng.normal(0, 0.1, size=1)
    own.tell(actions, rewards, observed=observe)
print(f"{own.posterior.size} evaluations, best found at {x[own.ask()[0]]:.2f}")

"""PPO of stable-baselines3 beside GP-UCB, in the same worlds, judged by evaluate_policy.

PPO has trained in thousands of worlds before it is judged; GP-UCB sees each world afresh.

Run: python examples/reinforcement_learning.py [training steps] (extra rl)
"""

import sys

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import FlattenObservation
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents

WORLD = {"id": "gpbandits/StaticGP-v0", "grid": [20], "noise_var": 0.01, "max_episode_steps": 20}
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 4096


def flat():
    """What networks need: one vector of the arms one-hot, the rewards and the round."""
    return FlattenObservation(gym.make(**WORLD))


def judged(policy, env, episodes=50):
    """Mean reward of an episode, and its standard error, in worlds 1000, 1001, ..."""
    env.reset(seed=1000)
    returns, _ = evaluate_policy(policy, env, n_eval_episodes=episodes, return_episode_rewards=True)
    return np.mean(returns), np.std(returns) / np.sqrt(episodes)


if __name__ == "__main__":
    envs = make_vec_env(flat, n_envs=8, seed=0)
    ppo = PPO("MlpPolicy", envs, n_steps=64, gamma=1.0, seed=0, device="cpu").learn(STEPS)
    print("PPO     mean return {:.2f} +- {:.2f}".format(*judged(ppo, Monitor(flat()))))
    for name in ("gp-ucb", "random"):
        env = Monitor(gym.make(**WORLD))
        agent = agents.make(name, env, seed=0)
        print("{:7} mean return {:.2f} +- {:.2f}".format(name, *judged(agent, env)))

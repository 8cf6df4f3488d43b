"""PPO of stable-baselines3 compared with GP-UCB in the same instances, by evaluate_policy.

PPO is trained in thousands of instances before it is evaluated; GP-UCB does not know an instance
beforehand. One PPO sees only the last round, as the environment provides it. The other sees a
summary of all rounds: the mean reward of each arm and how often it was chosen.

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

from gpbandits_env import agents  # this registers the environments too

WORLD = {"id": "gpbandits/StaticGP-v0", "grid": [20], "noise_var": 0.01, "max_episode_steps": 20}
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 5120


class Remembered(gym.ObservationWrapper):
    """Each arm's mean reward, how often it was chosen (up to 3 times), and the time."""

    def __init__(self, env):
        super().__init__(env)
        self.arms = int(env.action_space.n)
        shape = (2 * self.arms + 1,)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, shape, np.float32)

    def observation(self, observation):
        t = int(observation["round"][0])
        if t == 0:
            self.sums, self.counts = np.zeros(self.arms), np.zeros(self.arms)
        else:
            np.add.at(self.sums, observation["actions"], observation["rewards"])
            np.add.at(self.counts, observation["actions"], 1)
        means, often = self.sums / np.maximum(self.counts, 1), np.minimum(self.counts, 3) / 3
        return np.concatenate([means, often, [t / 20]]).astype(np.float32)


def judged(policy, env, episodes=50):
    """The mean reward of an episode and its standard error, in instances 1000, 1001, ..."""
    env.reset(seed=1000)
    returns, _ = evaluate_policy(policy, env, n_eval_episodes=episodes, return_episode_rewards=True)
    return np.mean(returns), np.std(returns) / np.sqrt(episodes)


if __name__ == "__main__":
    for name, wrapper in (("last round", FlattenObservation), ("remembered", Remembered)):

        def made(wrapper=wrapper):
            return wrapper(gym.make(**WORLD))

        envs = make_vec_env(made, n_envs=16, seed=0)
        ppo = PPO(
            "MlpPolicy", envs, n_steps=80, batch_size=320, learning_rate=1e-3, gamma=1.0,
            ent_coef=0.01, seed=0, device="cpu",
        ).learn(STEPS)  # fmt: skip
        print(
            "PPO, {:10}  mean return {:.2f} +- {:.2f}".format(name, *judged(ppo, Monitor(made())))
        )
    for name in ("gp-ucb", "random"):
        env = Monitor(gym.make(**WORLD))
        agent = agents.make(name, env, seed=0)
        mean, error = judged(agent, env)
        print(f"{name:15}  mean return {mean:.2f} +- {error:.2f}")

"""A recurrent policy learns to explore; a policy without memory cannot.

Every episode is another bandit of a mixture: a static or a drifting one, whose kernel has a
lengthscale that is drawn anew. The policies see only their last action and its reward. Recurrent
PPO remembers the earlier ones in its LSTM, and PPO cannot. GP-UCB, which knows a kernel and needs
no training, is the reference.

Run: python examples/meta_learning.py [training steps [episodes]] (extra rl; a few minutes)
"""

import sys

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import FlattenObservation
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from gpbandits_env import agents  # this registers the environments too
from gpbandits_env.envs.wrappers import Mixture, ResetOptions, ScaledRound

ROUNDS = 20
MADE = {"grid": [6], "noise_var": 0.05, "max_episode_steps": ROUNDS}
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 163_840
EPISODES = int(sys.argv[2]) if len(sys.argv) > 2 else 400


def drawn(rng):
    """The parameters of one episode."""
    return {"kernel": {"type": "se", "lengthscale": float(rng.uniform(0.1, 0.5))}}


def bandits():
    """The environment for our agents."""
    static = gym.make("gpbandits/StaticGP-v0", **MADE)
    moving = gym.make("gpbandits/MarkovGP-v0", epsilon=0.05, **MADE)
    return Mixture([ResetOptions(env, {"draw": drawn}) for env in (static, moving)])


def flat():
    """The environment for networks: a scaled round, and the observation as one vector."""
    return FlattenObservation(ScaledRound(bandits(), horizon=ROUNDS))


def judged(policy, made, episodes=EPISODES):
    """The mean return of an episode and its standard error, in instances not used in training."""
    envs = make_vec_env(made, n_envs=50, seed=1000)
    returns, _ = evaluate_policy(policy, envs, episodes, return_episode_rewards=True)
    return np.mean(returns), np.std(returns) / np.sqrt(episodes)


def trained(cls, policy):
    envs = make_vec_env(flat, n_envs=64, seed=0)
    return cls(
        policy, envs, n_steps=2 * ROUNDS, batch_size=32 * ROUNDS, n_epochs=8, learning_rate=1e-3,
        gamma=0.9, ent_coef=0.01, seed=0, device="cpu",
        policy_kwargs={} if cls is PPO else {"lstm_hidden_size": 64},
    ).learn(STEPS)  # fmt: skip


if __name__ == "__main__":
    for name, cls, policy in (
        ("PPO", PPO, "MlpPolicy"),
        ("recurrent PPO", RecurrentPPO, "MlpLstmPolicy"),
    ):
        mean, error = judged(trained(cls, policy), flat)
        print(f"{name:15}  mean return {mean:.2f} +- {error:.2f}", flush=True)
    for name in ("gp-ucb", "random"):
        agent = agents.make(name, bandits().members[0], seed=0)
        mean, error = judged(agent, bandits)
        print(f"{name:15}  mean return {mean:.2f} +- {error:.2f}", flush=True)

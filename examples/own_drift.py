"""A drift of your own, as a function and as a class, and the regret of every agent under it.

Run: python examples/own_drift.py
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np

from gpbandits_env import agents  # this registers the environments too
from gpbandits_env.rewards.drift import Drift


def every_fifty_rounds(f, fresh, t, rng):
    """A new function after rounds 50, 100, ..., and the same function in between."""
    return fresh() if t % 50 == 0 else f


@dataclass(frozen=True)
class RandomPace(Drift):
    """A Markov drift whose epsilon is drawn in every round, uniformly on [0, most]."""

    most: float = 0.05

    def step(self, memory, fresh, t, rng):
        """sqrt(1 - eps) f + sqrt(eps) g: the squared weights add to 1, so GP(0, k) is kept."""
        epsilon = rng.uniform(0.0, self.most)
        return (np.sqrt(1.0 - epsilon) * memory[0] + np.sqrt(epsilon) * fresh(),)


def average_regret(name, drift, rounds=200, **settings):
    """The mean regret per round of one agent, in the instance of seed 0."""
    env = gym.make("gpbandits/Drifting-v0", drift=drift, grid=(15, 15), max_episode_steps=rounds)
    agent = agents.make(name, env, seed=0, **settings)
    env.reset(seed=0)
    truncated = False
    while not truncated:
        actions = agent.ask()
        observation, _, _, truncated, info = env.step(actions)
        agent.tell(actions, observation["rewards"])
    return info["cumulative_regret"] / rounds


if __name__ == "__main__":
    for drift in (every_fifty_rounds, RandomPace()):
        print(getattr(drift, "__name__", drift))
        for name, settings in [
            ("gp-ucb", {}),
            ("tv-gp-ucb", {"epsilon": 0.025}),
            ("r-gp-ucb", {"reset_every": 50}),
            ("random", {}),
        ]:
            print(f"  {name:10} {average_regret(name, drift, **settings):.3f}")

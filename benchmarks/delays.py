"""What a delay costs every agent with a posterior, in rounds of random play.

The cumulative regret with rewards that are 10 rounds late, less that of the same agent in the same
environment without a delay, over the regret of one round of random play. Means and standard errors
over the functions. Agents of boxes play in the unit square.
Usage: python benchmarks/delays.py [FUNCTIONS [AGENT ...]]
"""

import sys

import gymnasium as gym
import numpy as np

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.errors import InvalidInput

ROUNDS, DELAY = 200, 10
PLACES = {"arms": {"grid": [20, 20]}, "box": {"box": [[0.0, 0.0], [1.0, 1.0]]}}
# What an agent has to be told.
NEEDED = {"tv-gp-ucb": {"epsilon": 0.001}, "r-gp-ucb": {"reset_every": 100}}
NEEDED |= {"sw-gp-ucb": {"window": 100}, "sre": {"rounds": ROUNDS}, "ui-tvbo": {"rate": 0.001}}
# Slow agents play on fewer arms.
SLOW = {"wgp-ucb", "ui-tvbo"}
FEWER = {"arms": {"grid": [10, 10]}}


def regret(name, seed, delay, place):
    """The cumulative regret of one trial."""
    kernel = {"type": "se", "lengthscale": 0.2}
    env = gym.make(
        "gpbandits/StaticGP-v0", kernel=kernel, delay=delay, max_episode_steps=ROUNDS, **place
    )
    agent = agents.make(name, env, seed=seed, **NEEDED.get(name, {}))
    observation, _ = env.reset(seed=seed)
    for _ in range(ROUNDS):
        actions = agent.ask()
        observation, *_, info = env.step(actions)
        agent.observe(observation)
    return info["cumulative_regret"]


def main():
    """Print a line for each agent."""
    functions = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    gp_agents = [n for n in agents.names() if issubclass(agent_class(n), agents.GPAgent)]
    for name in sys.argv[2:] or [n for n in gp_agents if n != "genie"]:
        for where, place in (FEWER if name in SLOW else PLACES).items():
            try:
                told = [
                    [regret(name, seed, d, place) for d in (0, DELAY)] for seed in range(functions)
                ]
            except InvalidInput as error:
                print(f"{name:<12} {where}: {error}", flush=True)
                continue
            one = np.mean([regret("random", seed, 0, place) for seed in range(functions)]) / ROUNDS
            now, late = np.transpose(told)
            cost = (late - now) / one
            print(
                f"{name:<12} {where:<5} {now.mean():7.1f} {late.mean():7.1f}   costs "
                f"{cost.mean():5.1f} +- {cost.std(ddof=1) / np.sqrt(len(cost)):.1f} random rounds",
                flush=True,
            )
            break


if __name__ == "__main__":
    main()

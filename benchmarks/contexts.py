"""What a context costs: rounds of GP-UCB on arms alone, and on arms in contexts, and env steps.

Medians of the processor time of one round, in microseconds, early and late in a run of 1000 rounds.
Usage: python benchmarks/contexts.py
"""

import time

import gymnasium as gym
import numpy as np

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Matern52, OnCoordinates, SquaredExponential
from gpbandits_env.problem import Problem

ARMS, CONTEXTS, ROUNDS, STEPS = 1000, 10, 1000, 20_000


def rounds(problem):
    """The median time of rounds 100-300 and of the last 200."""
    agent, rng = agents.make("gp-ucb", problem, seed=0), np.random.default_rng(0)
    contexts, rewards = rng.integers(CONTEXTS, size=(ROUNDS, 1)), rng.normal(size=(ROUNDS, 1))
    taken = []
    for context, reward in zip(contexts, rewards, strict=True):
        start = time.process_time_ns()
        actions = agent.ask() if problem.contexts is None else agent.ask(context=context)
        agent.tell(actions, reward)
        taken.append((time.process_time_ns() - start) / 1e3)
    return np.median(taken[100:300]), np.median(taken[-200:]), agent.posterior.representation


def main():
    """Print all figures."""
    for kernel in (SquaredExponential(0.2), Matern52(0.2)):
        pairs = OnCoordinates((0,), kernel) * OnCoordinates((1,), SquaredExponential(0.3))
        alone = Problem(Arms.grid(ARMS), kernel, 0.025, horizon=ROUNDS)
        both = alone.replaced(kernel=pairs, contexts=Arms.grid(CONTEXTS))
        for name, problem in (("arms", alone), ("arms x contexts", both)):
            early, late, kind = rounds(problem)
            print(f"{kernel.type_name:<10} {name:<16} {early:7.1f} {late:7.1f} us  {kind}")
    env = gym.make("gpbandits/Contextual-v0", grid=ARMS, contexts=CONTEXTS).unwrapped
    env.reset(seed=0)
    action, start = np.array([3]), time.process_time()
    for _ in range(STEPS):
        env.step(action)
    print(f"Contextual-v0: {STEPS / (time.process_time() - start):,.0f} steps per second")


if __name__ == "__main__":
    main()

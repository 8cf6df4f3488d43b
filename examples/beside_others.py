"""Our agents compared with those of BoTorch and Optuna in the same instances.

Run: python examples/beside_others.py (extras botorch, optuna; missing ones are left out)
"""

import gymnasium as gym

from gpbandits_env import agents
from gpbandits_env.errors import MissingExtra

for name in ("ei", "gp-ucb", "optuna", "botorch", "random"):
    regrets = []
    for seed in range(3):
        env = gym.make("gpbandits_env:gpbandits/StaticGP-v0", grid=[12, 12], max_episode_steps=25)
        try:
            agent = agents.make(name, env, seed=seed)
        except MissingExtra as missing:
            print(f"{name:8} left out: {missing}")
            break
        env.reset(seed=seed)
        done = False
        while not done:
            actions = agent.ask()
            observation, _, _, done, info = env.step(actions)
            agent.tell(actions, observation["rewards"])
        regrets.append(info["cumulative_regret"] / 25)
    else:
        print(f"{name:8} average regret {sum(regrets) / len(regrets):.3f}")

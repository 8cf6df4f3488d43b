"""An agent on a drifting function, a frame for every fifth round, as docs/images/drift.webp.

Run: python examples/figures/drift.py [FILE] [ROUNDS]
"""

import sys

import gymnasium as gym
from PIL import Image

from gpbandits_env import agents

target = sys.argv[1] if len(sys.argv) > 1 else "drift.webp"
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 75
env = gym.make(
    "gpbandits_env:gpbandits/MarkovGP-v0",
    grid=[200],
    epsilon=0.02,
    noise_var=0.02,
    kernel={"type": "se", "lengthscale": 0.15},
    max_episode_steps=rounds,
    render_mode="rgb_array",
)
agent = agents.make("tv-gp-ucb", env, seed=0)
env.unwrapped.attach(agent)
env.reset(seed=60)
frames = []
for t in range(rounds):
    actions = agent.ask()
    observation, *_ = env.step(actions)
    if t % 5 == 0:
        frames.append(Image.fromarray(env.render()))  # with the belief by which the agent chose
    agent.tell(actions, observation["rewards"])
# In the colors of one frame, so that parts that do not change cost no bytes.
palette = frames[-1].quantize(20, kmeans=1)
first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
looks = {"lossless": True, "quality": 100, "method": 6, "minimize_size": True}  # takes a minute
first.save(target, save_all=True, append_images=others, duration=1000, loop=0, **looks)
print(f"{target}: {rounds} frames")

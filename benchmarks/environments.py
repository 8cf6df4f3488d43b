"""Environment steps per second through `gym.make` and `gym.make_vec`.

    python benchmarks/environments.py

They are compared with a trivial environment that looks up one number in a table, so that the rest
is Gymnasium's own cost. All environments are timed in turn, several times, with one BLAS thread.
The best processor time of each counts, and the ratios are of one run. Actions are checked, noise is
drawn, and every 1000 rounds an episode ends and a function is drawn. For Matern 5/2 on this grid a
draw needs 25,600 normal numbers, which is half of the time.
"""

import platform
import time
from collections.abc import Callable

import gymnasium as gym
import numpy as np
from threadpoolctl import threadpool_limits

import gpbandits_env  # noqa: F401 (registers the environments)

ARMS, BATCH, WORLDS = 2500, 5, 64
STEPS, REPEATS = 20_000, 3
WANTED = {"single": 60_000, "side by side": 1_500_000}


class Trivial(gym.Env):
    """An environment with one table look-up per step."""

    def __init__(self) -> None:
        self.action_space = gym.spaces.Discrete(ARMS)
        self.observation_space = gym.spaces.Discrete(1)
        self._values = np.random.default_rng(0).normal(size=ARMS).tolist()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, self._values[action], False, False, {}


def single(env: gym.Env) -> Callable[[], int]:
    """Take STEPS steps; return their number."""
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(1000)]

    def play() -> int:
        env.reset()
        for t in range(STEPS):
            if env.step(actions[t % 1000])[3]:
                env.reset()
        return STEPS

    return play


def side_by_side(envs: gym.vector.VectorEnv) -> Callable[[], int]:
    """Take STEPS / 10 steps in all instances, which start new episodes by themselves."""
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(100)]

    def play() -> int:
        for t in range(STEPS // 10):
            envs.step(actions[t % 100])
        return STEPS // 10 * envs.num_envs

    return play


def main() -> None:
    gym.register("Trivial-v0", entry_point=Trivial, max_episode_steps=1000)
    name, kwargs = "gpbandits/StaticGP-v0", {"grid": (50, 50), "batch_size": BATCH}
    matern = {**kwargs, "kernel": {"type": "matern52", "lengthscale": 0.2}}
    contestants = {
        "trivial": single(gym.make("Trivial-v0")),
        "single": single(gym.make(name, **kwargs)),
        "side by side": side_by_side(gym.make_vec(name, WORLDS, **kwargs)),
        "side by side, Matern 5/2": side_by_side(gym.make_vec(name, WORLDS, **matern)),
    }
    for label, given in (("moving", kwargs), ("moving, Matern 5/2", matern)):
        contestants[label] = single(gym.make("gpbandits/MarkovGP-v0", **given))
        several = gym.make_vec("gpbandits/MarkovGP-v0", WORLDS, **given)
        contestants[f"side by side, {label}"] = side_by_side(several)
    rates = dict.fromkeys(contestants, 0.0)
    with threadpool_limits(1):
        for _ in range(REPEATS):
            for label, play in contestants.items():
                start = time.process_time()
                rates[label] = max(rates[label], play() / (time.process_time() - start))
    print(
        f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}, ", end=""
    )
    print(f"NumPy {np.__version__}, Gymnasium {gym.__version__}, one BLAS thread")
    print(
        f"StaticGP, and MarkovGP (moving), on {ARMS} arms, {BATCH} actions a step; {WORLDS} worlds"
    )
    for label, rate in rates.items():
        wanted = f"   wanted {WANTED[label]:>9,}" if label in WANTED else ""
        print(f"{label:<32}{rate:>12,.0f} /s   {rate / rates['trivial']:#8.3g} x trivial{wanted}")


if __name__ == "__main__":
    main()

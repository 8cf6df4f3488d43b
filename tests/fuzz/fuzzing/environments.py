"""Bad arguments of environments, and bad seeds, options and actions."""

import copy
import pickle
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
from fuzzing.case import Case, nothing
from fuzzing.declared import DRIFT_SPECS, KERNELS, MOTION_SPECS
from fuzzing.values import bad_value, mutated, near_miss, pick

TABLE = (np.random.default_rng(0).normal(size=(12, 4)) + np.arange(4)).tolist()
# An environment that is not here is made with its defaults.
SMALL: dict[str, tuple[dict[str, Any], ...]] = {
    "gpbandits/StaticGP-v0": (
        {"grid": [4, 3], "low": 0.0, "high": [1.0, 2.0], "noise_var": 0.1, "batch_size": 2},
        {"arms": [[0.0], [0.3], [1.0]]},
        {"box": [[0.0], [1.0]], "batch_size": 2},
    ),
    "gpbandits/MarkovGP-v0": ({"grid": [4, 3], "epsilon": 0.1, "noise_var": 0.1},),
    "gpbandits/Drifting-v0": (
        {"grid": [5], "drift": DRIFT_SPECS[2], "epsilon": 0.1},
        {"function": "ackley", "dim": 3, "motion": MOTION_SPECS[0], "batch_size": 2},
    ),
    "gpbandits/Contextual-v0": (
        {"grid": [4], "contexts": 3, "sequence": [0, 2, 1], "epsilon": 0.1},
        {"grid": [4], "contexts": {"clock": 4}, "kernel": KERNELS[0]},
        {"grid": [4], "contexts": {"box": [[0.0], [1.0]]}},
    ),
    "gpbandits/Table-v0": (
        {"readings": TABLE, "train_fraction": 0.5, "minimise": True, "model_noise_var": 0.1},
        {"readings": TABLE, "contexts": {"columns": [1]}, "context_kernel": KERNELS[0]},
    ),
    "gpbandits/Replay-v0": (
        {"readings": TABLE, "columns": [0, 3], "starts": [0, 1], "repeat": True},
        {"readings": TABLE, "contexts": {"clock": 4, "parts": 2}, "context_kernel": KERNELS[0]},
        {"readings": TABLE, "contexts": {"columns": [1]}},
    ),
    "gpbandits/Task-v0": (
        {"task": "ackley", "dim": 2, "box": [[-1.0] * 2, [1.0] * 2], "prior_mean": 0.0},
        {"task": "rosenbrock", "grid": [4, 3], "scaled": True, "kernel": KERNELS[0]},
    ),
    "gpbandits/HighDim-v0": (
        {"function": "camelback", "dim": 6, "active": [1, 3], "shift": 0.1, "epsilon": 0.1},
    ),
}
IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))
COMMON: dict[str, Any] = {
    "selective": True,
    "render_mode": "ansi",
    "kernel": KERNELS[2],
    "delay": {"least": 0, "most": 3, "lost": 0.1},
}


def make_case(rng: np.random.Generator) -> Case:
    """An environment made with a bad argument, or a bad id."""
    name = str(pick(rng, IDS))
    good = copy.deepcopy(dict(pick(rng, SMALL.get(name, ({},)))))
    if rng.random() < 0.06:
        wrong = near_miss(rng, name)
        return Case("gym.make", wrong, lambda: gym.make(wrong))
    key = str(pick(rng, [*good, *COMMON]))
    given = dict(good)
    if rng.random() < 0.06:
        given[near_miss(rng, key)] = bad_value(rng)
    else:
        given[key] = mutated(rng, given.get(key, COMMON.get(key)))
    vector = rng.random() < 0.2

    def call() -> Any:
        # Gymnasium itself warns of a render mode, before we are asked.
        if "render_mode" in given:
            return gym.envs.registration.load_env_creator(str(gym.spec(name).entry_point))(**given)
        if vector:
            return gym.make_vec(name, 2, **given)
        return gym.make(name, disable_env_checker=True, **given)

    return Case(f"gym.make {name}", given, call, use=nothing if _runs(given) else _use)


def _runs(given: dict[str, Any]) -> bool:
    """Whether a user's own function is in it, whose errors are the user's."""
    return callable(given.get("drift"))


def _use(env: Any) -> None:
    """One short episode."""
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(2):
        env.step(env.action_space.sample())
    env.close()


@cache
def _pool() -> list[tuple[str, Any]]:
    """Environments in mid-episode, single, selective, with delays, and vector."""
    made = []
    for name in IDS:
        for kwargs in SMALL.get(name, ({},)):
            for more in ({}, {"selective": True}, {"delay": 2}):
                env = gym.make(name, disable_env_checker=True, **kwargs, **more)
                made.append((name, env))
        made.append((name, gym.make_vec(name, 2, **SMALL.get(name, ({},))[0])))
    for _, env in made:
        env.reset(seed=1)
        env.action_space.seed(1)
        env.step(env.action_space.sample())
    return made


def play_case(rng: np.random.Generator) -> Case:
    """A bad step, reset, prior_data or attach of an environment in mid-episode."""
    name, original = pick(rng, _pool())
    env = copy.deepcopy(original)
    bare = env.unwrapped
    what = str(pick(rng, ("step", "step", "step", "reset", "options", "prior", "attach")))
    if what == "prior" and not hasattr(bare, "prior_data"):
        what = "step"
    given: Any = None
    if what == "step":
        given = mutated(rng, env.action_space.sample())
        call = lambda: env.step(given)  # noqa: E731
    elif what == "reset":
        given = bad_value(rng) if rng.random() < 0.7 else mutated(rng, [1, 2])
        call = lambda: env.reset(seed=given)  # noqa: E731
    elif what == "options":
        mask = {"reset_mask": np.array([True, False])}
        given = mutated(rng, mask)
        call = lambda: env.reset(options=given)  # noqa: E731
    elif what == "attach":
        given = bad_value(rng)
        call = lambda: bare.attach(given)  # noqa: E731
    else:
        actions = bare.problem.domain.sample(rng, 3)
        given = mutated(rng, actions)
        call = lambda: bare.prior_data(given, np.random.default_rng(0))  # noqa: E731

    def step(*_: Any) -> None:
        env.step(env.action_space.sample())

    return Case(f"{what} of {name}", given, call, lambda: pickle.dumps(bare), step, step)

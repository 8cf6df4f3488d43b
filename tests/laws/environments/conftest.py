"""Every registered environment, with arguments to try it with, alone and side by side."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.envs import drawing
from gpbandits_env.envs import episode as episodes
from gpbandits_env.rewards.functions import context as contexts

# Noise and contexts are drawn this many rounds ahead, instead of 256, so that few rounds pass the
# end of a block. It is longer than the table.
AHEAD = 32
# The maximum of a smooth function in a box takes a third of the time.
SMOOTH = {"type": "matern52", "lengthscale": 0.6}
TABLE = (np.random.default_rng(0).normal(size=(30, 6)) + np.arange(6)).tolist()
# Some laws take more rounds than the table has rows.
REPEATED = {"readings": TABLE, "repeat": True}

# Arguments to try an environment with; one that is not here is tried with its defaults.
EXAMPLES = {
    "gpbandits/StaticGP-v0": [
        {"grid": [6, 5], "batch_size": 3},
        {"arms": [[0.0], [0.3], [1.0]], "kernel": {"type": "matern32", "lengthscale": 0.4}},
        {"box": [[0.0], [1.0]], "batch_size": 2},
    ],
    "gpbandits/Table-v0": [
        {"readings": TABLE, "batch_size": 2},
        {"readings": TABLE, "minimise": True, "noise_var": 0.5},
        {"readings": TABLE, "contexts": {"columns": [1, 2]}, "batch_size": 2},
        {"readings": TABLE, "contexts": {"clock": 7, "parts": 3}, "noise_var": 0.1},
    ],
    "gpbandits/MarkovGP-v0": [
        {"grid": [6, 5], "batch_size": 3, "epsilon": 0.1},
        {"grid": [40, 40], "epsilon": 0.1, "kernel": {"type": "matern52", "lengthscale": 0.2}},
    ],
    "gpbandits/Drifting-v0": [
        {"grid": [6], "drift": {"type": "change-points", "times": [3], "rate": 0.2}},
        {"grid": [6, 5], "drift": {"type": "seasonal", "period": 7}, "batch_size": 2},
        {"function": "ackley", "dim": 3, "motion": {"type": "orbit"}, "batch_size": 2},
        {"function": "camelback", "grid": [9, 9], "low": [-3, -2], "high": [3, 2]},
        {"function": "rosenbrock", "grid": [5, 4], "sweep": 7.5, "batch_size": 2},
    ],
    "gpbandits/Contextual-v0": [
        {"grid": [5], "contexts": 3, "batch_size": 2},
        {"grid": [6], "contexts": {"clock": 4}, "epsilon": 0.1},
        {"grid": [4], "contexts": {"box": [[0.0], [1.0]]}},
        {
            "box": [[0.0], [1.0]],
            "contexts": [2],
            "sequence": [0, 1, 1],
            "kernel": SMOOTH,
        },
    ],
    "gpbandits/Replay-v0": [
        {**REPEATED, "batch_size": 2, "noise_var": 0.1},
        {**REPEATED, "columns": [0, 3, 4], "starts": list(range(10))},
        {**REPEATED, "contexts": {"clock": 7, "parts": 3}, "starts": [0, 4]},
        {**REPEATED, "contexts": {"columns": [1, 2]}, "noise_var": 0.1},
    ],
    "gpbandits/Task-v0": [
        {"task": "ackley", "box": [[-5.0] * 3, [5.0] * 3], "batch_size": 2, "noise_var": 0.1},
        {"task": "rosenbrock", "grid": [7, 6], "scaled": True, "noise_var": 0.1},
    ],
    "gpbandits/HighDim-v0": [
        {"function": "schwefel-1.2", "dim": 7, "shift": True, "batch_size": 2, "noise_var": 0.1},
        {"function": "camelback", "dim": 9, "motion": {"type": "orbit", "radius": 0.2}},
        {"function": "michalewicz", "dim": 6, "active": 3, "shift": True, "noise_var": 0.1},
    ],
}
IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))
CASES = [(name, kwargs) for name in IDS for kwargs in EXAMPLES.get(name, [{}])]
# Every environment once more, with actions that can be skipped.
SELECTIVE = [
    (name, {**EXAMPLES.get(name, [{}])[0], "selective": True, "batch_size": 3}) for name in IDS
]
# And once more, with rewards that arrive late or never.
LATE = {"delay": {"least": 0, "most": 3, "lost": 0.2}}
DELAYED = [(name, {**EXAMPLES.get(name, [{}])[0], "batch_size": 2, **LATE}) for name in IDS]
# And once more, with an adversary whose budget is used up within the laws' rounds.
ATTACKS = [
    {"type": "clipping", "budget": 4.0, "height": 0.2},
    {"type": "flipping", "budget": 9.0},
    {"type": "subtraction", "budget": 3.0, "height": 2.0},
    {"type": "top-k", "budget": 9.0, "k": 2},
]
CORRUPTED = [
    (
        "gpbandits/MarkovGP-v0",
        {"grid": [6, 5], "epsilon": 0.1, "batch_size": 3, "selective": True, "corruption": attack},
    )
    for attack in ATTACKS
]
CORRUPTED += [
    (name, {**EXAMPLES[name][0], "corruption": {"type": "flipping", "budget": 50.0}, **LATE})
    for name in ("gpbandits/Task-v0", "gpbandits/Contextual-v0")
]

# And with a clock, where there are no contexts.
CLOCKED = [
    (name, {**EXAMPLES.get(name, [{}])[0], "clock": {"evaluation": 0.25, "thinking": [0.5, 0.01]}})
    for name in IDS
    if name != "gpbandits/Contextual-v0"
]


def label(case):
    name, kwargs = case
    return name.split("/")[1] + "-" + "-".join(k for k in kwargs if k != "readings")


@pytest.fixture(params=CASES, ids=label)
def case(request):
    return request.param


EVERY = CASES + SELECTIVE + DELAYED + CORRUPTED + CLOCKED


@pytest.fixture(params=EVERY, ids=label)
def any_case(request):
    return request.param


@pytest.fixture(params=DELAYED, ids=label)
def delayed(request):
    return request.param


@pytest.fixture(params=CLOCKED, ids=label)
def clocked(request):
    return request.param


@pytest.fixture(params=SELECTIVE, ids=label)
def selective(request):
    return request.param


def make(case, **more):
    name, kwargs = case
    return gym.make(name, **{**kwargs, **more})


def vector(case, mode, num_envs=3, **more):
    name, kwargs = case
    return gym.make_vec(name, num_envs, vectorization_mode=mode, **{**kwargs, **more})


def actions_for(space, rounds, seed=0):
    space.seed(seed)
    return [space.sample() for _ in range(rounds)]


def play(env, actions):
    return [env.step(action) for action in actions]


def same(a, b):
    return data_equivalence(a, b, exact=True)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(episodes, "AHEAD", 2 * AHEAD)  # for batches of two actions
    monkeypatch.setattr(contexts, "BLOCK", AHEAD)


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    """To arrange a picture takes most of its time; tests/envs/test_rendering.py looks at those."""
    monkeypatch.setitem(drawing.FIGURE, "layout", "none")
    monkeypatch.setitem(drawing.FIGURE, "dpi", 20)


@pytest.fixture(scope="session", name="make")
def maker():
    return make


@pytest.fixture(scope="session", name="vector")
def vector_maker():
    return vector


@pytest.fixture(scope="session", name="actions_for")
def action_maker():
    return actions_for


@pytest.fixture(scope="session", name="play")
def player():
    return play


@pytest.fixture(scope="session", name="same")
def equality():
    return same


@pytest.fixture(scope="session")
def shown():
    """A grid and a box."""
    return [case for case in CASES if case[0] == "gpbandits/StaticGP-v0"][::2]


@pytest.fixture(scope="session")
def pictured(shown):
    """The other cases, and one with skipped and one with late rewards, which are drawn alike."""
    return [case for case in CASES if case not in shown] + [SELECTIVE[0], DELAYED[0]]


@pytest.fixture(scope="session")
def past_a_block():
    """More rounds than noise is drawn ahead for."""
    return AHEAD + 5


@pytest.fixture(scope="session")
def environments():
    """One of each case, and three side by side, after a step, which fills what is cached."""
    made = [new for case in CASES for new in (make(case), vector(case, "vector_entry_point"))]
    for env in made:
        env.reset(seed=0)
        env.step(env.action_space.sample())
    return [env.unwrapped for env in made]

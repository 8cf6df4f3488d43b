"""The specification of an environment as JSON: objects survive as their declarations."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.domains import Arms, Box
from gpbandits_env.envs.clock import Clock
from gpbandits_env.envs.delays import Delays
from gpbandits_env.envs.wrappers import ResetOptions
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.temporal import PeriodicTime
from gpbandits_env.rewards.drift import Blend, MarkovDrift, Seasonal, TemporalDrift
from gpbandits_env.rewards.functions import MOTIONS

UNEVEN = Arms(
    np.array([[x, y] for x in (0.0, 0.1, 1.0) for y in (0.0, 2.0)]),
    (np.array([0.0, 0.1, 1.0]), np.array([0.0, 2.0])),
)
ORBIT = MOTIONS.from_dict({"type": "orbit", "radius": 0.2})
BLEND = Blend((MarkovDrift(0.1), Seasonal(7)))
CASES = [
    ("StaticGP", {"grid": [4, 3], "kernel": Matern52(0.2) + SquaredExponential((0.3, 0.1))}),
    ("StaticGP", {"grid": Arms.grid((4, 3), 1.0, 2.0)}),
    ("StaticGP", {"arms": UNEVEN}),
    ("StaticGP", {"arms": Arms(np.array([0.0, 0.3, 1.0])), "delay": Delays(least=1, most=2)}),
    ("StaticGP", {"box": Box(0.0, 1.0)}),
    ("StaticGP", {"grid": [4], "clock": Clock(thinking=(0.1, 0.2))}),
    ("Drifting", {"grid": [5], "drift": BLEND}),
    ("Drifting", {"grid": [5], "drift": TemporalDrift(PeriodicTime(7.0))}),
    ("Drifting", {"function": "camelback", "motion": ORBIT, "box": Box([-3.0, -3.0], [3.0, 3.0])}),
    ("Contextual", {"grid": [5], "contexts": Arms(np.array([[0.0], [0.7]]))}),
    ("Contextual", {"grid": [5], "contexts": Box(0.0, 1.0)}),
    ("Table", {"contexts": {"clock": 24, "parts": 3}, "context_kernel": Matern52(0.5)}),
    ("Task", {"task": "camelback", "box": Box([-2.0] * 2, [2.0] * 2), "kernel": Matern52(0.2)}),
    ("HighDim", {"dim": 4, "kernel": Matern52(0.2), "motion": ORBIT}),
]


def rewards(env):
    env.reset(seed=3)
    if isinstance(env, gym.vector.VectorEnv):
        action = np.array([env.single_action_space.sample()] * env.num_envs)
    else:
        action = env.action_space.sample()
    again = np.zeros_like(action)
    return [np.array(env.step(again)[0]["rewards"]).tolist() for _ in range(5)]


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_objects_survive_json(name, given):
    env = gym.make(f"gpbandits/{name}-v0", **given)
    spec = EnvSpec.from_json(env.spec.to_json())
    assert spec == env.spec
    copy = gym.make(spec)
    ours, theirs = env.unwrapped.problem, copy.unwrapped.problem
    for part in ("domain", "kernel", "contexts", "epsilon", "temporal", "noise_var", "max_delay"):
        assert getattr(theirs, part) == getattr(ours, part)
    assert copy.observation_space == env.observation_space
    assert rewards(copy) == rewards(env)


def test_objects_of_a_vector_environment_survive_json():
    given = {"grid": Arms.grid(5), "kernel": Matern52(0.2), "autoreset_mode": "SameStep"}
    envs = gym.make_vec("gpbandits/StaticGP-v0", 3, **given)
    copy = gym.make_vec(EnvSpec.from_json(envs.spec.to_json()), vectorization_mode=None)
    assert copy.problem == envs.problem
    assert copy.autoreset_mode is AutoresetMode.SAME_STEP
    assert rewards(copy) == rewards(envs)


def test_objects_in_wrappers_survive_json():
    env = gym.make("gpbandits/StaticGP-v0", grid=[5])
    env = ResetOptions(env, {"kernel": Matern52(0.7)})
    copy = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert rewards(copy) == rewards(env)


def test_a_function_is_not_json():
    env = gym.make("gpbandits/Drifting-v0", grid=[5], drift=lambda f, fresh, t, rng: f)
    with pytest.raises(TypeError, match="not JSON serializable"):
        env.spec.to_json()


def test_wrong_declarations_of_domains_are_errors():
    with pytest.raises(UnknownName, match="no domain named 'boxx'; did you mean 'box'"):
        gym.make("gpbandits/StaticGP-v0", box={"type": "boxx", "low": [0.0], "high": [1.0]})
    with pytest.raises(InvalidInput, match=r"domain 'box': .*'high'"):
        gym.make("gpbandits/StaticGP-v0", box={"type": "box", "low": [0.0]})

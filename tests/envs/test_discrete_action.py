"""One arm per round is a number, as RL libraries expect; an array of one is accepted as before."""

import pickle
import re

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiDiscrete
from gymnasium.utils.env_checker import check_env, data_equivalence

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput

STATIC = {"id": "gpbandits/StaticGP-v0", "grid": [7], "max_episode_steps": 5}


def discrete(**more):
    return gym.make(**{**STATIC, **more})


def test_one_arm_is_a_number_and_the_same_step():
    env, bare = discrete(), discrete()
    assert env.action_space == Discrete(7)
    check_env(env.unwrapped, skip_render_check=True)
    for action in (3, np.int64(3), np.array(3), np.array([3]), [3]):
        env.reset(seed=0), bare.reset(seed=0)
        assert data_equivalence(env.step(action), bare.step([3]), exact=True)
    for bad in (7, -1, 0.5, None, "3", np.array(0.5), [1, 2], True):
        before = pickle.dumps(env.unwrapped)
        with pytest.raises(InvalidInput):
            env.unwrapped.step(bad)
        assert pickle.dumps(env.unwrapped) == before


@pytest.mark.parametrize("name", ["gp-ucb", "random"])
def test_an_agent_learns_from_the_number_as_from_an_array_of_one(name):
    env = discrete()
    env.reset(seed=0)
    one, other = (agents.make(name, env, seed=0) for _ in range(2))
    for arm in (3, np.int64(4), np.array(3)):
        rewards = env.step(arm)[0]["rewards"]
        one.tell(arm, rewards), other.tell([int(arm)], rewards)
        assert one.ask() == other.ask()
    batch = agents.make(name, discrete(batch_size=2), seed=0)
    batch.tell(3, rewards)  # as [3]: fewer actions than a round has
    with pytest.raises(InvalidInput, match="whole numbers"):
        one.tell(True, rewards)


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_instances_side_by_side_take_one_number_each(mode):
    envs, same = (gym.make_vec(num_envs=3, vectorization_mode=mode, **STATIC) for _ in range(2))
    assert envs.action_space == MultiDiscrete([7] * 3)
    envs.reset(seed=0), same.reset(seed=0)
    for _ in range(8):
        actions = envs.action_space.sample()
        expected = same.step(actions[:, None])
        assert data_equivalence(envs.step(actions), expected, exact=True)


@pytest.mark.parametrize("wrong", [[1, 2], [[1, 2, 3]], 1])
def test_too_few_numbers_are_told_the_shape_of_the_action_space(wrong):
    envs = gym.make_vec(num_envs=3, vectorization_mode="vector_entry_point", **STATIC)
    envs.reset(seed=0)
    shapes = re.escape(f"shape {envs.action_space.shape}, got {np.shape(wrong)}")
    with pytest.raises(InvalidInput, match=shapes):
        envs.step(wrong)


@pytest.mark.parametrize("mode", [None, "sync", "vector_entry_point"])
def test_our_agents_play_there_too(mode):
    env = discrete()
    if mode is not None:
        env = gym.make_vec(num_envs=3, vectorization_mode=mode, **STATIC)
    agent = agents.make("gp-ucb", env, seed=0)
    observation, _ = env.reset(seed=0)
    for _ in range(5):
        observation, *_ = env.step(agent.predict(observation)[0])
    assert agent.round == 4


def test_a_selective_environment_may_have_them_as_well():
    env, bare = discrete(selective=True), discrete(selective=True)
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=0), bare.reset(seed=0)
    assert data_equivalence(env.step((3, [0])), bare.step(([3], [0])), exact=True)


@pytest.mark.parametrize("kwargs", [{"batch_size": 2}, {"grid": None, "box": [[0.0], [1.0]]}])
def test_several_arms_or_points_are_no_number(kwargs):
    assert not isinstance(discrete(**kwargs).action_space, Discrete)

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import gpbandits_env  # noqa: F401
from gpbandits_env.envs import BanditVectorEnv
from gpbandits_env.envs.gp import StaticGPVector
from gpbandits_env.errors import InvalidInput, NotReset, UnknownName


@pytest.fixture
def env():
    made = StaticGPVector(3, max_episode_steps=4, grid=[5, 5], batch_size=2)
    made.reset(seed=0)
    return made


def test_made_by_gymnasium_with_the_registered_horizon():
    made = gym.make_vec("gpbandits/StaticGP-v0", num_envs=2, grid=[4])
    assert isinstance(made.unwrapped, BanditVectorEnv)
    assert made.unwrapped.problem.horizon == 1000
    again = gym.make_vec(made.spec)
    assert again.num_envs == 2
    assert again.unwrapped.problem == made.unwrapped.problem
    assert StaticGPVector(2, max_episode_steps=-1, grid=4).problem.horizon is None


def test_infos_of_some_worlds_carry_masks(env):
    for _ in range(4):
        *_, truncated, info = env.step(np.zeros((3, 2), int))
    assert truncated.all()
    assert info["_noiseless_rewards"].all()
    *_, info = env.step(np.zeros((3, 2), int))
    assert info == {}
    env.step(np.zeros((3, 2), int))
    env.reset(options={"reset_mask": np.array([True, False, True])})
    for _ in range(3):
        *_, truncated, _ = env.step(np.zeros((3, 2), int))
    assert truncated.tolist() == [False, True, False]
    observation, rewards, _, truncated, info = env.step(np.zeros((3, 2), int))
    assert truncated.tolist() == [True, False, True]
    assert observation["round"].ravel().tolist() == [4, 0, 4]
    assert info["_regret"].tolist() == [True, False, True]
    assert rewards[1] == info["optimum"][1] == 0.0


def test_writing_into_what_was_returned_changes_no_episode(env):
    for t in range(1, 4):
        observation, rewards, terminated, truncated, _ = env.step(np.zeros((3, 2), int))
        assert observation["round"].ravel().tolist() == [t] * 3
        observation["round"][:], rewards[:], terminated[:], truncated[:] = 9, 9.0, True, True


def test_a_bad_action_changes_nothing(env):
    before = pickle.dumps(env)
    for bad in (
        np.zeros((2, 2), int),
        np.zeros((3, 2)),
        np.full((3, 2), 25),
        np.full((3, 2), -1),
        np.zeros((6,), int),
        None,
    ):
        with pytest.raises(InvalidInput):
            env.step(bad)
    assert pickle.dumps(env) == before


def test_bad_resets_change_nothing(env):
    before = pickle.dumps(env)
    for mask in ([True], np.zeros(3, bool), np.ones(3, int), np.ones((3, 1), bool)):
        with pytest.raises(InvalidInput, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(InvalidInput, match="a number or a list of 3"):
        env.reset(seed=[1, 2])
    with pytest.raises(gym.error.Error):
        env.reset(seed=[1, 2, -3])
    with pytest.raises(UnknownName):
        env.reset(options={"mask": None})
    assert pickle.dumps(env) == before


def test_some_worlds_cannot_be_first():
    fresh = StaticGPVector(2, grid=4)
    with pytest.raises(NotReset, match="all instances"):
        fresh.reset(options={"reset_mask": np.array([True, False])})


@pytest.mark.parametrize("kwargs", [{"num_envs": 0}, {"num_envs": 2, "max_episode_steps": 0}])
def test_sizes_are_checked(kwargs):
    with pytest.raises(InvalidInput):
        StaticGPVector(**kwargs, grid=4)


def test_seeds_and_generators_are_those_of_the_worlds(env):
    assert env.np_random_seed == (0, 1, 2)
    env.reset(seed=[5, None, 7])
    assert env.np_random_seed == (5, 1, 7)
    assert len({rng.random() for rng in env.np_random}) == 3


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
def test_other_autoreset_modes_are_arguments_of_the_vector_environment(mode):
    made = gym.make_vec("gpbandits/StaticGP-v0", 2, grid=[4], autoreset_mode=mode)
    assert made.autoreset_mode is made.metadata["autoreset_mode"] is mode
    again = gym.make_vec("gpbandits/StaticGP-v0", 2, grid=[4], autoreset_mode=mode.value)
    assert again.autoreset_mode is mode
    assert BanditVectorEnv.metadata is not made.metadata
    with pytest.raises(InvalidInput, match="vector_kwargs"):
        gym.make_vec(
            "gpbandits/StaticGP-v0", 2, vectorization_mode="sync", grid=[4], autoreset_mode=mode
        )
    with pytest.raises(UnknownName, match="did you mean 'SameStep'"):
        gym.make_vec("gpbandits/StaticGP-v0", 2, autoreset_mode="same")


def test_where_autoreset_is_disabled_what_is_over_must_be_reset():
    env = StaticGPVector(2, max_episode_steps=1, grid=4, autoreset_mode="Disabled")
    env.reset(seed=0)
    actions = np.zeros((2, 1), int)
    assert env.step(actions)[3].all()
    env.reset(options={"reset_mask": np.array([True, False])})
    before = pickle.dumps(env)
    with pytest.raises(NotReset, match=r"instances \[1\] are over"):
        env.step(actions)
    assert pickle.dumps(env) == before
    env.reset(options={"reset_mask": np.array([False, True])})
    assert env.step(actions)[0]["round"].tolist() == [[1], [1]]

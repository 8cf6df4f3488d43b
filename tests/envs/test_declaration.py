"""What follows from the declaration of an environment's arguments."""

import inspect
from dataclasses import fields

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import load_env_creator
from gymnasium.utils.env_checker import check_env

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.envs import BanditEnv, BanditVectorEnv
from gpbandits_env.envs.table import example_readings
from gpbandits_env.errors import InvalidInput, UnknownArgument, UnknownName

IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))


@pytest.fixture(params=IDS)
def maker(request):
    return load_env_creator(gym.spec(request.param).entry_point)


def test_every_argument_is_explained(maker):
    """In the docstrings of its classes, where the page of the environment reads it."""
    said = "".join(inspect.getdoc(cls) or "" for cls in maker.arguments.__mro__)
    for field in fields(maker.arguments):
        assert f"\n    {field.name}: " in said, field.name


def test_what_is_not_declared_is_refused_with_the_nearest_name(maker):
    for make in (maker, maker.vector):
        with pytest.raises(UnknownName, match="did you mean 'noise_var'"):
            make(noise_vra=0.1)
        with pytest.raises(UnknownName, match="did you mean 'selective'"):
            make(selectiv=True)
        # torchrl reads these words of a TypeError, and leaves its own argument out.
        with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
            make(frameskip=1)


def test_gymnasium_adds_no_arguments_to_the_message():
    with pytest.raises(
        UnknownArgument, match=r"did you mean .* \(the nearest of [0-9]+: [a-z_, ]*\)$"
    ):
        gym.make("gpbandits/Table-v0", readings=[[0.0] * 9] * 99, noise_vra=0.1)


def test_types_are_checked(maker):
    with pytest.raises(InvalidInput, match="noise_var must be a number, got '1'"):
        maker(noise_var="1")


@pytest.mark.parametrize("id", IDS)
def test_every_environment_is_made_without_arguments(id):
    """Tools that go through Gymnasium's registry need no list of exceptions."""
    env = gym.make(id)
    check_env(env.unwrapped, skip_render_check=True)
    assert gym.make(env.spec).unwrapped.problem.batch_size == 1
    gym.make_vec(id, 2).reset(seed=0)


def test_the_example_readings_are_always_the_same_and_their_best_arm_moves():
    env = gym.make("gpbandits/Replay-v0")
    best = []
    env.reset(seed=0)
    for _ in range(48):
        best.append(env.step([0])[-1]["best_action"])
    assert len(set(best)) == 8
    assert np.array_equal(example_readings(), example_readings())


def test_a_maker_makes_one_or_many():
    maker = load_env_creator(gym.spec("gpbandits/StaticGP-v0").entry_point)
    assert type(maker(grid=4)) is BanditEnv
    many = maker.vector(3, max_episode_steps=2, grid=4)
    assert (type(many), many.num_envs, many.problem.horizon) == (BanditVectorEnv, 3, 2)
    # Gymnasium reads the render modes off it, and wraps what does not know "human" or lists.
    env = gym.make("gpbandits/StaticGP-v0", grid=4, render_mode="rgb_array_list")
    env.reset(seed=0)
    assert len(env.render()) == 1

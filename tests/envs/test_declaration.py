"""What follows from the declaration of an environment's arguments."""

import inspect
from dataclasses import fields

import gymnasium as gym
import pytest
from gymnasium.envs.registration import load_env_creator

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.envs import BanditEnv, BanditVectorEnv
from gpbandits_env.errors import InvalidInput, UnknownName

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


def needs_readings(maker):
    return any(field.name == "readings" for field in fields(maker.arguments))


def test_types_are_checked(maker):
    with pytest.raises(InvalidInput, match="noise_var must be a number, got '1'"):
        maker(noise_var="1", **({"readings": [[0.0]]} if needs_readings(maker) else {}))


def test_what_is_missing_is_named():
    for name in ("gpbandits/Table-v0", "gpbandits/Replay-v0"):
        with pytest.raises(InvalidInput, match="needs the argument 'readings'"):
            gym.make(name)


def test_a_maker_makes_one_or_many():
    maker = load_env_creator(gym.spec("gpbandits/StaticGP-v0").entry_point)
    assert type(maker(grid=4)) is BanditEnv
    many = maker.vector(3, max_episode_steps=2, grid=4)
    assert (type(many), many.num_envs, many.problem.horizon) == (BanditVectorEnv, 3, 2)
    # Gymnasium reads the render modes off it, and wraps what does not know "human" or lists.
    env = gym.make("gpbandits/StaticGP-v0", grid=4, render_mode="rgb_array_list")
    env.reset(seed=0)
    assert len(env.render()) == 1

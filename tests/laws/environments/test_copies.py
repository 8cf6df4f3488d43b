"""Every registered environment can be copied in the middle of an episode, which then continues."""

import copy
import pickle

import numpy as np
import pytest


def pickled(env):
    return pickle.loads(pickle.dumps(env))


# A vector environment is only pickled: a deep copy takes the same state.
WAYS = {"pickle": ("single", pickled), "deepcopy": ("single", copy.deepcopy)}
WAYS["vector"] = ("vector", pickled)


@pytest.fixture(params=WAYS.values(), ids=WAYS.keys())
def way(request):
    return request.param


@pytest.fixture
def copied(way):
    return way[1]


@pytest.fixture
def new(way, make, vector, any_case, past_a_block):
    """Makes environments of a case; those of the vector end an episode before the last action."""
    if way[0] == "single":
        return lambda: make(any_case)
    return lambda: vector(any_case, "vector_entry_point", max_episode_steps=past_a_block - 2)


def overwrite(value):
    """Change the arrays that an environment returned."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        value[...] = 0
    elif isinstance(value, (dict, tuple, list)):
        for item in value.values() if isinstance(value, dict) else value:
            overwrite(item)


def test_a_copy_continues_the_very_run(new, copied, actions_for, play, same, past_a_block):
    """After the reset, in the middle of a block of noise, and beyond it; and in a copy's copy."""
    env = new()
    actions = actions_for(env.action_space, past_a_block)
    steps, copies = [env.reset(seed=6)], {}
    for t, action in enumerate(actions):
        if t in (0, 1, 7):
            copies[t] = copied(env)
        steps += play(env, [action])
    after = [env.reset(), *play(env, actions[:5])]
    copies[9] = copied(copies[7])
    assert same(steps[8:10], play(copies[9], actions[7:9]))
    for t, each in copies.items():
        assert each.unwrapped.np_random_seed == seeds_of(env, 6)
        assert same(steps[t + 1 :], play(each, actions[t:]))
        assert same(after, [each.reset(), *play(each, actions[:5])])


def seeds_of(env, seed):
    """The seed of an environment, or those of the instances of a vector environment."""
    return tuple(seed + i for i in range(env.num_envs)) if hasattr(env, "num_envs") else seed


def test_a_copy_and_its_original_are_independent(new, copied, actions_for, play, same):
    """Whatever is done with one of them does not change how the other continues."""
    env, alone = new(), new()
    actions = actions_for(env.action_space, 14)
    alone.reset(seed=9)
    rest = [*play(alone, actions), alone.reset(), *play(alone, actions[:3])][5:]
    env.reset(seed=9)
    play(env, actions[:5])
    first, second = copied(env), copied(env)
    overwrite([*play(first, actions[::-1]), first.reset(seed=1), *play(first, actions[:3])])
    assert same(rest, [*play(env, actions[5:]), env.reset(), *play(env, actions[:3])])
    assert same(rest, [*play(second, actions[5:]), second.reset(), *play(second, actions[:3])])

"""One property times every registered environment: what an episode shows."""

from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, product

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from matplotlib.backend_bases import FigureCanvasBase


def test_gymnasiums_checker_has_nothing_to_say(make, shown, any_case, monkeypatch):
    """It draws a grid and a box in all modes, without the pauses of a window; the others below."""
    monkeypatch.setattr(FigureCanvasBase, "start_event_loop", lambda self, timeout: None)
    check_env(make(any_case).unwrapped, skip_render_check=any_case not in shown)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_render_mode_changes_nothing_else(make, actions_for, same, pictured, any_case, mode):
    env, plain = make(any_case, render_mode=mode), make(any_case)
    assert same(env.reset(seed=7), plain.reset(seed=7))
    for action in actions_for(env.action_space, 3):
        assert same(env.step(action), plain.step(action))
    if any_case in pictured:
        picture = env.render()
        assert isinstance(picture, str) if mode == "ansi" else picture.dtype == np.uint8


def test_no_key_hides_a_method_of_a_mapping(make, vector, any_case):
    """Libraries turn infos into objects with attributes, e.g. tianshou's `Batch`."""
    taken = {*dir(dict), *dir(MutableMapping), *dir(np.ndarray)} - {"round"}  # of observations
    for env in (make(any_case), vector(any_case, "vector_entry_point")):
        env.reset(seed=0)
        observation, *_, info = env.step(env.action_space.sample())
        assert info
        assert not {*observation, *info} & taken


def test_the_id_works_without_an_import(case):
    name, kwargs = case
    assert gym.make(f"gpbandits_env:{name}", **kwargs).spec.id == name


def test_the_seed_decides_everything(make, actions_for, play, same, past_a_block, any_case):
    a, b = make(any_case), make(any_case)
    actions = actions_for(a.action_space, past_a_block)
    assert same(a.reset(seed=7), b.reset(seed=7))
    first = play(a, actions)
    assert same(first, play(b, actions))
    a.reset(seed=7)
    assert same(first, play(a, actions))
    # Without a seed the next episode is another one (of a small table, some may be the same).
    assert not all(same(first, (a.reset(), play(a, actions))[1]) for _ in range(6))


def test_two_in_two_threads_do_as_alone(make, actions_for, play, same, case, short_turns):
    actions = actions_for(make(case).action_space, 10)

    def episode(seed):
        env = make(case)
        return env.reset(seed=seed), play(env, actions)

    alone = [episode(seed) for seed in (7, 8)]
    with ThreadPoolExecutor(2) as pool:
        assert same(alone, list(pool.map(episode, (7, 8))))


def test_observation_reward_and_info_agree(make, actions_for, case):
    env = make(case)
    observation, info = env.reset(seed=1)
    assert info == {}
    assert observation["round"].tolist() == [0]
    assert not observation["rewards"].any()
    total, smallest = 0.0, np.inf
    for t, action in enumerate(actions_for(env.action_space, 20), start=1):
        observation, reward, terminated, truncated, info = env.step(action)
        assert (terminated, truncated) == (False, False)
        assert observation in env.observation_space
        assert observation["round"].tolist() == [t]
        assert np.array_equal(observation["actions"], np.atleast_1d(action))
        assert type(reward) is float
        assert reward == np.add.reduce(observation["rewards"])
        assert np.array_equal(info["regret"], info["optimum"] - info["noiseless_rewards"])
        total, smallest = total + info["regret"].sum(), min(smallest, info["regret"].min())
        assert info["cumulative_regret"] == pytest.approx(total, rel=1e-12)
        assert info["simple_regret"] == smallest
        if isinstance(info["best_action"], int):
            assert (info["regret"] >= 0).all()
        else:
            assert (info["regret"] >= -env.unwrapped.function.accuracy).all()


def test_playing_the_best_action_has_no_regret(make, actions_for, case):
    """A first run reads where each round's optimum is; its twin plays there."""
    scout, env = make(case), make(case)
    scout.reset(seed=2)
    env.reset(seed=2)
    m = env.unwrapped.problem.batch_size
    for anything in actions_for(scout.action_space, 12):
        best = scout.step(anything)[-1]["best_action"]
        regret = env.step(np.stack([best] * m))[-1]["regret"]
        assert np.abs(regret).max() <= env.unwrapped.function.accuracy


def test_the_noise_has_the_stated_variance(make, actions_for, play, case):
    env = make(case, batch_size=4, max_episode_steps=-1)
    env.reset(seed=3)
    steps = play(env, actions_for(env.action_space, 300))
    noise = np.array([step[0]["rewards"] - step[-1]["noiseless_rewards"] for step in steps])
    sd = np.sqrt(env.unwrapped.bandit.noise_var)
    assert abs(noise.mean()) <= 4 * sd / np.sqrt(noise.size)
    assert abs(noise.std() - sd) <= 4 * sd / np.sqrt(2 * noise.size)


def parts(data):
    """The arrays and the containers of an observation or an info."""
    if isinstance(data, (dict, list, np.ndarray)):
        yield data
    if isinstance(data, (dict, list, tuple)):
        for value in data.values() if isinstance(data, dict) else data:
            yield from parts(value)


def share_objects(a, b):
    """Whether two of them have a container or the memory of an array in common."""
    return any(
        x is y
        or (isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and np.shares_memory(x, y))
        for x, y in product(parts(a), parts(b))
    )


def test_nothing_returned_is_shared(make, vector, actions_for, play, case):
    for env in (make(case), vector(case, "vector_entry_point", max_episode_steps=3)):
        actions = actions_for(env.action_space, 5)
        calls = [env.reset(seed=4)]
        calls += [(step[0], step[-1]) for step in play(env, actions)]
        calls.append(env.reset(seed=4))
        for (a, x), (b, y) in combinations(calls, 2):
            assert not share_objects(a, b)
            assert not share_objects(x, y)
        assert not any(np.shares_memory(c[0]["actions"], a) for c in calls for a in actions)


def test_writing_into_what_was_returned_changes_nothing(make, actions_for, same, case):
    a, b = make(case), make(case)
    a.reset(seed=5), b.reset(seed=5)
    for action in actions_for(a.action_space, 10):
        theirs = np.atleast_1d(action).copy()
        x, y = a.step(theirs), b.step(action)
        assert same(x, y)
        theirs[:] = 0
        for array in (*x[0].values(), *x[-1].values()):
            if isinstance(array, np.ndarray):
                array[...] = 0


def test_the_spec_survives_json(make, actions_for, play, same, case):
    env = make(case, max_episode_steps=9)
    spec = EnvSpec.from_json(env.spec.to_json())
    assert spec.kwargs == env.spec.kwargs
    copy = gym.make(spec)
    actions = actions_for(env.action_space, 9)
    env.reset(seed=9), copy.reset(seed=9)
    ours, theirs = play(env, actions), play(copy, actions)
    assert same(ours, theirs)
    assert ours[-1][3] is True

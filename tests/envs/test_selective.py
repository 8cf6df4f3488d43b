"""Skipped actions off the clock, and functions with noise inside."""

import pickle
import time

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from gpbandits_env.domains import Box
from gpbandits_env.envs import Bandit, BanditEnv, BanditVectorEnv
from gpbandits_env.errors import InvalidInput, NotReset
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import Function, StaticProcess


class Parabola(Function):
    """1 - |x|^2, counting what it is asked."""

    calls = 0
    pause = 0.0

    def __init__(self):
        self.optimum, self.best_action, self.accuracy = 1.0, np.zeros(2), 0.0

    def __call__(self, actions):
        Parabola.calls += len(actions)
        time.sleep(self.pause * len(actions))
        return 1.0 - np.square(actions).sum(axis=1)


class Shaken(Parabola):
    """The same, at an action that is not quite the one given."""

    asked = 0

    def noisy(self, actions, rng):
        Shaken.asked += len(actions)
        return 1.0 - np.square(actions + 0.1 * rng.standard_normal(actions.shape)).sum(axis=1)


class Only(StaticProcess):
    def __init__(self, function):
        self.function = function
        self.domain = Box([-1.0, -1.0], [1.0, 1.0])

    def draw(self, rng):
        return self.function

    def bounds(self):
        return -20.0, 1.0


@pytest.fixture
def bandit():
    def make(function=None, noise_var=0.0, m=3):
        process = Only(function or Parabola())
        problem = Problem(process.domain, SquaredExponential(0.5), 0.01, m)
        return Bandit(problem, process, noise_var)

    Parabola.calls, Parabola.pause = 0, 0.0
    return make


BATCH = np.array([[0.1, 0.2], [0.5, -0.5], [-0.3, 0.9]])


def test_a_point_that_is_skipped_again_and_again_is_evaluated_once(bandit):
    env = BanditEnv(bandit(), selective=True)
    env.reset(seed=0)
    Parabola.calls = 0
    for _ in range(10):
        *_, info = env.step((BATCH, [True, False, False]))
        assert np.allclose(
            info["noiseless_rewards"], 1.0 - np.square(BATCH).sum(axis=1), atol=1e-12
        )
    assert Parabola.calls == 10 + 2


def test_only_what_is_observed_is_on_the_clock(bandit):
    Parabola.pause = 0.01
    env = BanditEnv(bandit(), selective=True)
    env.reset(seed=0)
    env.step((BATCH, [False, False, False]))
    assert env.evaluation_seconds == 0.0
    env.step((BATCH, [True, False, True]))
    assert 0.02 <= env.evaluation_seconds < 0.2
    before = env.evaluation_seconds
    env.step((BATCH, [True, True, True]))
    assert env.evaluation_seconds >= before + 0.03
    env.reset(seed=0)
    assert env.evaluation_seconds == 0.0


def test_noise_inside_replaces_the_value_and_the_bandits_noise_is_added(bandit):
    quiet, loud = BanditEnv(bandit(Shaken())), BanditEnv(bandit(Shaken(), 0.04))
    quiet.reset(seed=1), loud.reset(seed=1)
    batch = np.zeros((3, 2))
    first, second = (
        np.array([env.step(batch)[0]["rewards"] for _ in range(700)]) for env in (quiet, loud)
    )
    # At the top, 1 - 0.01 chi^2_2: mean 0.98, variance 4e-4; then with N(0, 0.04) added.
    assert first.mean() == pytest.approx(0.98, abs=4 * 0.02 / np.sqrt(first.size))
    assert first.var() == pytest.approx(4e-4, rel=0.2)
    assert (second - first).var() == pytest.approx(0.04, rel=0.1)
    assert quiet.step(batch)[-1]["noiseless_rewards"].tolist() == [1.0, 1.0, 1.0]


def test_noise_inside_does_not_depend_on_what_is_skipped(bandit):
    whole, part = (BanditEnv(bandit(Shaken(), 0.01), selective=True) for _ in range(2))
    whole.reset(seed=2), part.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(20):
        mask = rng.random(3) < 0.5
        full = whole.step((BATCH, [1, 1, 1]))[0]["rewards"]
        before = Shaken.asked
        assert np.array_equal(part.step((BATCH, mask))[0]["rewards"], np.where(mask, full, 0.0))
        assert Shaken.asked == before + mask.sum()  # what is skipped costs nothing


def test_noise_inside_is_in_a_copy_and_the_same_side_by_side(bandit):
    single = [BanditEnv(bandit(Shaken(), 0.01)) for _ in range(2)]
    many = BanditVectorEnv(bandit(Shaken(), 0.01), 2, max_episode_steps=7)
    many.reset(seed=3), [env.reset(seed=3 + i) for i, env in enumerate(single)]
    for t in range(5):
        rewards = many.step(np.stack([BATCH, -BATCH]))[0]["rewards"]
        assert np.array_equal(rewards[0], single[0].step(BATCH)[0]["rewards"])
        assert np.array_equal(rewards[1], single[1].step(-BATCH)[0]["rewards"]), t
    for env, batch in ((single[0], BATCH), (many, np.stack([BATCH, BATCH]))):
        other = pickle.loads(pickle.dumps(env))
        rest = [env.step(batch)[0] for _ in range(6)]
        assert data_equivalence(rest, [other.step(batch)[0] for _ in range(6)], exact=True)


def test_prior_data_changes_nothing(bandit):
    a, b = (BanditEnv(bandit(Shaken(), 0.01)) for _ in range(2))
    with pytest.raises(NotReset):
        a.prior_data(BATCH, np.random.default_rng(0))
    a.reset(seed=4), b.reset(seed=4)
    with pytest.raises(InvalidInput):
        a.prior_data(3.0 * BATCH, np.random.default_rng(0))
    rewards, values = a.prior_data(np.concatenate([BATCH, BATCH]), np.random.default_rng(0))
    assert np.allclose(values[:3], 1.0 - np.square(BATCH).sum(axis=1))
    assert len(set(np.round(rewards - values, 12))) == 6
    assert data_equivalence(a.step(BATCH), b.step(BATCH), exact=True)


def test_text_and_pictures_show_what_was_observed():
    kwargs = {"grid": [30], "selective": True, "batch_size": 2}
    env = gym.make("gpbandits/StaticGP-v0", render_mode="ansi", **kwargs)
    env.reset(seed=0)
    env.step((np.array([3, 4]), [False, True]))
    assert "actions 4 |" in env.render()
    env.step((np.array([3, 4]), [False, False]))
    assert "nothing observed" in env.render()
    env = gym.make("gpbandits/StaticGP-v0", render_mode="rgb_array", **kwargs)
    env.reset(seed=0)
    env.step((np.array([3, 4]), [False, False]))
    assert env.render().shape[2] == 3


@pytest.mark.parametrize("several", [False, True])
def test_the_reward_of_a_skipped_action_never_arrives(bandit, several):
    kind = BanditVectorEnv if several else BanditEnv
    env = kind(bandit(), selective=True, delay=1)
    env.reset(seed=0)
    actions, observe = np.full((3, 2), 0.5), np.array([True, False, True])
    step = (actions[None], observe[None]) if several else (actions, observe)
    info = env.step(step)[-1]
    assert info["delays"].ravel().tolist() == [1, -1, 1]
    for arrived in ([0, 0, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1]):
        assert env.step(step)[0]["arrived"].ravel().tolist() == arrived

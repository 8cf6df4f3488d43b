"""Replay-v0 with contexts: the part of the day, and columns that are observed."""

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.errors import InvalidInput, UnknownName

READINGS = np.random.default_rng(0).normal(size=(30, 5))


def replay(**kwargs):
    env = gym.make("gpbandits/Replay-v0", readings=READINGS.tolist(), **kwargs)
    return env, env.reset(seed=0)[0]


def test_a_clock_tells_the_part_of_the_day_of_each_row():
    env, observation = replay(contexts={"clock": 6, "parts": 3}, train_fraction=0.5)
    for row in range(15, 32):  # the test rows 15..29, then the first of them again
        own = row if row < 30 else row - 15
        assert observation["context"].tolist() == [own % 6 // 2]
        observation, *_, info = env.step([2])
        assert info["noiseless_rewards"][0] == READINGS[own, 2]
        assert info["optimum"] == READINGS[own].max()


def test_columns_that_are_contexts_are_no_arms():
    env, observation = replay(contexts={"columns": [1, 3]}, train_fraction=0.5)
    assert env.unwrapped.problem.domain.size == 3
    for row in range(15, 30):
        assert observation["context"].tolist() == [READINGS[row, [1, 3]].tolist()]
        observation, *_, info = env.step([1])
        assert info["noiseless_rewards"][0] == READINGS[row, 2]
        assert info["optimum"] == READINGS[row, [0, 2, 4]].max()


def test_the_kernel_is_the_product_of_that_of_the_arms_and_that_of_the_context():
    spec = {"type": "matern52", "lengthscale": 2.0}
    env, _ = replay(contexts={"columns": [4]}, context_kernel=spec, train_fraction=0.5)
    plain, _ = replay(columns=[0, 1, 2, 3], train_fraction=0.5)
    arms, z = np.arange(4.0)[:, None], np.array([[0.1], [0.5], [-0.3], [0.5]])
    kernel, own = env.unwrapped.problem.kernel, plain.unwrapped.problem.kernel
    r = np.sqrt(5.0) * np.abs(z - z.T) / 2.0
    wanted = own(arms) * (1 + r + r**2 / 3) * np.exp(-r)
    np.testing.assert_allclose(kernel(np.hstack([arms, z])), wanted, atol=1e-12)


@pytest.mark.parametrize(
    "contexts",
    [3, {}, {"clock": 6}, {"clock": 1, "parts": 2}, {"columns": [9]}, {"hours": 24}, "clock"],
)
def test_other_contexts_are_refused(contexts):
    with pytest.raises((InvalidInput, UnknownName)):
        replay(contexts=contexts)

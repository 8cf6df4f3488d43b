"""Agents that are told the rounds before the first one."""

import gymnasium as gym
import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

ARMS, KERNEL = Arms.grid(5), SquaredExponential(0.4)
ROWS = np.random.default_rng(0).standard_normal((7, 5))
PROBLEM = Problem(ARMS, KERNEL, 0.1, history=ROWS)
SEASON = {"type": "periodic", "period": 4.0, "harmonics": 1}


@pytest.mark.parametrize("drift", [{}, {"epsilon": 0.2}, {"temporal": SEASON}])
def test_history_is_prior_data_of_earlier_rounds(drift):
    agent = agents.make("gp-ucb", PROBLEM, seed=0, history=3, **drift)
    other = agents.make("gp-ucb", PROBLEM, seed=0, **drift)
    for row in ROWS[-3:]:
        other.prior_data(np.arange(5), row)
        other.wait(1.0)
    assert agent.round == 0
    np.testing.assert_allclose(agent.belief(), other.belief(), atol=1e-12)
    agent.reset()
    assert agent.data.size == 0


@pytest.mark.parametrize("drift", [{}, {"epsilon": 0.2}, {"temporal": SEASON}, {"window": 3}])
def test_data_of_earlier_rounds_may_be_told_by_their_rounds(drift):
    agent = agents.make("gp-ucb", PROBLEM, seed=0, history=3, **drift)
    other = agents.make("gp-ucb", PROBLEM, seed=0, **drift)
    rounds = np.repeat([-2.0, -1.0, 0.0], 5)
    other.prior_data(np.tile(np.arange(5), 3), ROWS[-3:].ravel(), rounds=rounds)
    for one in (agent, other):
        np.testing.assert_array_equal(one.data.rounds, rounds)
        np.testing.assert_array_equal(one.data.times, rounds - 1.0)
    np.testing.assert_allclose(agent.belief(), other.belief(), atol=1e-12)
    before = other.snapshot()["data"]
    for wrong, match in ((np.nan, "finite"), (1.0, "at most 0"), ([0.0, 0.0], "shape")):
        with pytest.raises(InvalidInput, match=match):
            other.prior_data([1], [0.3], rounds=np.atleast_1d(wrong))
    assert other.snapshot()["data"]["ends"] == before["ends"]


def test_a_window_keeps_its_last_rounds():
    agent, last = (
        agents.make("gp-ucb", PROBLEM, seed=0, window=2, history=rows) for rows in (6, 2)
    )
    for size in (10, 6, 2, 2):
        assert agent.posterior.size == size
        np.testing.assert_array_equal(agent.belief(), last.belief())
        for one in (agent, last):
            one.tell([1], [0.3])


def test_it_is_the_training_rows_of_a_replay():
    readings = np.random.default_rng(1).standard_normal((20, 3))
    options = {"readings": readings, "train_fraction": 0.5, "minimise": True}
    known = gym.make("gpbandits/Replay-v0", **options).unwrapped.problem.history
    np.testing.assert_array_equal(known, -readings[:10])
    assert gym.make("gpbandits/Table-v0", **options).unwrapped.problem.history is None


def test_history_that_is_not_known_is_refused():
    with pytest.raises(InvalidInput, match="7 rows"):
        agents.make("gp-ucb", PROBLEM, history=8)
    with pytest.raises(InvalidInput, match="0 rows"):
        agents.make("gp-ucb", Problem(ARMS, KERNEL, 0.1), history=1)
    with pytest.raises(InvalidInput, match="no posterior"):
        agents.make("random", PROBLEM, history=1)
    with pytest.raises(InvalidInput, match="one column per arm"):
        PROBLEM.replaced(history=ROWS[:, :4])

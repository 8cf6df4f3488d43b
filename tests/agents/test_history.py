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


def told(rows, problem=PROBLEM, **settings):
    agent = agents.make("gp-ucb", problem, seed=0, **settings)
    agent.prior_data(**problem.last_rows(rows))
    return agent


@pytest.mark.parametrize("drift", [{}, {"epsilon": 0.2}, {"temporal": SEASON}])
def test_history_is_prior_data_of_earlier_rounds(drift):
    agent = told(3, **drift)
    other = agents.make("gp-ucb", PROBLEM, seed=0, **drift)
    for row in ROWS[-3:]:
        other.prior_data(np.arange(5), row)
        other.wait(1.0)
    assert agent.round == 0
    np.testing.assert_allclose(agent.belief(), other.belief(), atol=1e-12)
    agent.reset()
    assert agent.data.size == 0


@pytest.mark.parametrize("drift", [{}, {"epsilon": 0.2}, {"temporal": SEASON}, {"window": 3}])
def test_data_of_earlier_rounds_have_their_rounds(drift):
    agent, rounds = told(3, **drift), np.repeat([-2.0, -1.0, 0.0], 5)
    np.testing.assert_array_equal(agent.data.rounds, rounds)
    np.testing.assert_array_equal(agent.data.times, rounds - 1.0)
    np.testing.assert_array_equal(agent.data.points, np.tile(np.arange(5), 3))
    np.testing.assert_array_equal(agent.data.rewards, ROWS[-3:].ravel())
    before = agent.snapshot()["data"]
    for wrong, match in ((np.nan, "finite"), (1.0, "at most 0"), ([0.0, 0.0], "shape")):
        with pytest.raises(InvalidInput, match=match):
            agent.prior_data([1], [0.3], rounds=np.atleast_1d(wrong))
    assert agent.snapshot()["data"]["ends"] == before["ends"]


def test_a_window_keeps_its_last_rounds():
    agent, last = (told(rows, window=2) for rows in (6, 2))
    for size in (10, 6, 2, 2):
        assert agent.posterior.size == size
        np.testing.assert_array_equal(agent.belief(), last.belief())
        for one in (agent, last):
            one.tell([1], [0.3])


def test_a_kernel_for_which_time_begins_at_0_is_learned_from_history():
    walk = {"type": "wiener", "rate": 0.1}
    agent = agents.make("gp-ucb", PROBLEM, seed=0, temporal=walk, learn=["temporal"])
    agent.prior_data(**PROBLEM.last_rows(7))
    assert [fit["observations"] for fit in agent.learned] == [35]


def test_it_is_the_training_rows_of_a_replay():
    readings = np.random.default_rng(1).standard_normal((20, 3))
    options = {"readings": readings, "train_fraction": 0.5, "minimise": True}
    known = gym.make("gpbandits/Replay-v0", **options).unwrapped.problem.history
    np.testing.assert_array_equal(known, -readings[:10])
    assert gym.make("gpbandits/Table-v0", **options).unwrapped.problem.history is None


def test_history_that_is_not_known_is_refused():
    with pytest.raises(InvalidInput, match="7 rows"):
        PROBLEM.last_rows(8)
    with pytest.raises(InvalidInput, match="0 rows"):
        Problem(ARMS, KERNEL, 0.1).last_rows(1)
    with pytest.raises(InvalidInput, match="one column per arm"):
        PROBLEM.replaced(history=ROWS[:, :4])


def test_no_data_are_later_than_now():
    """Three rounds took a tenth of a unit of time each; those before them are a unit apart."""
    agent, other = (agents.make("gp-ucb", PROBLEM, seed=0, epsilon=0.2) for _ in range(2))
    for each in (agent, other):
        for t in range(3):
            each.pass_until(0.1 * t, 0.1 * t + 0.1)
            each.tell([t], [0.5])
    agent.prior_data([4, 1], [1.0, -1.0], rounds=[3.0, 0.0])
    other.prior_data([1], [-1.0], rounds=[0.0])
    other.prior_data([4], [1.0])
    np.testing.assert_allclose(agent.belief(), other.belief(), atol=1e-12)

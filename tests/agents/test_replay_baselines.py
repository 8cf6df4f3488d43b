"""Maximum mean, maximum variance and random play, re-derived at every step."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem


def test_max_mean_replays(replay):
    replay("max-mean", lambda t, mean, var, dense: mean)


def test_max_variance_replays_eq_4(replay):
    played = replay("max-variance", lambda t, mean, var, dense: np.sqrt(var), rounds=20)
    assert len(set(played)) > 8


@pytest.mark.parametrize("name", ["max-mean", "max-variance", "gp-ucb", "ei", "mpi"])
def test_ties_go_to_the_lowest_index(world, name):
    # Under a flat prior all arms of the first round tie, in coefficient space but for rounding.
    agent = agents.make(name, world.problem(prior_mean=0.0), posterior="rows")
    assert agent.ask().tolist() == [0]


def test_random_replays_on_arms(world, batch_size):
    agent = agents.make("random", world.problem(), seed=5, batch_size=batch_size)
    rng = np.random.default_rng(5)
    for _ in range(40):
        actions = agent.ask()
        assert np.array_equal(actions, rng.integers(60, size=batch_size))
        agent.tell(actions, world.rewards(actions))


def test_random_replays_in_a_box(batch_size):
    problem = Problem(Box([-1, 0], [1, 9]), SquaredExponential(0.2), 0.1, batch_size=batch_size)
    agent, rng = agents.make("random", problem, seed=5), np.random.default_rng(5)
    for _ in range(40):
        actions = agent.ask()
        assert np.array_equal(actions, rng.uniform([-1, 0], [1, 9], size=(batch_size, 2)))
        agent.tell(actions, np.zeros(batch_size))


def test_random_is_uniform(world):
    arms = agents.make("random", world.problem(), seed=0, batch_size=60_000).ask()
    counts = np.bincount(arms, minlength=60)
    # Chi-squared with 59 degrees of freedom: above 109 with probability 1e-4.
    assert ((counts - 1000) ** 2 / 1000).sum() < 109

"""Observations are conditioned on at their own times, also if several arrive at once."""

import numpy as np

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.problem import Problem

ARMS, KERNEL, EPSILON, NOISE = Arms.grid(8), Matern52(0.4), 0.3, 0.05


def dense(data, now):
    """The mean and the standard deviation at all arms, by the formula."""
    arms, rewards, times = (
        column[: data.size] for column in (data.points, data.rewards, data.times)
    )
    gram = KERNEL(ARMS.points(arms))
    gram *= (1.0 - EPSILON) ** (0.5 * np.abs(np.subtract.outer(times, times)))
    cross = KERNEL(ARMS.coordinates, ARMS.points(arms)) * (1.0 - EPSILON) ** (0.5 * (now - times))
    weights = np.linalg.solve(gram + NOISE * np.eye(len(arms)), cross.T)
    return weights.T @ rewards, np.sqrt(1.0 - np.einsum("ij,ji->i", cross, weights))


def test_rewards_after_a_wait_are_those_of_the_time_after_it():
    agent = agents.make("gp-ucb", Problem(ARMS, KERNEL, NOISE), seed=0, epsilon=EPSILON)
    rng = np.random.default_rng(0)
    for gap in (0.5, 4.5, 0.0, 2.0):
        if gap:
            agent.wait(gap)
        agent.tell(rng.integers(8, size=1), rng.standard_normal(1))
        np.testing.assert_allclose(agent.belief(), dense(agent.data, agent.clock), atol=1e-8)


def test_prior_data_of_several_rounds_are_those_of_their_times():
    agent = agents.make("gp-ucb", Problem(ARMS, KERNEL, NOISE), seed=0, epsilon=EPSILON)
    rng = np.random.default_rng(0)
    for rounds in ([-9.0, -6.0, -6.0, -2.0], [-12.0, -5.0, -3.0, 0.0]):
        k = len(rounds)
        agent.prior_data(rng.integers(8, size=k), rng.standard_normal(k), rounds=rounds)
    np.testing.assert_allclose(agent.belief(), dense(agent.data, agent.clock), atol=1e-8)

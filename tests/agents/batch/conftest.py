"""A small world for batch rules: four to eight arms, or a box, with data."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.kernels import Matern32
from gpbandits_env.problem import Problem

NOISE_VAR = 0.2


@pytest.fixture
def few():
    """Makes an agent on few arms that has been told a little, and its dense mean and covariance."""

    def make(name, m, arms=4, epsilon=0.0, **settings):
        x = np.linspace(0.0, 1.0, arms)[:, None]
        problem = Problem(Arms(x), Matern32(0.6), NOISE_VAR, batch_size=m)
        more = {"epsilon": epsilon} if epsilon else {}
        agent = agents.make(name, problem, seed=11, **more, **settings)
        told = [([0, 1], [0.3, -0.2]), ([arms - 1], [0.4])]
        gram = Matern32(0.6)(x)
        index, rewards, times = [], [], []
        for t, (places, values) in enumerate(told):
            agent.tell(places, values)
            index, rewards, times = index + places, rewards + values, times + [t] * len(places)
        age = len(told) - np.array(times, float)
        apart = (1 - epsilon) ** (np.abs(age[:, None] - age) / 2)
        noisy = gram[np.ix_(index, index)] * apart + NOISE_VAR * np.eye(len(index))
        cross = gram[index] * ((1 - epsilon) ** (age / 2))[:, None]
        weights = np.linalg.solve(noisy, cross)
        return agent, np.array(rewards) @ weights, gram - cross.T @ weights

    return make


@pytest.fixture
def boxed():
    """Makes an agent in a box of 1 or 2 dimensions that has been told some points."""

    def make(name, dim, m, seed=0, **settings):
        box = Box(-np.ones(dim), np.full(dim, 2.0))
        problem = Problem(box, Matern32(0.7), 0.01, batch_size=m)
        agent = agents.make(name, problem, seed=seed, **settings)
        rng = np.random.default_rng(seed)
        x = box.sample(rng, 8)
        agent.tell(x, np.sin(3 * x).sum(axis=1) + 0.1 * rng.standard_normal(8))
        return agent

    return make

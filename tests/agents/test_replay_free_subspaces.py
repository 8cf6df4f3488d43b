"""MS-UCB with subspaces on a ray and in random coordinates, each choice derived anew."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.kernels import Matern52
from gpbandits_env.problem import Problem

ELL, NOISE, BETA = 0.9, 0.01, 3.0
LOW, HIGH = np.array([-1.0, 0.0, -3.0, 2.0]), np.array([1.0, 1.0, 1.0, 6.0])
CENTER = 0.5 * (LOW + HIGH)
RAYS = 4


def problem():
    return Problem(Box(LOW, HIGH), Matern52(ELL), NOISE)


def made(**settings):
    given = {"d": 2, "n0": 2, "beta": BETA, "rays": RAYS, **settings}
    return agents.make("ms-ucb", problem(), seed=1, **given)


def reward(x):
    return np.sin(2 * x[:, 0]) + x[:, 1] ** 2 - 0.3 * np.abs(x[:, 2] + 1) + 0.1 * x[:, 3]


def matern(x, z):
    a = np.sqrt(5.0) * np.sqrt(((x[:, None] - z[None]) ** 2).sum(-1)) / ELL
    return (1 + a + a**2 / 3) * np.exp(-a)


def moments(points, x, y):
    """The dense posterior mean and variance at points (n, 4)."""
    gram = matern(x, x) + NOISE * np.eye(len(x))
    cross = matern(points, x)
    mean = cross @ np.linalg.solve(gram, y)
    return mean, 1.0 - np.einsum("ij,ji->i", cross, np.linalg.solve(gram, cross.T))


@pytest.mark.parametrize("coordinates", ["last", "random"])
def test_each_choice_is_the_best_in_the_subspaces_of_its_round(coordinates):
    agent, rng = made(coordinates=coordinates), np.random.default_rng(0)
    x = problem().domain.sample(rng, 5)
    y = reward(x)
    agent.prior_data(x, y)
    searched = set()
    for t in range(1, 11):
        active, fixed = agent.next_round().search.subspaces.active, agent.search.subspaces.inactive
        searched.add(tuple(active))
        count = 2 * t + RAYS
        assert agent.subspaces == count
        points = agent.search.subspaces.points(np.zeros((count, 2)), np.arange(count))
        # The last ones lie between the best observed point and the center of the box.
        best = x[moments(x, x, y)[0].argmax()]
        share = ((points - CENTER) / (best - CENTER))[-RAYS:, fixed]
        assert np.ptp(share, axis=1) == pytest.approx(0.0, abs=1e-5)
        assert share[0] == pytest.approx(1.0, abs=1e-6)
        assert ((share >= 0.0) & (share <= 1.0 + 1e-6)).all()
        (choice,) = agent.ask()
        assert (points[:, fixed] == choice[fixed]).all(axis=1).any()
        many = np.repeat(points, 1000, axis=0)
        many[:, active] = rng.uniform(LOW[active], HIGH[active], (len(many), 2))
        mean, var = moments(np.concatenate([choice[None], many]), x, y)
        bound = mean + np.sqrt(BETA * np.maximum(var, 0.0))
        assert bound[0] >= bound[1:].max() - 1e-3 * abs(bound[0]), t
        agent.tell(choice[None], reward(choice[None]))
        x, y = np.concatenate([x, choice[None]]), np.append(y, reward(choice[None]))
    assert (len(searched) > 3) == (coordinates == "random")


def test_uniform_points_accumulate():
    agent, before = made(coordinates="random"), np.empty((0, 4))
    for t in range(1, 5):
        agent.next_round()
        uniform = agent.search._uniform
        assert np.array_equal(uniform[: len(before)], before)
        assert uniform.shape == (2 * t, 4)
        assert ((uniform >= LOW) & (uniform <= HIGH)).all()
        before, x = uniform, agent.ask()
        agent.tell(x, reward(x))


@pytest.mark.parametrize("coordinates", ["last", "random"])
def test_a_restored_agent_goes_on_in_the_same_subspaces(coordinates):
    agent = made(coordinates=coordinates)
    for _ in range(3):
        x = agent.ask()
        agent.tell(x, reward(x))
    state, action = agent.snapshot(), agent.ask()
    again = made(coordinates=coordinates)
    again.restore(state)
    assert np.array_equal(again.ask(), action)
    agent.tell(action, reward(action))
    agent.restore(state)
    assert np.array_equal(agent.ask(), action)


def test_without_rays_and_in_the_last_coordinates_it_is_algorithm_1():
    plain, ours = made(rays=0), agents.make("ms-ucb", problem(), seed=1, d=2, n0=2, beta=BETA)
    for _ in range(4):
        x = plain.ask()
        assert np.array_equal(x, ours.ask())
        for agent in (plain, ours):
            agent.tell(x, reward(x))


def test_settings_are_checked():
    with pytest.raises(InvalidInput, match="rays"):
        made(rays=-1)
    with pytest.raises(UnknownName, match="coordinates"):
        made(coordinates="first")

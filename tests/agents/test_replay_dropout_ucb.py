"""DropoutUCB against its paper's steps, by numpy.linalg."""

import numpy as np
import pytest

from gpbandits_env import agents


@pytest.mark.parametrize("fill", ["copy", "random"])
def test_replays_dropout(large, fill):
    rng = np.random.default_rng(0)
    for agent, action, x, y in large.played("dropout-ucb", d=2, fill=fill):
        active = agent.action_map.active
        assert len(set(active)) == 2
        best = large.bound(rng.uniform(-1, 1, (20000, 2)), x[:, active], y, large.ELL).max()
        mine = large.bound(action[:, active], x[:, active], y, large.ELL)[0]
        assert mine >= best - 0.01 * abs(best)
        if len(x):
            rest = np.setdiff1d(np.arange(large.D), active)
            copied = np.array_equal(action[0, rest], x[y.argmax(), rest])
            assert copied == (fill == "copy")


def test_dropout_copies_no_point_of_before_a_reset(large):
    agent = agents.make("dropout-ucb", large.PROBLEM, seed=3, d=2, fill="copy")
    agent.tell(agent.ask(), [1.0])
    assert agent.action_map._best is not None
    agent.reset()
    assert agent.action_map._best is None


def test_dropout_takes_the_lengthscales_of_its_coordinates(large):
    agent = agents.make("dropout-ucb", large.UNEVEN, seed=3, d=2, beta=large.BETA, fill="copy")
    told = large.UNEVEN.domain.sample(np.random.default_rng(1), 5)
    agent.prior_data(told, large.uneven_reward(told))
    for _ in range(4):
        active = agent.action_map.active
        own = agent.posterior.kernel.radial.lengthscale
        assert own == pytest.approx(2.0 * large.ARD[active] / large.SIDES[active])
        action = agent.ask()
        scaled = told[:, active] / large.ARD[active]
        at = np.random.default_rng(0).uniform(
            0, large.SIDES[active] / large.ARD[active], (20000, 2)
        )
        best = large.bound(at, scaled, large.uneven_reward(told), 1.0).max()
        mine = large.bound(
            action[:, active] / large.ARD[active], scaled, large.uneven_reward(told), 1.0
        )[0]
        assert mine >= best - 0.01 * abs(best)
        agent.tell(action, large.uneven_reward(action))
        told = np.concatenate([told, action])


def test_dropout_restored_before_a_fit_keeps_the_lengthscales_of_its_coordinates(large):
    agent, other = (
        agents.make("dropout-ucb", large.UNEVEN, seed=3, d=2, learn={"every": 30}) for _ in range(2)
    )
    agent.tell(agent.ask(), [0.3])
    other.restore(agent.snapshot())
    ell = other.posterior.kernel.radial.lengthscale
    assert ell == pytest.approx(
        2.0 * large.ARD[other.action_map.active] / large.SIDES[other.action_map.active]
    )
    np.testing.assert_array_equal(other.ask(), agent.ask())


def test_dropout_conditions_on_its_coordinates_whatever_counts(large):
    """bogunovic2016, eqs. (7)-(8), on two coordinates, for the data of a window or with decay."""
    x = large.PROBLEM.domain.sample(np.random.default_rng(1), 6)
    for settings, rows, rate in (
        ({"epsilon": 0.3}, slice(None), 0.7),
        ({"window": 3}, slice(3, 6), 1.0),
    ):
        agent = agents.make("dropout-ucb", large.PROBLEM, seed=3, d=2, **settings)
        for i in range(6):
            agent.tell(x[[i]], large.reward(x[[i]]))
        at, ages = x[rows][:, agent.action_map.active] / large.ELL, np.arange(6, 0, -1)[rows]
        gram = np.exp(-((at[:, None] - at) ** 2).sum(-1) / 2)
        gram *= rate ** (np.abs(np.subtract.outer(ages, ages)) / 2)
        cross = np.exp(-(at**2).sum(-1) / 2) * rate ** (ages / 2)
        mean = cross @ np.linalg.solve(gram + large.NOISE * np.eye(len(at)), large.reward(x[rows]))
        assert agent.posterior.mean_at(np.zeros((1, 2)))[0] == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_mix_is_random_with_probability_p(large, p):
    for agent, action, x, y in large.played("dropout-ucb", rounds=5, d=2, fill="mix", p=p):
        rest = np.setdiff1d(np.arange(large.D), agent.action_map.active)
        if len(x):
            assert np.array_equal(action[0, rest], x[y.argmax(), rest]) == (p == 0.0)


def test_dropout_learns_of_the_coordinates_it_chooses_next_and_resumes(large):
    settings = {"seed": 3, "d": 2, "learn": {"every": 6}, "standardize": True}
    agent, again = (agents.make("dropout-ucb", large.UNEVEN, **settings) for _ in range(2))
    x = large.UNEVEN.domain.sample(np.random.default_rng(1), 6)
    agent.prior_data(x[:4], large.uneven_reward(x[:4]))
    agent.tell(x[4:5], large.uneven_reward(x[4:5]))
    (found,) = agent.learned
    y = large.uneven_reward(x[:5])
    y, sd = y - found["mean"], y.std()
    active = agent.action_map.active
    at = 2.0 * (x[:5] / large.SIDES)[:, active] / found["lengthscale"]
    gram = found["variance"] * np.exp(-((at[:, None] - at) ** 2).sum(-1) / 2)
    gram += found["noise_var"] * np.eye(5)
    likelihood = -0.5 * (y @ np.linalg.solve(gram, y) + np.linalg.slogdet(gram / sd**2)[1])
    assert found["log_likelihood"] == pytest.approx(likelihood - 2.5 * np.log(2 * np.pi))
    again.restore(agent.snapshot())
    assert again.learned == agent.learned
    assert np.array_equal(again.ask(), agent.ask())

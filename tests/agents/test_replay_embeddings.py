"""REMBO and HeSBO against their papers' steps, and what all agents in small boxes share."""

import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.embeddings.embedding import HashEmbedding
from gpbandits_env.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("name", ["rembo", "hesbo"])
def test_replays_gp_ucb_in_the_small_box(large, name):
    rng = np.random.default_rng(0)
    for agent, action, _, y in large.played(name, d=2):
        half, ell = agent.action_map.embedding.half, agent.posterior.kernel.lengthscale
        assert ell == pytest.approx(large.ELL / agent.action_map.embedding.stretch)
        told = agent.posterior.observed
        mine = agent.action_map.points(action)
        assert agent.action_map.embedding.lift(mine) == pytest.approx(action)
        at = rng.uniform(-half, half, (20000, 2))
        best = large.bound(at, told, y, ell).max()
        assert large.bound(mine, told, y, ell)[0] >= best - 0.01 * abs(best)


@pytest.mark.parametrize("name", ["rembo", "hesbo", "sre"])
@pytest.mark.parametrize("dim", [2, 8])  # the small box may have as many coordinates
def test_the_belief_is_about_points_of_the_large_box(large, name, dim):
    *_, (agent, _, x, _) = large.played(name, d=dim, **({"rounds": 20} if name == "sre" else {}))
    mean, sd = agent.belief(x)
    expected = agent.posterior.moments(agent.action_map.points(x))
    np.testing.assert_array_equal([mean, sd**2], [expected[0], np.sqrt(expected[1]) ** 2])
    with pytest.raises(InvalidInput, match=rf"shape \(m, {large.D}\)"):
        agent.belief(x[:, 1:])


def test_points_outside_the_image_count_at_its_nearest_point(large):
    agent = agents.make("hesbo", large.PROBLEM, seed=2, d=2)
    x = large.PROBLEM.domain.sample(np.random.default_rng(1), 3)
    agent.prior_data(x, large.reward(x))
    assert isinstance(agent.action_map.embedding, HashEmbedding)
    assert agent.posterior.observed == pytest.approx(agent.action_map.embedding.lower(x))
    on_x = agents.make("rembo", large.PROBLEM, seed=2, d=2, kernel_on="x")
    on_x.prior_data(x, large.reward(x))
    assert np.array_equal(on_x.posterior.observed, x)


def test_settings_are_checked(large):
    with pytest.raises(UnknownName, match="fill"):
        agents.make("dropout-ucb", large.PROBLEM, fill="none")
    with pytest.raises(UnknownName, match="directions"):
        agents.make("line-bo", large.PROBLEM, directions="up")
    with pytest.raises(UnknownName, match="acquisition"):
        agents.make("hesbo", large.PROBLEM, acquisition="pi")
    for kernel_on in ("x", "y"):
        with pytest.raises(InvalidInput, match="candidates"):
            agents.make("rembo", large.PROBLEM, kernel_on=kernel_on, candidates=9)
    with pytest.raises(InvalidInput, match="horizon"):
        agents.make("sre", large.PROBLEM.replaced(horizon=None))


@pytest.mark.parametrize("name", ["dropout-ucb", "hesbo", "line-bo", "ms-ucb", "rembo", "sre"])
def test_a_snapshot_of_another_seed_is_refused_and_changes_nothing(large, name):
    one, other = (agents.make(name, large.PROBLEM, seed=seed) for seed in (1, 2))
    first = other.snapshot()
    with pytest.raises(InvalidInput, match="with another seed"):
        other.restore(one.snapshot())
    action = other.ask()
    other.restore(first)
    assert np.array_equal(other.ask(), action)


@pytest.mark.parametrize("name", ["rembo", "line-bo"])
def test_gradients_of_the_whole_boxes_belief_are_pulled_into_the_small_box(large, name):
    settings = {"kernel_on": "x", "d": 1} if name == "rembo" else {}
    agent = agents.make(name, large.UNEVEN, seed=3, **settings)
    x = large.UNEVEN.domain.sample(np.random.default_rng(1), 9)
    agent.prior_data(x, large.uneven_reward(x))
    through, y, step = agent.search.through, np.array([[0.05], [-0.3]]), 1e-5
    ends = [agent.belief(through.lift(y + move))[0] for move in (-step, step)]
    slope = agent.posterior.gradients(through.lift(y))[2]
    numeric = (ends[1] - ends[0]) / (2 * step)
    assert through.pull(y, slope)[:, 0] == pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "dim", "side"),
    [
        ("rembo", 2, 2.0 * math.sqrt(2.0)),
        ("hesbo", 2, 2.0),
        ("sre", 3, 2.0),
        ("dropout-ucb", 2, 2.0),
        ("line-bo", 1, 2.0),
    ],
)
def test_beta_is_that_of_the_small_box(large, name, dim, side):
    settings = {} if name == "line-bo" else {"d": 2}
    agent = agents.make(name, large.UNEVEN, seed=3, **settings)
    cells = dim * side * math.sqrt(math.log(4 * dim / 0.1))
    theorem_2 = 2 * math.log(2 * math.pi**2 / 0.3) + 2 * dim * math.log(cells)
    assert agent.acquisition().beta == pytest.approx(theorem_2 / 5)


@pytest.mark.parametrize("name", ["rembo", "hesbo"])
def test_a_lengthscale_that_is_not_learned_stays_that_of_the_small_box(large, name):
    agent = agents.make(name, large.PROBLEM, seed=3, d=2, standardize=True)
    x = large.PROBLEM.domain.sample(np.random.default_rng(1), 6)
    agent.prior_data(x, 7.0 + 3.0 * large.reward(x))
    assert agent.learned
    assert agent.posterior.kernel.lengthscale == pytest.approx(
        large.ELL / agent.action_map.embedding.stretch
    )

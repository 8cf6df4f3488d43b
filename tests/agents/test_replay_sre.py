"""SRE against its paper's steps."""

import numpy as np
import pytest

from gpbandits_env import agents


def test_sre_goes_on_from_the_best_point(large):
    for agent, _, x, y in large.played("sre", rounds=14, d=2, stages=3):
        assert agent.action_map.stage == min(agent.round // 4, 2)
        if agent.round in (4, 8):
            anchor = agent.action_map.embedding.lift(np.array([[1.0, 0.0, 0.0]]))
            assert anchor[0] == pytest.approx(x[y.argmax()])
            assert agent.posterior.observed.tolist() == [[1.0, 0.0, 0.0]]
            assert agent.posterior.rewards[0] == y.max()
            assert agent.data.times[-1] == agent.clock


def test_what_was_chosen_in_a_stage_of_sre_is_not_a_point_of_the_next(large):
    mapped = agents.make("sre", large.PROBLEM, seed=2, d=2, stages=3).action_map
    x = mapped.actions(np.array([[0.3, 0.2, -0.1]]))
    mapped._start(1, np.full(large.D, 0.1))
    np.testing.assert_array_equal(mapped.points(x), mapped._map.lower(x))


def test_every_stage_of_sre_has_an_embedding_of_its_own(large):
    agent = agents.make("sre", large.PROBLEM.replaced(horizon=11), seed=2, d=2, stages=3)
    axes, stages = [], []
    for _ in range(11):
        stages.append(agent.action_map.stage)
        far = 1e-3 * np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        axes.append(agent.action_map.embedding.lift(far))
        agent.tell(agent.ask(), [0.0])
    assert stages == [0] * 4 + [1] * 4 + [2] * 3  # eleven rounds, the last stage the shorter
    for one, other in ((0, 4), (4, 8), (0, 8)):
        assert not np.isclose(axes[one], axes[other]).any()
    np.testing.assert_array_equal(axes[4], axes[7])


def test_a_window_of_sre_reaches_no_further_back_than_its_stage(large):
    """Points of the stage before are in the coordinates of another embedding."""
    agent = agents.make("sre", large.PROBLEM, seed=2, d=2, rounds=4, window=3)
    for _ in range(4):
        agent.tell(agent.ask(), [0.0])
    known = agent.posterior.observed
    action = agent.ask()
    agent.tell(action, [1.0])
    expected = np.concatenate([known, agent.action_map.points(action)])
    assert len(known) == 1
    np.testing.assert_allclose(agent.posterior.observed, expected)


def test_sre_remembers_the_best_of_what_was_observed(large):
    agent = agents.make("sre", large.PROBLEM, seed=2, d=2, batch_size=3, rounds=1)
    x = agent.ask()
    agent.tell(x, [0.1, 0.5, np.nan], [True, True, False])
    assert agent.action_map.embedding.lift(np.array([[1.0, 0.0, 0.0]]))[0] == pytest.approx(x[1])
    assert agent.posterior.rewards.tolist() == [0.5]


def test_a_stage_of_sre_begins_with_one_reward_also_if_it_is_the_first_one(large):
    agent = agents.make("sre", large.PROBLEM, seed=2, d=2, rounds=2)
    agent.expect(agent.ask())
    agent.tell(agent.ask(), [0.5])  # ends the stage
    assert agent.action_map.stage == 1
    np.testing.assert_array_equal(agent.posterior.observed, [[1.0, 0.0, 0.0]])
    agent.tell(agent.ask(), [0.1])
    assert agent.posterior.rewards.tolist() == [0.5, 0.1]


def test_a_stage_of_sre_begins_with_a_reward_that_came_late_from_an_earlier_one(large):
    """Also if no reward of the stage between has arrived, and none in the round that ends it."""
    agent = agents.make("sre", large.PROBLEM, seed=2, d=2, rounds=2)
    for _ in range(2):
        agent.expect(agent.ask())
    agent.expect(agent.ask())
    agent.tell_late([agent.pending[0].action], [0.5])  # of stage 0, in stage 1
    assert (agent.action_map.stage, agent.posterior.size) == (1, 0)
    agent.expect(agent.ask())
    assert agent.action_map.stage == 2
    assert agent.posterior.rewards.tolist() == [0.5]


def test_sre_begins_anew_after_a_reset(large):
    agent = agents.make("sre", large.PROBLEM, seed=2, d=2, rounds=2)
    for high in (10.0, 1.0):
        for _ in range(2):
            x = agent.ask()
            agent.tell(x, [high])
        assert agent.posterior.rewards.tolist() == [high]
        agent.reset()
        assert agent.action_map.stage == 0


def test_sre_learns_from_the_stage_it_is_in(large):
    """Points of other embeddings say nothing of distances in this one."""
    learn = {"every": 1, "first": 2}
    agent = agents.make("sre", large.PROBLEM, seed=2, d=2, stages=3, rounds=5, learn=learn)
    rng = np.random.default_rng(0)
    for _ in range(14):
        agent.tell(agent.ask(), rng.standard_normal(1))
    seen = {record["round"]: record["observations"] for record in agent.learned}
    # A stage starts with the best point known.
    assert [seen[t] for t in (4, 6, 9, 11, 14)] == [4, 2, 5, 2, 5]

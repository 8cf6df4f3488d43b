"""What agents with a posterior share: belief, batches, prior data, information."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput


def test_belief_is_the_posterior_fresh(world):
    agent, dense = agents.make("gp-ucb", world.problem()), world.dense()
    agent.tell([3, 50, 3], [1.0, -1.0, 0.5])
    dense.tell([3, 50, 3], [1.0, -1.0, 0.5], t=1)
    mean, sd = agent.belief()
    assert mean == pytest.approx(dense.mean(), abs=1e-10)
    assert sd == pytest.approx(np.sqrt(dense.var()), abs=1e-10)
    mean[:] = sd[:] = 7.0
    assert agent.belief()[0] == pytest.approx(dense.mean(), abs=1e-10)


def test_information_gain_is_that_of_what_was_told(world):
    agent, dense = agents.make("gp-ucb", world.problem(batch_size=3)), world.dense()
    assert agent.information_gain == 0.0
    for t in range(1, 9):
        actions = agent.ask()
        rewards = world.rewards(actions)
        agent.tell(actions, rewards)
        dense.tell(actions, rewards, t)
    assert agent.information_gain == pytest.approx(dense.gain(), rel=1e-10)
    agent.reset()
    assert agent.information_gain == 0.0


def test_a_batch_spreads_by_variance_and_max_mean_does_not(world):
    problem = world.problem(batch_size=4)
    assert len(set(agents.make("max-variance", problem).ask().tolist())) == 4
    assert len(set(agents.make("gp-ucb", problem, beta=100.0).ask().tolist())) == 4
    assert len(set(agents.make("max-mean", problem).ask().tolist())) == 1


def test_data_of_any_length_may_be_told_without_asking(world):
    one, many = (agents.make("gp-ucb", world.problem(batch_size=3)) for _ in range(2))
    arms, rewards = np.arange(10), world.rewards(np.arange(10))
    many.tell(arms, rewards)
    for arm, reward in zip(arms, rewards, strict=True):
        one.tell([arm], [reward])
    assert (one.round, many.round) == (10, 1)
    assert one.belief()[0] == pytest.approx(many.belief()[0], abs=1e-10)


def test_what_was_told_belongs_to_the_agent(world):
    """Whoever re-uses the arrays must not change what is remembered (windows keep them)."""
    agents_ = [agents.make("sw-gp-ucb", world.problem(), window=2) for _ in range(2)]
    actions, rewards = np.array([4]), np.array([1.0])
    for t in range(5):
        actions[:], rewards[:] = t, t / 2
        agents_[0].tell(actions, rewards)
        agents_[1].tell(actions.copy(), rewards.copy())
        actions[:], rewards[:] = 0, np.nan
    assert np.array_equal(agents_[0].belief()[0], agents_[1].belief()[0])


def test_round_counts_what_was_told_and_sets_beta(world):
    agent = agents.make("gp-ucb", world.problem(), beta={"type": "log", "c1": 1.0, "c2": 1.0})
    for t in range(1, 6):
        assert agent.beta == pytest.approx(np.log(t))
        agent.ask()  # asking is no round
        agent.tell([t], [0.0])
    agent.reset()
    assert agent.beta == 0.0


def test_repeats_without_noise(world):
    for name in ("gp-ucb", "ei", "mpi", "max-mean", "max-variance"):
        agent = agents.make(name, world.problem(noise_var=0.0, batch_size=2))
        for _ in range(80):
            actions = agent.ask()
            agent.tell(actions, world.function[actions])
        mean, sd = agent.belief()
        assert np.isfinite(mean).all()
        assert np.isfinite(sd).all()
        if name in ("gp-ucb", "ei", "mpi"):  # the others may never find it
            assert mean.max() == pytest.approx(world.function.max(), abs=1e-3)


def test_a_restore_that_fails_changes_nothing(world):
    agent = agents.make("ei", world.problem(), seed=0)
    agent.tell([1, 2], [0.5, 0.2])
    other = agents.make("ei", world.problem(), seed=0)
    before, belief = agent.snapshot(), agent.belief()
    good = other.snapshot()
    bad = [
        {},
        None,
        good | {"rng": {"bit_generator": "MT19937"}},
        good | {"rng": 3},
        good | {"posterior": {}},
        good | {"posterior": good["posterior"] | {"mean": np.zeros(3)}},
        good | {"best_reward": "high"},
        good | {"round": "first"},
        good | {"forgetting": [1]},
        agents.make("random", world.problem()).snapshot(),
    ]
    for state in bad:
        with pytest.raises(InvalidInput, match="not a snapshot"):
            agent.restore(state)
        assert np.array_equal(agent.belief(), belief)
        assert agent.incumbent == agent.posterior.mean[[1, 2]].max()
        assert (agent.round, agent.snapshot()["rng"]) == (1, before["rng"])

"""What agents with a posterior share: belief, batches, prior data, information."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents import GPAgent
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.problem import Problem


def test_belief_is_the_posterior_fresh(world):
    agent, dense = agents.make("gp-ucb", world.problem()), world.dense()
    agent.tell([3, 50, 3], [1.0, -1.0, 0.5])
    dense.tell([3, 50, 3], [1.0, -1.0, 0.5], t=1)
    mean, sd = agent.belief()
    assert mean == pytest.approx(dense.mean(), abs=1e-10)
    assert sd == pytest.approx(np.sqrt(dense.var()), abs=1e-10)
    mean[:] = sd[:] = 7.0
    assert agent.belief()[0] == pytest.approx(dense.mean(), abs=1e-10)


def test_the_repr_shows_the_learned_model(world):
    agent = agents.make("gp-ucb", world.problem(), standardize=True)
    agent.tell(np.arange(20), 100.0 * world.rewards(np.arange(20)))
    assert agent.posterior.noise_var > 100.0 * world.problem().noise_var
    assert f"noise_var={agent.posterior.noise_var:.6g}, " in repr(agent)


def test_an_agent_made_by_its_class_needs_a_problem_and_a_generator(world):
    with pytest.raises(InvalidInput, match=r"got dict and int: agents\.make also takes"):
        GPAgent({}, 0, None)


def test_information_gain_is_that_of_what_was_told(world):
    agent, dense = agents.make("gp-ucb", world.problem(batch_size=3)), world.dense()
    assert agent.posterior.information_gain == 0.0
    for t in range(1, 9):
        actions = agent.ask()
        rewards = world.rewards(actions)
        agent.tell(actions, rewards)
        dense.tell(actions, rewards, t)
    assert agent.posterior.information_gain == pytest.approx(dense.gain(), rel=1e-10)
    agent.reset()
    assert agent.posterior.information_gain == 0.0


def test_a_round_takes_one_unit_again_after_a_reset(world):
    agent = agents.make("tv-gp-ucb", world.problem(), epsilon=0.1)
    agent.pass_until(2.0, 5.0)
    agent.tell([3], [1.0])
    assert agent.clock == 5.0
    agent.reset()
    agent.tell([3], [1.0])
    assert agent.clock == 1.0


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
        assert agent.acquisition().beta == pytest.approx(np.log(t))
        agent.ask()  # asking is no round
        agent.tell([t], [0.0])
    agent.reset()
    assert agent.acquisition().beta == 0.0


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
        good | {"conditioned": {}},
        good | {"conditioned": good["conditioned"] | {"posterior": {"mean": np.zeros(3)}}},
        good | {"conditioned": good["conditioned"] | {"calls": [(9, 0.0, None)]}},
        good | {"conditioned": good["conditioned"] | {"calls": []}},
        good | {"data": {}},
        good | {"data": good["data"] | {"ends": [7]}},
        good | {"data": good["data"] | {"rewards": np.zeros(3)}},
        before | {"data": before["data"] | {"rewards": np.array([0.5, np.nan])}},
        before | {"data": before["data"] | {"points": np.array([1, 99])}},
        good | {"round": "first"},
        good | {"conditioned": good["conditioned"] | {"calls": [(0, "late", None)]}},
        agents.make("random", world.problem()).snapshot(),
    ]
    for state in bad:
        with pytest.raises(InvalidInput, match="not a snapshot"):
            agent.restore(state)
        assert np.array_equal(agent.belief(), belief)
        assert agent.acquisition().level == agent.posterior.mean[[1, 2]].max()
        assert (agent.round, agent.snapshot()["rng"]) == (1, before["rng"])


@pytest.mark.parametrize(
    ("settings", "epsilon", "first"),
    [
        ({}, 0.0, 0),
        ({"epsilon": 0.2}, 0.2, 0),
        ({"window": 3}, 0.0, 7),
        ({"reset_every": 4}, 0.0, 8),
        (
            {"posterior": {"type": "nystrom", "qbar": 1e9}},
            0.0,
            0,
        ),  # everything is in the dictionary
    ],
)
def test_a_learned_model_is_of_the_data_that_count_and_as_faded(world, settings, epsilon, first):
    problem = world.problem(batch_size=2)
    learn = {"every": 4, "first": 4, "starts": 1}
    agent = agents.make("gp-ucb", problem, learn=learn, **settings)
    told = []
    for _ in range(10):
        actions = agent.ask()
        told.append((actions, world.rewards(actions)))
        agent.tell(*told[-1])
    assert [fit["round"] for fit in agent.learned] == [2, 6, 10]
    model = agent.refit.model
    assert model.kernel.lengthscale != problem.kernel.lengthscale
    fresh = posterior_for(problem.domain, model.kernel, model.noise_var, model.prior_mean)
    for actions, rewards in told[first:]:
        fresh.condition(actions, rewards)
        fresh.advance(epsilon)
    mean, sd = agent.belief()
    assert mean == pytest.approx(fresh.mean, abs=1e-6)
    assert sd == pytest.approx(fresh.sd, abs=1e-6)


def test_compression_weighs_against_the_noise_that_was_learned(world):
    learn = {"every": 2, "what": ["noise_var"], "starts": 1}
    agent = agents.make("gp-ucb", world.problem(batch_size=5), compress=0.01, learn=learn)
    given = agent.compression.threshold(agent.posterior)
    agent.tell(range(0, 50, 10), [9.0, -9.0, 8.0, -8.0, 9.0])
    noise_var = agent.refit.model.noise_var
    assert noise_var > 2 * world.problem().noise_var
    assert agent.compression.threshold(agent.posterior) == pytest.approx(noise_var * np.expm1(0.02))
    agent.reset()
    assert agent.compression.threshold(agent.posterior) == given


def test_prior_data_are_the_first_round_of_a_window(world):
    agent = agents.make("gp-ucb", world.problem(), window=3)
    agent.prior_data([50, 51], [0.5, 0.6])
    agent.tell([1], [0.1])
    agent.tell([2], [0.2])
    assert agent.posterior.observed.tolist() == [1, 2, 50, 51]
    agent.tell([3], [0.3])
    assert agent.posterior.observed.tolist() == [1, 2, 3]


def test_every_ask_looks_at_candidates_of_its_own():
    problem = Problem(Box([0.0, 0.0], [1.0, 1.0]), Matern52(0.3), 0.01)
    agent = agents.make("gp-ucb", problem, search={"type": "round", "candidates": 20})
    agent.tell([[0.2, 0.3], [0.5, 0.9]], [0.1, 0.4])
    seen = []
    for _ in range(2):
        agent.ask()
        seen.append(agent.search.candidates_of(agent.posterior)[0][:20])
    assert not np.isin(seen[0], seen[1]).any()

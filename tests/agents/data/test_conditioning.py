"""Whatever happened before, the posterior is that of the data that the agent should have."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.problem import Problem

ARMS = Arms.grid(10)
PROBLEM = Problem(ARMS, Matern52(0.3), noise_var=0.01, max_delay=2)
REWARDS = [0.1, 0.2, -0.1, 0.0, 0.15, 50.0, 0.1, -0.2, 0.05, 0.1, 0.0, 0.3, 0.0, 0.1, 0.2, -0.1]
ROBUST = {"every": 20, "first": 10, "what": ["noise_var"], "robust": True}


def expected(agent, arms, rewards, epsilon=0.0):
    """The posterior mean of an agent's model, given one reward per round as the agent sees it."""
    model = agent.refit.model
    posterior = posterior_for(ARMS, model.kernel, model.noise_var, model.prior_mean)
    for arm, reward in zip(arms, agent.conditioned.received(np.array(rewards)), strict=True):
        posterior.condition([arm], [reward])
        posterior.advance(epsilon)
    return posterior.mean


@pytest.mark.parametrize(
    ("name", "settings", "rounds"),
    [
        ("gp-ucb", {"window": 12}, 12),
        ("sw-gp-ucb", {"window": 13}, 13),
        ("gp-ucb", {"window": 4, "learn": ROBUST | {"what": []}}, 4),
        ("gp-ucb", {}, 16),
    ],
)
def test_outliers_are_drawn_in_whatever_is_forgotten(name, settings, rounds):
    agent = agents.make(name, PROBLEM, seed=0, **{"learn": ROBUST} | settings)
    for t, reward in enumerate(REWARDS):
        agent.tell([t % 10], [reward])
    arms = [t % 10 for t in range(len(REWARDS))]
    assert agent.conditioned.received(np.array([50.0])) < 2.0
    want = expected(agent, arms[-rounds:], REWARDS[-rounds:])
    assert agent.posterior.mean == pytest.approx(want, abs=1e-8)


def test_outliers_are_drawn_in_when_a_late_reward_arrives():
    agent = agents.make("gp-ucb", PROBLEM, seed=0, learn=ROBUST, epsilon=0.001)
    for t in range(10):
        agent.tell([t], REWARDS[t : t + 1])
    agent.expect([9])
    agent.tell_late([9], [0.2])
    want = expected(agent, [*range(10), 9], [*REWARDS[:10], 0.2], 0.001)
    assert agent.posterior.mean == pytest.approx(want, abs=1e-8)


def test_an_event_is_found_by_rewards_as_the_posterior_has_them():
    """The reward of 50 was an event; drawn in, it is none when it comes again."""
    agent = agents.make("et-gp-ucb", PROBLEM, seed=0, learn=ROBUST | {"last": 100})
    for t, reward in enumerate(REWARDS[:10]):
        agent.tell([t], [reward])
    before = agent.keep.events
    agent.tell([5], [50.0])
    assert agent.keep.events == before


def test_the_best_observed_reward_is_that_of_the_posterior():
    agent = agents.make("ei", PROBLEM, seed=0, learn=ROBUST, incumbent="observed")
    for t, reward in enumerate(REWARDS[:11]):
        agent.tell([t % 10], [reward])
    assert agent.acquisition().level == agent.conditioned.received(np.array([50.0]))[0]
    agent.tell([3], [70.0])  # without another fit
    assert agent.acquisition().level == agent.conditioned.received(np.array([70.0]))[0]


@pytest.mark.parametrize("name", ["dropout-ucb", "sre"])
def test_outliers_are_drawn_in_where_the_posterior_changes_its_coordinates(name):
    problem = Problem(Box(-np.ones(8), np.ones(8)), Matern52(0.5), noise_var=0.01, horizon=80)
    # After 12 rounds a stage of sre ends, and the next one starts with the best reward.
    more = {"rounds": 12} if name == "sre" else {}
    agent = agents.make(name, problem, seed=0, d=3, learn=ROBUST, **more)
    for reward in REWARDS[:12]:
        agent.tell(agent.ask(), [reward])
    assert name != "sre" or agent.posterior.size == 1
    now = agent.next_round()
    received = agent.conditioned.received(np.array([50.0]))
    assert now.best_reward == now.posterior.rewards.max() == received
    assert now.best_reward < 2.0


def test_the_best_reward_is_as_observed_and_as_the_posterior_received_it():
    agent = agents.make("ei", PROBLEM, seed=0, learn=ROBUST | {"every": 11, "first": 11})
    for t, reward in enumerate(REWARDS[:11]):
        agent.tell([t % 10], [reward])
    for _ in range(2):
        now = agent.conditioned
        drawn_in = float(now.received(np.array([now.best_reward]))[0])
        assert now.best_received == pytest.approx(drawn_in)
        assert drawn_in < 3.0
        state = agent.snapshot()
        agent.tell([1], [100.0])
        assert now.best_reward == 100.0
        assert now.best_received == pytest.approx(now.received(np.array([100.0]))[0])
        agent = agents.make("ei", PROBLEM, seed=0, learn=ROBUST | {"every": 11, "first": 11})
        agent.restore(state)
        assert agent.conditioned.best_reward == 50.0


def test_no_outlier_is_drawn_in_after_a_reset_until_the_next_fit():
    agent = agents.make("gp-ucb", PROBLEM, seed=0, learn=ROBUST)
    for t, reward in enumerate(REWARDS):
        agent.tell([t % 10], [reward])
    agent.reset()
    assert (agent.learned, agent.round, agent.clock) == ([], 0, 0.0)
    agent.tell([3], [50.0])
    assert agent.conditioned.best_received == 50.0


@pytest.mark.parametrize("name", ["gp-ucb", "et-gp-ucb"])
def test_a_window_of_one_round_has_one_round(name):
    more = {"window": 1} if name == "gp-ucb" else {"delta": 0.999}
    agent = agents.make(name, PROBLEM, seed=0, **more)
    for t in range(4):
        agent.tell([t, t + 1], [9.0 * (-1) ** t, 0.0])
        assert agent.posterior.observed.tolist() == [t, t + 1]


def test_data_known_after_the_last_round_of_a_block_count_in_the_next():
    agent = agents.make("gp-ucb", PROBLEM, seed=0, reset_every=2)
    for t in range(2):
        agent.tell([t], [0.1])
    agent.prior_data([7], [0.2])
    for t in range(2, 4):
        assert sorted(agent.posterior.observed) == [2, 7][3 - t :]
        agent.tell([t], [0.1])
    assert agent.posterior.size == 0


def test_noise_that_is_known_better_counts_from_the_next_round_on():
    better, known = (agents.make("gp-ucb", PROBLEM, seed=0) for _ in range(2))
    better.tell([1, 5], [1.0, -1.0], noise_var=[0.3, 0.2])
    better.data.restate(np.array([1e-4, np.nan]))
    known.tell([1, 5], [1.0, -1.0], noise_var=[1e-4, np.nan])
    for agent in (better, known):
        agent.tell([8], [0.5])
    assert better.posterior.mean == pytest.approx(known.posterior.mean, abs=1e-10)


def test_time_passes_if_nothing_is_learned():
    problem = Problem(ARMS, Matern52(0.3), noise_var=0.01)
    moving = {"type": "matern32", "lengthscale": 4.0}
    fixed, fitted = (
        agents.make("gp-ucb", problem, seed=0, temporal=moving, learn=learn)
        for learn in (None, {"what": [], "first": 3, "every": 1})
    )
    for agent in (fixed, fitted):
        for t in range(6):
            agent.tell([t], [0.3 * t])
            agent.wait(2.5)
    assert fitted.posterior.mean == pytest.approx(fixed.posterior.mean, abs=1e-8)


def test_noise_of_each_reward_counts_if_nothing_is_learned():
    fixed, fitted = (
        agents.make("gp-ucb", PROBLEM, seed=0, learn=learn)
        for learn in (None, {"what": [], "first": 3})
    )
    for agent in (fixed, fitted):
        agent.tell([1, 5, 8], [1.0, -1.0, 0.5], noise_var=[1e-4, 1e-4, 5.0])
    assert fitted.refit.learned
    assert fitted.posterior.mean == pytest.approx(fixed.posterior.mean, abs=1e-10)


def test_noise_of_each_reward_and_a_mask_are_refused_with_what_to_do():
    agent = agents.make("gp-ucb", PROBLEM, seed=0)
    with pytest.raises(InvalidInput, match="leave out actions that were not evaluated"):
        agent.tell([1, 5], [1.0, 0.0], observed=[True, False], noise_var=[0.1, 0.1])
    with pytest.raises(InvalidInput, match="without compress"):
        agents.make("cub", PROBLEM).tell([1], [1.0], noise_var=[0.1])


@pytest.mark.parametrize(
    "settings", [{"window": 3}, {"reset_every": 20}, {"epsilon": 0.9}, {"epsilon": 0.01}]
)
def test_prior_data_may_be_told_in_several_calls(settings):
    together, apart = (agents.make("gp-ucb", PROBLEM, seed=0, **settings) for _ in range(2))
    arms = [i % 10 for i in range(30)]
    together.prior_data(arms, 0.1 * np.array(arms))
    for i in arms:
        apart.prior_data([i], [0.1 * i])
    for t in range(5):
        for agent in (together, apart):
            agent.expect([t])
            agent.tell_late([t], [0.3])
        assert apart.posterior.size == together.posterior.size
        assert apart.posterior.mean == pytest.approx(together.posterior.mean, abs=1e-8)


def test_prior_data_between_rounds_shorten_no_window():
    agent = agents.make("gp-ucb", PROBLEM, seed=0, window=3)
    for t in range(6):
        agent.tell([t], [0.1 * t])
        agent.prior_data([9], [0.5])
    assert sorted(agent.posterior.observed.tolist()) == [3, 4, 5, 9]


def test_the_history_outlasts_a_late_reward():
    rows = np.random.default_rng(0).standard_normal((10, 10))
    problem = Problem(ARMS, Matern52(0.3), noise_var=0.01, max_delay=2, history=rows)
    agent = agents.make("gp-ucb", problem, seed=0, reset_every=5)
    agent.prior_data(**problem.last_rows(10))
    agent.expect([3])
    agent.tell_late([3], [0.3])
    for _ in range(4):
        assert agent.posterior.size == 101
        agent.expect([3])
    assert agent.posterior.size == 0


def test_a_reward_that_is_too_late_is_lost_in_every_kind_of_round():
    agent = agents.make("gp-ucb", PROBLEM, seed=0)
    agent.expect([4])
    for _ in range(2):
        agent.tell([0], [0.1])
        assert len(agent.pending) == 1
    agent.tell([0], [0.1])
    assert not agent.pending


def test_prior_data_after_a_reset_bring_no_discarded_round_back():
    agent = agents.make("gp-ucb", PROBLEM, seed=0, reset_every=2)
    for t in range(2):
        agent.expect([t])
    agent.prior_data([7], [0.2])
    assert len(agent.pending) == 2
    assert len(agent._pending_points()) == 0
    agent.expect([5])
    again = agents.make("gp-ucb", PROBLEM, seed=0, reset_every=2)
    again.restore(agent.snapshot())
    for one in (agent, again):
        assert one._pending_points().tolist() == [5]


def test_a_drift_too_slow_to_be_told_from_none_is_conditioned_anew():
    still, slow = (agents.make("gp-ucb", PROBLEM, seed=0, epsilon=e) for e in (0.0, 1e-20))
    for agent in (still, slow):
        agent.tell([0], [1.0])
        agent.expect([1])
        agent.tell([2], [0.5])
        agent.tell_late([1], [0.3])
    np.testing.assert_allclose(slow.belief(), still.belief(), atol=1e-12)


def test_the_best_reward_is_the_same_however_late_rewards_arrive():
    """Under an epsilon of 1 no reward of an earlier round has an effect on the posterior."""
    agent, other = (agents.make("cei", PROBLEM, seed=0, epsilon=1.0) for _ in range(2))
    agent.tell([0], [2.0])
    other.tell([0], [2.0])
    agent.tell([1], [1.0])
    other.expect([1])
    agent.tell([2], [0.5])
    other.tell([2], [0.5])
    other.tell_late([1], [1.0])
    assert agent.next_round().best_reward == other.next_round().best_reward == 2.0

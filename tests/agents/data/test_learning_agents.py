"""Agents that learn their model, on arms and in a box."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import Linear, Matern52, SquaredExponential
from gpbandits_env.gp.learning import estimate as fits
from gpbandits_env.gp.learning import fit
from gpbandits_env.gp.temporal import WienerTime
from gpbandits_env.problem import Problem

ARMS = Arms(np.random.default_rng(0).uniform([0, -3], [4, 9], (60, 2)))
BOX = Box([0.0, -3.0], [4.0, 9.0])


def function(x):
    return 40 + 5 * np.sin(x[:, 0] * 2) + np.cos(x[:, 1] / 2)


def test_the_record_has_the_lengthscales_in_space_and_in_time():
    learn = {"what": ["lengthscale", "temporal"], "every": 8, "first": 8}
    given = {"temporal": {"type": "matern32", "lengthscale": 6.0}, "learn": learn}
    problem = Problem(Arms.grid(9), SquaredExponential(0.3), noise_var=0.05)
    agent = agents.make("gp-ucb", problem, seed=0, **given)
    for arm in range(8):
        agent.tell([arm], [np.sin(arm)])
    (record,), posterior = agent.learned, agent.posterior
    assert record["lengthscale"] == posterior.kernel.lengthscale != 0.3
    assert record["temporal.lengthscale"] == posterior.temporal.lengthscale


def test_time_before_the_first_observation_counts_in_a_fit():
    arms, kernel = Arms.grid(9), SquaredExponential(0.3)
    learn = {"what": ["temporal"], "every": 8, "first": 8}
    problem = Problem(arms, kernel, noise_var=0.05)
    agent = agents.make("gp-ucb", problem, seed=0, temporal=WienerTime(0.02), learn=learn)
    agent.wait(100.0)
    played, rewards = np.arange(8), np.sin(np.arange(8.0))
    for arm, reward in zip(played, rewards, strict=True):
        agent.tell([arm], [reward])
    (record,), times = agent.learned, 100.0 + np.arange(8)
    in_time = 1.0 + record["temporal.rate"] * np.minimum.outer(times, times)
    covariance = kernel(arms.coordinates[played]) * in_time + 0.05 * np.eye(8)
    expected = multivariate_normal(np.zeros(8), covariance).logpdf(rewards)
    expected += 8.0 * np.log(np.sqrt(np.mean(rewards**2)))  # that of the standardized rewards
    assert record["log_likelihood"] == pytest.approx(expected, abs=1e-9)


def test_a_repeated_fit_has_the_data_of_the_last_one_and_the_late_ones():
    problem = Problem(ARMS, Matern52(1.0), 0.1, max_delay=9)
    agent = agents.make("gp-ucb", problem, seed=0, standardize=True)
    agent.expect([0])
    agent.prior_data(np.arange(1, 6), np.arange(5.0))
    agent.expect([6])
    assert [(one["round"], one["observations"]) for one in agent.learned] == [(1, 5)]
    agent.tell_late([6], [90.0])
    assert agent.learned[-1]["mean"] == pytest.approx(2.0)
    agent.tell_late([0], [8.0])
    assert [(one["round"], one["observations"]) for one in agent.learned] == [(1, 6)]
    assert agent.learned[-1]["mean"] == pytest.approx(3.0)


def test_any_kernel_is_learned_by_the_names_of_its_parameters():
    """In an agent, and as the record says."""
    kernel = Matern52(1.0) * Linear(0.1) + SquaredExponential(3.0, 4.0)
    problem = Problem(BOX, kernel, 0.1, batch_size=2)
    agent = agents.make("ei", problem, seed=0, learn={"every": 4}, standardize=True)
    part = ["terms.1.lengthscale", "noise_var"]
    some = agents.make("ei", problem, seed=0, learn={"every": 4, "what": part})
    rng = np.random.default_rng(5)
    for _ in range(8):
        x = BOX.sample(rng, 2)
        for each in (agent, some):
            each.tell(x, function(x))
    names = set(kernel.parameters())
    assert names <= agent.learned[-1].keys()
    assert all(agent.learned[-1][n] != v for n, v in kernel.parameters().items())
    assert {n for n, v in kernel.parameters().items() if some.learned[-1][n] != v} == {part[0]}
    assert some.learned[-1]["noise_var"] != 0.1
    assert np.isfinite(agent.belief(BOX.sample(rng, 5))).all()


def test_dropout_learns_from_the_coordinates_of_the_next_round(monkeypatch):
    """In [-1, 1]^d, from the geometric mean of the lengthscales there."""
    given = []

    def recorded(model, data, **settings):
        given.append((model, data))
        return fit(model, data, **settings)

    monkeypatch.setattr(fits, "fit", recorded)
    low, high = np.zeros(5), np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    problem = Problem(Box(low, high), Matern52(tuple(high / 4)), 0.1)
    agent = agents.make("dropout-ucb", problem, seed=3, d=2, learn={"every": 4, "first": 4})
    x = problem.domain.sample(np.random.default_rng(4), 4)
    for i in range(4):
        agent.tell(x[[i]], function(x[[i]]))
    (model, data) = given[0]
    active = agent.action_map.active
    assert data.points == pytest.approx((2 * x / high - 1)[:, active])
    assert data.rewards == pytest.approx(function(x))
    assert model.kernel.lengthscale == pytest.approx(0.5)
    assert agent.learned[0]["round"] == 4


@pytest.mark.filterwarnings("ignore:the values vary by:UserWarning")
@pytest.mark.parametrize("domain", [ARMS, BOX], ids=["arms", "box"])
@pytest.mark.parametrize("size", [1e80, -1e150, 1e-100])
def test_rewards_of_any_size_are_learned_from(domain, size):
    """What a posterior mean says is the same in all units, also where variances have no numbers."""
    problem = Problem(domain, Matern52(1.0), 0.1)
    learn = {"every": 3, "first": 5}
    plain, scaled = (
        agents.make("ei", problem, seed=0, standardize=True, learn=learn) for _ in range(2)
    )
    rng = np.random.default_rng(2)
    for _ in range(9):
        places = domain.sample(rng, 2)
        y = function(domain.points(places)) / 100
        plain.tell(places, y)
        scaled.tell(places, size * y)
    assert [len(agent.learned) for agent in (plain, scaled)] == [3, 3]
    at = None if domain is ARMS else domain.sample(rng, 20)
    one, (mean, sd) = plain.belief(at)[0], scaled.belief(at)
    assert mean / size == pytest.approx(one, rel=1e-3)
    assert (sd > 0).all()
    assert np.isfinite(sd).all()


@pytest.mark.filterwarnings("ignore:the values vary by:UserWarning")
@pytest.mark.parametrize("what", [(), ("lengthscale",), ("lengthscale", "variance")])
def test_one_reward_beyond_all_others_stops_nothing(what):
    problem = Problem(BOX, Matern52(1.0, 1e20), 1e15)
    agent = agents.make("ei", problem, seed=0, standardize=True, learn={"every": 1, "what": what})
    rng = np.random.default_rng(2)
    for i in range(8):
        agent.tell(BOX.sample(rng, 1), [1e150 if i == 5 else float(i)])
    assert agent.round == agent.posterior.size == 8
    assert np.isfinite(agent.belief(BOX.sample(rng, 9))).all()
    assert np.isfinite(agent.ask()).all()


def test_lengthscales_that_a_fit_joins_are_learned_again():
    """On a square, one lengthscale of both coordinates takes the place of two."""
    problem = Problem(Arms.grid((4, 3)), Matern52((0.3, 0.6)), noise_var=0.05)
    agent = agents.make("gp-ucb", problem, seed=0, learn={"every": 2, "first": 4})
    for arm in range(8):
        agent.tell([arm], [np.sin(arm)])
    assert len({record["lengthscale"] for record in agent.learned}) == 3

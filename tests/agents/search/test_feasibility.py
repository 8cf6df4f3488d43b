"""Acquisitions times the probability of feasibility: on arms and in boxes, and in samples."""

import numpy as np
import pytest
from scipy.stats import norm

from gpbandits_env.agents import make
from gpbandits_env.agents.acquisitions import (
    LCB,
    UCB,
    Feasibility,
    LogEI,
    LogPI,
    Mean,
    RegretToSigma,
    Variance,
)
from gpbandits_env.agents.optimize import Integer, Space
from gpbandits_env.agents.search import search_for
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.posterior import BoxPosterior, posterior_for
from gpbandits_env.problem import Problem

BOX = Box(np.zeros(2), np.ones(2))
ARMS = Arms.grid([15, 15])
LATTICE = Space({"x": Integer(1, 4), "y": Integer(1, 4)}).cube
ALL = (UCB(4.0), LCB(1.0), LogEI(0.5), LogPI(0.5), Mean(), Variance())


def known(domain, f, seed=0, count=25):
    posterior = posterior_for(domain, Matern52(0.4), 1e-4)
    x = domain.sample(np.random.default_rng(seed), count)
    posterior.condition(x, f(domain.points(x)))
    return posterior


def objective(x):
    return x[:, 0] + x[:, 1]


def slack(x):
    return 0.8 - x[:, 0] - x[:, 1] ** 2


def models(domain):
    return known(domain, objective), Feasibility([known(domain, slack, 1), known(domain, slack, 2)])


def best_feasible(posterior):
    """The largest mean of an observed point that is feasible by both models of the slack."""
    observed, likely = posterior.observed, np.ones(len(posterior.observed), dtype=bool)
    for seed in (1, 2):
        likely &= known(posterior.domain, slack, seed).mean_at(observed) >= 0.0
    return float(posterior.mean_at(observed)[likely].max())


@pytest.mark.parametrize("acquisition", ALL, ids=lambda a: type(a).__name__)
def test_arms_maximize_the_product(acquisition):
    posterior, feasibility = models(ARMS)
    search = search_for(ARMS, None, np.random.default_rng(0))
    search.feasibility = feasibility
    score = acquisition.score(posterior.mean, posterior.var)
    lowest = best_feasible(posterior) if type(acquisition) is UCB else score.min()
    value = np.exp(score) if acquisition.logarithmic else np.maximum(score - lowest, 0.0)
    chance = np.ones(ARMS.size)
    for one in feasibility.slacks:
        chance *= norm.cdf(one.mean / np.sqrt(one.var))
    chosen = search.best(acquisition, posterior)[0]
    assert (value * chance)[chosen] == pytest.approx((value * chance).max(), rel=1e-9)


@pytest.mark.parametrize("kind", ["gradient", {"starts": 0}, "round"])
@pytest.mark.parametrize("acquisition", ALL, ids=lambda a: type(a).__name__)
def test_a_box_is_searched_for_the_product(acquisition, kind):
    posterior, feasibility = models(BOX)
    search = search_for(BOX, kind, np.random.default_rng(0))
    search.feasibility = feasibility
    grid = Arms.grid([101, 101]).coordinates
    score = acquisition.score(*posterior.moments(grid))
    weighted = acquisition.in_logarithms(float(score.min()), best_feasible(posterior))

    def value(x):
        return weighted.score(*posterior.moments(x)) + feasibility.log_probability(x)

    found = value(search.best(acquisition, posterior))[0]
    assert found > value(grid).max() - (1e-3 if kind == "gradient" else 0.3)


@pytest.mark.parametrize("acquisition", [*ALL, RegretToSigma(3.0)], ids=lambda a: type(a).__name__)
def test_gradients_in_logarithms(acquisition):
    posterior, feasibility = models(BOX)
    feasibility = Feasibility(feasibility.slacks[:1], feasibility.slacks[1])
    x = BOX.sample(np.random.default_rng(3), 20)
    weighted = acquisition.in_logarithms(-9.0)
    mean, var = posterior.moments(x)
    _, in_mean, in_var = weighted.score_and_gradient(mean, var)
    h = 1e-6
    slope = (weighted.score(mean + h, var) - weighted.score(mean - h, var)) / (2 * h)
    np.testing.assert_allclose(in_mean, slope, rtol=1e-5, atol=1e-5)
    step = h * var
    slope = (weighted.score(mean, var + step) - weighted.score(mean, var - step)) / (2 * step)
    np.testing.assert_allclose(in_var, slope, rtol=1e-5, atol=1e-5)
    value, gradient = feasibility.value_and_gradient(x)
    np.testing.assert_allclose(value, feasibility.log_probability(x), atol=1e-9)
    for j in range(2):
        move = np.eye(2)[j] * h
        up, down = feasibility.log_probability(x + move), feasibility.log_probability(x - move)
        np.testing.assert_allclose(gradient[:, j], (up - down) / (2 * h), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("domain", "kind"), [(ARMS, None), (BOX, "gradient"), (BOX, "round")])
def test_a_large_gain_is_no_reason_to_evaluate_where_failure_is_likely(domain, kind):
    """The objective grows a thousand times towards the corner, where success has P = 0.1."""
    posterior = known(domain, lambda x: 1e3 * objective(x))
    success, chance = known(domain, lambda x: 0.05 * slack(x), count=6), norm.cdf
    search = search_for(domain, kind, np.random.default_rng(0))
    likely = {}
    for what, feasibility in (
        ("slack", Feasibility([success])),
        ("success", Feasibility([], success)),
    ):
        search.feasibility = feasibility
        mean, var = success.moments(search.best(UCB(4.0), posterior))
        actions, maxima = search.sampled(posterior, np.random.default_rng(1), 8)
        sampled = success.mean_at(actions)[maxima > -np.inf]
        likely[what] = chance(mean / np.sqrt(var))[0], sampled.min()
    assert likely["slack"][0] < 0.5 < likely["success"][0] + 0.02
    assert likely["slack"][1] < 0.0 <= likely["success"][1]


@pytest.mark.parametrize("domain", [LATTICE, Arms.grid([4, 4])])
def test_points_where_an_evaluation_failed_are_not_chosen_again(domain):
    """Both the values and the models of success are best at the upper corner, whatever failed."""
    posterior, success = known(domain, objective), known(domain, lambda x: 1.0 + objective(x))
    search = search_for(domain, None, np.random.default_rng(0))
    failed = domain.sample(np.random.default_rng(0), 1)
    for _ in range(8):
        search.feasibility = Feasibility([], success, failed)
        chosen = search.best(Mean(), posterior)
        sampled, maxima = search.sampled(posterior, np.random.default_rng(1), 1)
        for point in (chosen, sampled):
            assert not (domain.points(failed) == domain.points(point)).all(axis=1).any()
        assert maxima > -np.inf
        failed = np.concatenate([failed, chosen])


def test_the_ratio_of_regret_to_sigma_keeps_its_order_in_logarithms():
    rng = np.random.default_rng(0)
    mean, var = rng.normal(size=50), rng.uniform(0.1, 1.0, 50)
    ratio = RegretToSigma(mean.max() + 1.0)
    order = np.argsort(ratio.score(mean, var))
    assert (np.argsort(ratio.in_logarithms(0.0).score(mean, var)) == order).all()


@pytest.mark.parametrize(("domain", "kind"), [(ARMS, None), (BOX, "gradient"), (BOX, "round")])
def test_samples_are_maximized_where_sampled_constraints_hold(domain, kind):
    posterior = known(domain, objective)
    feasibility = Feasibility([known(domain, slack, 1, count=60)])
    search = search_for(domain, kind, np.random.default_rng(0))
    search.feasibility = feasibility
    actions, maxima = search.sampled(posterior, np.random.default_rng(1), 8)
    assert np.isfinite(maxima).all()
    assert (slack(domain.points(actions)) > -0.35).all()
    search.feasibility = None
    free, highest = search.sampled(posterior, np.random.default_rng(1), 8)
    assert np.median(slack(domain.points(free))) < -0.9
    assert highest.mean() > maxima.mean() + 0.3


def test_a_sample_without_a_feasible_point_takes_the_smallest_violation():
    never = known(BOX, lambda x: -1.0 - x[:, 0] ** 2, count=60)
    search = search_for(BOX, None, np.random.default_rng(0))
    search.feasibility = Feasibility([never])
    actions, maxima = search.sampled(known(BOX, objective), np.random.default_rng(1), 4)
    assert (maxima == -np.inf).all()
    assert (actions[:, 0] < 0.3).all()


@pytest.mark.parametrize(
    "name", ["ei", "mpi", "gp-ucb", "ts", "ts-rsr", "sp", "qei", "ucbpe", "bucb"]
)
@pytest.mark.parametrize("domain", [ARMS, BOX])
def test_agents_ask_where_constraints_likely_hold(name, domain):
    problem = Problem(domain, Matern52(0.4), 1e-4, batch_size=3)
    agent = make(name, problem, seed=0)
    x = domain.sample(np.random.default_rng(0), 30)
    agent.prior_data(x, objective(domain.points(x)))
    agent.search.feasibility = Feasibility([known(domain, slack, 1, count=60)])
    asked = domain.points(agent.ask())
    assert asked.shape == (3, 2)
    if name != "sp":
        assert (slack(asked) > -0.35).all()


def test_before_a_feasible_point_only_feasibility_counts():
    posterior = BoxPosterior(BOX, Matern52(0.4), 1e-4)
    problem = Problem(BOX, Matern52(0.4), 1e-4)
    agent = make("ei", problem, seed=0)
    x = np.array([[0.9, 0.9], [0.8, 0.9], [0.9, 0.7]])
    agent.prior_data(x, objective(x))
    posterior.condition(x, slack(x))
    agent.search.feasibility = feasibility = Feasibility([posterior])
    chosen = agent.ask()
    grid = Arms.grid([51, 51]).coordinates
    chances = feasibility.log_probability(grid)
    assert feasibility.log_probability(chosen)[0] >= chances.max() - 1e-3

"""The candidates of a round: the same for all that is asked, and samples that are exact there."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.acquisitions import UCB, Mean, Variance
from gpbandits_env.agents.search import round as round_search
from gpbandits_env.agents.search import search_for
from gpbandits_env.agents.search.round import (
    RoundCandidates,
    RoundSearch,
    adam,
    apart,
    ascend,
)
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Linear, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.problem import Problem

BOX = Box(np.array([0.0, -2.0]), np.array([1.0, 3.0]))


def belief(kernel=None, count=12):
    posterior = BoxPosterior(BOX, kernel or Matern52((0.2, 1.0)), 1e-3)
    x = BOX.sample(np.random.default_rng(3), count)
    posterior.condition(x, np.sin(7.0 * x[:, 0]) + np.cos(x[:, 1]))
    return posterior


def search(**settings):
    return RoundSearch(BOX, np.random.default_rng(5), RoundCandidates(**settings))


def test_all_that_is_asked_in_a_round_is_asked_of_the_same_candidates():
    posterior, finder = belief(), search(candidates=50)
    first = finder.candidates_of(posterior)[0]
    finder.best(UCB(2.0), posterior)
    finder.sampled(posterior, np.random.default_rng(0), 3)
    posterior.hallucinate(first[:1])
    points, mean, var = finder.candidates_of(posterior)
    np.testing.assert_array_equal(points, first)
    np.testing.assert_allclose(mean, posterior.mean_at(points), atol=1e-10)
    np.testing.assert_allclose(var, posterior.var_at(points), atol=1e-9)
    posterior.rollback()
    finder.renew()
    assert not np.array_equal(finder.candidates_of(posterior)[0][:50], first[:50])


def test_candidates_are_drawn_anew_when_something_is_told():
    posterior, finder = belief(), search(candidates=50)
    first = finder.candidates_of(posterior)[0]
    posterior.condition([[0.5, 0.5]], [0.1])
    points, mean, _ = finder.candidates_of(posterior)
    assert not np.array_equal(points[:50], first[:50])
    np.testing.assert_allclose(mean, posterior.mean_at(points), atol=1e-10)


def test_tops_of_the_mean_are_among_the_candidates():
    posterior = belief()
    points, mean, _ = search(candidates=50).candidates_of(posterior)
    grid = Arms.grid([201, 201], BOX.low, BOX.high).coordinates
    assert mean.max() > posterior.mean_at(grid).max() - 1e-3
    assert 50 < len(points) <= 60
    assert len(search(candidates=50, tops=0).candidates_of(posterior)[0]) == 50


def test_told_points_above_the_best_candidate_start_climbs_the_highest_first():
    """Three peaks far apart on a plain at 0, each the top that a climb from its point ends at."""
    peaks = np.array([[0.2, -1.0], [0.5, 2.0], [0.8, 0.0]])
    posterior = BoxPosterior(BOX, SquaredExponential(0.02), 1e-6)
    posterior.condition(np.concatenate([peaks, [[0.5, -1.5]]]), [1.0, 2.0, 3.0, -1.0])

    def climbed_to(**settings):
        finder = search(**settings)
        added = finder.candidates_of(posterior)[0][finder.settings.candidates :]
        near = np.abs(added[:, None] - peaks).max(axis=2) < 1e-3
        assert (near.sum(axis=0) <= 1).all()
        return near.any(axis=0).tolist(), len(added)

    assert np.abs(posterior.mean_at(search(candidates=1).candidates_of(posterior)[0][:1])) < 1e-6
    # The candidate's own climb, and those from what is above it: not from the reward of -1.
    assert climbed_to(candidates=1) == ([True, True, True], 4)
    assert climbed_to(candidates=1, tops=3) == ([False, True, True], 3)
    assert climbed_to(candidates=1, tops=1) == ([False, False, False], 1)


def test_told_points_below_the_best_candidate_start_no_climb():
    """So many candidates that one of them is near the highest of three peaks."""
    posterior = BoxPosterior(BOX, SquaredExponential(0.1), 1e-6)
    posterior.condition([[0.2, -1.0], [0.5, 2.0], [0.8, 0.0]], [1.0, 2.0, 3.0])
    points, mean, _ = search(candidates=3000).candidates_of(posterior)
    assert mean[:3000].max() > 2.5
    assert mean[:3000].min() < 0.5
    assert np.abs(points[3000:] - [0.8, 0.0]).max() < 5e-3


@pytest.mark.parametrize("steps", [0, 10])
def test_the_best_candidate_is_found_and_refined(steps):
    posterior, finder = belief(), search(candidates=200, refine=steps)
    points, mean, var = finder.candidates_of(posterior)
    best = UCB(4.0).score(mean, var).max()
    found = finder.best(UCB(4.0), posterior)
    score = UCB(4.0).score(*posterior.moments(found))[0]
    if steps:
        assert score > best
    else:
        assert score == pytest.approx(best)
        assert found[0].tolist() in points.tolist()


def test_in_a_region_the_best_candidate_is_taken():
    posterior, finder = belief(), search(candidates=200)
    points, mean, var = finder.candidates_of(posterior)
    region = finder.region(posterior, lambda mean, var: mean > 0.5)
    posterior.hallucinate(points[[int(var.argmax())]])
    found = finder.best(Variance(), posterior, region)
    inside = posterior.var_at(points[mean > 0.5])
    assert posterior.var_at(found)[0] == pytest.approx(inside.max())
    with pytest.raises(InvalidInput, match="no candidate"):
        finder.best(Variance(), posterior, np.zeros(len(points), dtype=bool))


@pytest.mark.parametrize("kernel", [Matern32(0.3), SquaredExponential(1.5)])
def test_samples_have_the_posteriors_moments(kernel):
    """Also where the covariance is singular to rounding."""
    posterior, finder = belief(kernel), search(candidates=64)
    held = finder._candidates(posterior)
    draws = held.draw(np.random.default_rng(1), 20_000)
    covariance = posterior.covariance(held.points)
    spread = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
    np.testing.assert_allclose(draws.mean(axis=0), held.mean, atol=4e-2)
    assert np.abs(np.cov(draws.T) - covariance).max() < 0.05 * spread.max()
    where, tops = finder.sampled(posterior, np.random.default_rng(1), 5)
    again = held.draw(np.random.default_rng(1), 5)
    np.testing.assert_array_equal(tops, again.max(axis=1))
    np.testing.assert_array_equal(where, held.points[again.argmax(axis=1)])


def test_samples_do_not_outlive_the_data():
    posterior, finder = belief(), search(candidates=64)
    finder.sampled(posterior, np.random.default_rng(0), 2)
    posterior.hallucinate(finder.candidates_of(posterior)[0][:5])
    held = finder._candidates(posterior)
    draws = held.draw(np.random.default_rng(0), 4000)
    assert draws[:, :5].std(axis=0).max() < 0.05


def test_local_maxima_of_the_mean_do_not_change_how_samples_are_drawn(monkeypatch):
    """What `draws_paths` says when an agent is made holds in every round."""
    monkeypatch.setattr(round_search, "MOST_EXACT", 64)
    posterior, finder = belief(Matern32(0.5) + Linear()), search(candidates=64)
    assert not finder.draws_paths
    assert len(finder.candidates_of(posterior)[0]) > 64
    assert np.isfinite(finder.sampled(posterior, np.random.default_rng(0), 2)[1]).all()


def test_a_few_steps_climb_a_narrow_ridge_and_stop_at_the_ends():
    centre, scales = np.array([0.3, 5.0]), np.array([1.0, 30.0])

    def bowl(x):
        gap = (x - centre) / BOX.low.size * scales
        return -(gap**2).sum(axis=1), -2.0 * gap * scales / BOX.low.size

    starts = np.array([[0.9, -1.0], [0.1, 2.0]])
    at, value = ascend(bowl, starts, BOX.low, BOX.high, 40)
    np.testing.assert_allclose(at, [[0.3, 3.0]] * 2, atol=2e-2)
    np.testing.assert_allclose(value, bowl(at)[0])
    for steps in range(6):
        assert (ascend(bowl, starts, BOX.low, BOX.high, steps)[1] >= bowl(starts)[0]).all()


def test_more_steps_never_end_lower():
    def rugged(x):
        return np.sin(90.0 * x[:, 0]) + x[:, 0], np.column_stack(
            [90.0 * np.cos(90.0 * x[:, 0]) + 1.0, np.zeros(len(x))]
        )

    starts = np.column_stack([np.linspace(0.02, 0.98, 40), np.zeros(40)])
    values = [ascend(rugged, starts, BOX.low, BOX.high, steps)[1] for steps in range(8)]
    assert (np.diff(values, axis=0) >= 0.0).all()
    assert np.mean(values[7] - values[0]) > 0.5


def test_adam_keeps_the_best_of_its_way():
    """Steps of one length: it comes within a step of the top and does not go on from there."""
    centre = np.array([0.52, 0.04])

    def tent(x):
        return -np.abs(x - centre).sum(axis=1), -np.sign(x - centre)

    start = np.array([[0.5, 0.0]])
    at, value = adam(tent, start, BOX.low, BOX.high, 10, 0.01)
    assert np.abs(at - centre).max() < 0.02
    assert value[0] == tent(at)[0][0]
    one, _ = adam(tent, start, BOX.low, BOX.high, 1, 0.01)
    np.testing.assert_allclose(one, [[0.51, 0.01]], atol=5e-5)  # a step of the grid in this box
    corner, _ = adam(tent, np.array([[1.0, 3.0]]), BOX.low, BOX.high, 0, 0.01)
    np.testing.assert_array_equal(corner, [[1.0, 3.0]])


def test_an_ascent_never_ends_where_nothing_is_known():
    def cliff(x):
        value = np.where(x[:, 0] > 0.5, np.nan, x[:, 0])
        return value, np.ones_like(x)

    at, value = ascend(cliff, np.array([[0.45, 0.0]]), BOX.low, BOX.high, 20)
    assert at[0, 0] <= 0.5
    assert value[0] >= 0.45


def test_points_apart():
    points = np.array([[0.1, 0.0], [0.1005, 0.001], [0.1, 0.1], [0.5, 0.0]])
    np.testing.assert_array_equal(apart(BOX, points), points[[0, 2, 3]])


@pytest.mark.parametrize("name", ["dpp-ts", "bucb", "ucbpe", "sp", "ts", "qei", "ts-rsr"])
def test_batches_of_all_rules(name):
    """They lie in the box, and a snapshot goes on as the agent does."""
    problem = Problem(BOX, Matern52((0.2, 1.0)), 1e-4, batch_size=4)
    settings = {"search": {"type": "round", "candidates": 40}, "standardize": True}
    one = agents.make(name, problem, seed=1, **settings)
    rng = np.random.default_rng(0)
    for _ in range(3):
        actions = one.ask()
        BOX.check(actions)
        one.tell(actions, np.sin(actions).sum(axis=1) + 0.01 * rng.standard_normal(4))
    other = agents.make(name, problem, seed=2, **settings)
    other.restore(one.snapshot())
    np.testing.assert_array_equal(one.ask(), other.ask())
    other.restore(one.snapshot())
    np.testing.assert_array_equal(one.ask(), other.ask())


def test_settings():
    rng = np.random.default_rng(0)
    assert search_for(BOX, "round", rng).settings == RoundCandidates()
    assert search_for(BOX, {"type": "round", "refine": 3}, rng).settings.refine == 3
    with pytest.raises(InvalidInput, match="refine"):
        search_for(BOX, {"type": "round", "refine": -1}, rng)
    with pytest.raises(InvalidInput, match="rate"):
        search_for(BOX, {"type": "round", "rate": 0.0}, rng)


def test_the_largest_mean_and_a_prior_without_data():
    empty = BoxPosterior(BOX, Matern52(1.0), 0.1)
    finder = search(candidates=30)
    assert BOX.check(finder.best(Mean(), empty)).shape == (1, 2)
    posterior = belief()
    assert finder.largest_mean(posterior) == pytest.approx(finder.candidates_of(posterior)[1].max())


def dense(x, y, at, noise_var):
    """Mean and variance under Matern 3/2 of lengthscale 0.7, by numpy.linalg alone."""

    def k(a, b):
        r = np.sqrt(3.0) * np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=-1)) / 0.7
        return (1.0 + r) * np.exp(-r)

    weights = np.linalg.solve(k(x, x) + noise_var * np.eye(len(x)), k(x, at))
    return y @ weights, np.maximum(1.0 - (weights * k(x, at)).sum(axis=0), 0.0)


def test_ts_rsr_replayed_on_its_candidates():
    """Each action has the smallest ratio among the candidates, given the agent's own samples."""
    problem = Problem(BOX, Matern32(0.7), 1e-3, batch_size=4)
    search = {"type": "round", "candidates": 150, "refine": 0}
    agent = agents.make("ts-rsr", problem, seed=3, search=search)
    rng = np.random.default_rng(1)
    x = BOX.sample(rng, 12)
    y = np.sin(3.0 * x).sum(axis=1)
    agent.tell(x, y)
    for _ in range(4):
        tops, sampled = [], agent.search.sampled

        def recorded(posterior, rng, size, sampled=sampled, tops=tops):
            found = sampled(posterior, rng, size)
            tops.append(found[1])
            return found

        agent.search.sampled = recorded
        actions = agent.ask()
        points = agent.search._held.points
        mean, _ = dense(x, y, points, 1e-3)
        levels, rest = tops[0].copy(), list(tops[1:])
        while rest and (levels <= mean.max()).any():
            levels[levels <= mean.max()] = rest.pop(0)
        assert (levels > mean.max()).all()
        for i, action in enumerate(actions):
            known = np.concatenate([x, actions[:i]])
            _, var = dense(known, np.zeros(len(known)), points, 1e-3)
            ratio = (levels[i] - mean) / np.sqrt(var)
            place = int(np.flatnonzero((points == action).all(axis=1))[0])
            assert ratio[place] == pytest.approx(ratio.min(), rel=1e-6)
        del agent.search.sampled
        rewards = np.sin(3.0 * actions).sum(axis=1)
        agent.tell(actions, rewards)
        x, y = np.concatenate([x, actions]), np.concatenate([y, rewards])


def test_a_step_without_gain_is_shortened_also_where_the_slope_stays():
    """By curvature alone, the next step would be longer."""

    def saw(x):
        return (x / 0.006 % 1.0)[:, 0], np.full_like(x, 1.0 / 0.006)

    start = np.array([[0.005]])
    assert ascend(saw, start, np.zeros(1), np.ones(1), 8)[1] > saw(start)[0] + 0.01


def test_candidates_are_not_kept_for_other_rewards_of_the_same_points():
    posterior, finder = belief(), search(candidates=50)
    finder.candidates_of(posterior)
    x, y = posterior.observed, posterior.rewards
    posterior.forget()
    posterior.condition(x, -y)
    points, mean, _ = finder.candidates_of(posterior)
    np.testing.assert_allclose(mean, posterior.mean_at(points), atol=1e-10)

"""Where climbs begin: inside, all over, apart, from the generator alone; and between their ends."""

import numpy as np
import pytest

from gpbandits_env.agents.acquisitions import UCB
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.agents.search.candidates import (
    APART,
    EACH,
    PATIENCE,
    best_observed,
    crossed,
    distinct,
    near,
    spread,
)
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.posterior import BoxPosterior


@pytest.mark.parametrize("dim", [1, 3, 20, 21, 200])
def test_spread_points_lie_in_the_box_and_follow_from_the_generator(dim):
    box = Box(np.full(dim, -0.3), np.full(dim, 1.1))
    one, two = (spread(box, 100, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(box.check(one), two)
    assert np.abs(one.mean(axis=0) - 0.4).max() < 0.35
    assert len(np.unique(one, axis=0)) == 100


def test_few_dimensions_are_covered_evenly():
    points = spread(Box(np.zeros(1), np.ones(1)), 64, np.random.default_rng(0))
    gaps = np.diff(np.sort(points[:, 0]))
    np.testing.assert_allclose(gaps, 1 / 64, atol=1e-9)


def test_points_near_others_stay_in_the_box_and_near():
    box = Box(np.zeros(3), np.full(3, 10.0))
    centres = np.array([[0.0, 5.0, 10.0], [1.0, 1.0, 1.0]])
    points = near(box, centres, np.random.default_rng(0))
    box.check(points)
    assert np.median(np.abs(points - np.repeat(centres, 10, axis=0))) < 1.0


def test_the_best_observed_have_the_largest_means_once_each():
    box = Box(np.zeros(1), np.ones(1))
    posterior = BoxPosterior(box, Matern52(0.1), 1e-4)
    assert len(best_observed(posterior)) == 0
    x = np.repeat(np.linspace(0, 1, 15), 2)[:, None]
    posterior.condition(x, np.sin(3 * x[:, 0]))
    found = best_observed(posterior)
    expected = np.unique(x)[np.argsort(-np.sin(3 * np.unique(x)))[:10]]
    np.testing.assert_array_equal(np.sort(found[:, 0]), np.sort(expected))


def test_distinct_picks_greedily_what_is_apart():
    box = Box(np.zeros(2), np.full(2, 4.0))
    rng = np.random.default_rng(1)
    points, scores = box.sample(rng, 300), rng.standard_normal((5, 300))
    found = distinct(box, points, scores, 4)
    for row, score in zip(found, scores, strict=True):
        expected: list[int] = []
        for i in np.argsort(-score):
            away = [((points[i] - points[j]) ** 2).sum() / 16 for j in expected]
            if all(distance >= APART**2 * 2 for distance in away) and len(expected) < 4:
                expected.append(i)
        np.testing.assert_array_equal(row, expected)


def test_where_too_few_are_apart_the_next_best_follow():
    box = Box(np.zeros(1), np.ones(1))
    points = np.array([[0.5], [0.501], [0.502], [0.9]])
    found = distinct(box, points, np.array([[4.0, 3.0, 2.0, 1.0]]), 4)
    np.testing.assert_array_equal(found, [[0, 3, 1, 2]])


@pytest.fixture
def ends():
    return np.random.default_rng(0).choice([-1.0, 1.0], (10, 40))


def test_every_coordinate_is_that_of_some_end_and_the_value_is_the_point_s(ends):
    weights = np.random.default_rng(1).standard_normal(40)
    best, value = crossed(lambda x: x @ weights, ends, ends @ weights, np.random.default_rng(2))
    assert (best == ends).any(axis=0).all()
    assert value == pytest.approx(best @ weights)


def test_a_sum_over_coordinates_gains_most_of_what_can_be_gained(ends):
    weights = np.random.default_rng(1).standard_normal(40)
    values = ends @ weights
    _, value = crossed(lambda x: x @ weights, ends, values, np.random.default_rng(2))
    possible = (ends * weights).max(axis=0).sum()
    assert value > values.max() + 0.5 * (possible - values.max())


def test_where_nothing_is_better_the_best_end_stays_and_few_points_are_asked_for(ends):
    asked = []

    def score(x):
        asked.append(len(x))
        return -np.abs(x - ends[3]).sum(axis=1)

    best, value = crossed(score, ends, score(ends), np.random.default_rng(0))
    np.testing.assert_array_equal(best, ends[3])
    assert value == 0.0
    assert sum(asked[1:]) == PATIENCE * EACH


def test_a_round_in_which_all_trials_are_worse_changes_nothing():
    """Of so many ends hardly a trial is the best end itself, as many are where ends are few."""
    ends = np.random.default_rng(0).uniform(-1.0, 1.0, (100, 300))
    lowest = []

    def score(x):
        found = -np.abs(x - ends[7]).sum(axis=1)
        lowest.append(found.max())
        return found

    values = score(ends)
    for seed in range(5):
        best, value = crossed(score, ends, values, np.random.default_rng(seed))
        np.testing.assert_array_equal(best, ends[7])
        assert value == 0.0
    assert min(lowest) < 0.0


def test_what_is_forbidden_is_never_taken(ends):
    def score(x):
        return np.where((x == ends[0]).all(axis=1), 0.0, -np.inf)

    best, value = crossed(score, ends, score(ends), np.random.default_rng(0))
    np.testing.assert_array_equal(best, ends[0])
    assert value == 0.0


def test_the_search_ends_higher_than_its_climbs_in_many_dimensions(monkeypatch):
    rng = np.random.default_rng(0)
    box = Box(-np.ones(60), np.ones(60))
    belief = BoxPosterior(box, Matern52(8.0), 1e-3)
    x = box.sample(rng, 80)
    belief.condition(x, -np.sqrt((x**2).mean(axis=1)))
    scored = UCB(4.0)

    def value(seed):
        found = BoxSearch(box, np.random.default_rng(seed)).best(scored, belief)
        return scored.score(*belief.moments(found)).item()

    with_crossing = [value(seed) for seed in range(4)]
    first = "gpbandits_env.agents.search.box.crossed"
    monkeypatch.setattr(first, lambda score, ends, values, rng: (ends[values.argmax()], None))
    without = [value(seed) for seed in range(4)]
    assert (np.array(with_crossing) >= np.array(without)).all()
    assert np.mean(with_crossing) > np.mean(without) + 1e-3

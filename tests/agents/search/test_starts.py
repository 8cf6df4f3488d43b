"""Where searches begin: inside, all over, apart, and from the generator alone."""

import numpy as np
import pytest

from gpbandits_env.agents.search.starts import APART, best_told, distinct, near, spread
from gpbandits_env.domains import Box
from gpbandits_env.kernels import Matern52
from gpbandits_env.posterior import BoxPosterior


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


def test_the_best_told_have_the_largest_means_once_each():
    box = Box(np.zeros(1), np.ones(1))
    posterior = BoxPosterior(box, Matern52(0.1), 1e-4)
    assert len(best_told(posterior)) == 0
    x = np.repeat(np.linspace(0, 1, 15), 2)[:, None]
    posterior.condition(x, np.sin(3 * x[:, 0]))
    found = best_told(posterior)
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

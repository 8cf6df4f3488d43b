"""Coordinate exchange: what a search of integers and choices leaves to gain."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from gpbandits_env.agents.acquisitions import UCB, LogEI
from gpbandits_env.agents.optimize import Choice, Integer, Real, Space
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.agents.search.exchange import alternated
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.posterior import BoxPosterior

MIXED = Space(
    {
        **{f"x{i}": Real(0.0, 1.0) for i in range(3)},
        **{f"n{i}": Integer(0, 9) for i in range(2)},
        **{f"c{i}": Choice(tuple("abcdef")) for i in range(2)},
        "many": Integer(1, 100_000, log=True),
    }
)


def posterior_of(space, n, seed, unit=1.0):
    rng = np.random.default_rng(seed)
    posterior = BoxPosterior(space.cube, Matern52(1.0).scaled(unit**2), 1e-4 * unit**2)
    x = space.cube.snap(rng.random((n, space.dim)))
    posterior.condition(x, unit * np.sin(5.0 * x @ rng.standard_normal(space.dim)))
    return posterior


def exchanged_gain(space, acquisition, posterior, point):
    """What exchanges of single values of discrete dimensions gain, by each of their values."""

    def score(points):
        return acquisition.score(*posterior.moments(points))

    first = last = score(point[None]).item()
    while True:
        others, start = [], 0
        for dimension in space.dimensions.values():
            part = slice(start, start + dimension.width)
            start = part.stop
            if dimension.size is not None and dimension.size < 50:
                for value in dimension.values():
                    others.append(point.copy())
                    others[-1][part] = dimension.encode(value)
        scores = score(np.array(others))
        if scores.max() <= last + 1e-9:
            return last - first
        point, last = others[scores.argmax()], scores.max()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["ei", "ucb"])
def test_no_exchange_of_values_finds_much_more(kind, seed):
    posterior = posterior_of(MIXED, 30, seed)
    acquisition = UCB(2.0)
    if kind == "ei":
        acquisition = LogEI(float(posterior.mean_at_observed().max()))
    (point,) = BoxSearch(MIXED.cube, np.random.default_rng(seed)).best(acquisition, posterior)
    assert np.array_equal(MIXED.cube.snap(point[None])[0], point)
    assert exchanged_gain(MIXED, acquisition, posterior, point) < 0.05


@pytest.mark.parametrize("unit", [2.0**-12, 2.0**12])
def test_the_unit_of_values_decides_no_exchange(unit):
    """Powers of two change no digit."""
    plain, scaled = (posterior_of(MIXED, 30, 0, u) for u in (1.0, unit))
    searches = [BoxSearch(MIXED.cube, np.random.default_rng(0)) for _ in range(2)]
    one, other = (s.best(UCB(2.0), p) for s, p in zip(searches, (plain, scaled), strict=True))
    assert np.array_equal(one, other)
    rngs = [np.random.default_rng(5) for _ in range(2)]
    pairs = zip(searches, (plain, scaled), rngs, strict=True)
    (one, tops), (other, scaled_tops) = (s.sampled(p, rng, 3) for s, p, rng in pairs)
    assert np.array_equal(one, other)
    assert np.array_equal(unit * tops, scaled_tops)


def test_ends_are_never_below_where_they_were():
    posterior = posterior_of(MIXED, 20, 0)
    ends = MIXED.cube.snap(np.random.default_rng(1).random((6, MIXED.dim)))

    def score(points):
        return UCB(2.0).score(*posterior.moments(points))

    values = score(ends)
    points, scores = alternated(MIXED.cube, score, lambda y: (y, score(y)), ends, values)
    order = np.argsort(-values)[:4]
    assert (scores >= values[order]).all()
    assert scores == pytest.approx(score(points), abs=1e-12)
    assert scores.max() > values.max()


def test_an_ascent_follows_an_exchange():
    """At the start, only the second-best option is better; from its best x, the best one is."""
    space = Space({"x": Real(0.0, 1.0), "c": Choice(tuple("abc"))})
    targets, gains, steep = np.array([[0.1, 0.5, 0.9], [0.0, 1.0, 2.0], [4.0, 4.0, 5.0]])

    def score(points):
        option = points[:, 1:].argmax(axis=1)
        return gains[option] - steep[option] * (points[:, 0] - targets[option]) ** 2

    def climb(points):
        option = points[:, 1:].argmax(axis=1)
        ends = np.column_stack([targets[option], points[:, 1:]])
        return ends, score(ends)

    start = np.array([[0.1, 1.0, 0.0, 0.0]])
    points, scores = alternated(space.cube, score, climb, start, score(start))
    assert space.decode(points[0]) == {"x": 0.9, "c": "c"}
    assert scores == pytest.approx([2.0])


def test_exchanges_change_one_dimension_to_each_of_its_other_values():
    space = Space({"x": Real(0.0, 1.0), "n": Integer(1, 3), "c": Choice(("a", "b", "c"))})
    point = space.encode({"x": 0.123456789, "n": 2, "c": "b"})
    found = [tuple(space.decode(p).values()) for p in space.cube.exchanges(point)]
    assert [(n, c) for _, n, c in found] == [(1, "b"), (3, "b"), (2, "a"), (2, "c")]
    assert all(p[0] == point[0] for p in space.cube.exchanges(point))


def test_of_many_integers_those_at_powers_of_two_are_tried():
    others = Integer(0, 1000).others(990)
    assert others[:4] == [989, 991, 988, 992]
    assert {990 - 512, 998, 1000 - 10 - 8} <= set(others)
    assert all(0 <= n <= 1000 for n in others)


def test_exchanges_satisfy_linear_constraints():
    """They are none if no other value does."""
    limit = LinearConstraint([[0.0, 1.0]], -np.inf, 5.5)
    space = Space({"x": Real(0.0, 1.0), "n": Integer(0, 20)}, linear=[limit])
    point = space.encode({"x": 0.5, "n": 3})
    assert [space.decode(p)["n"] for p in space.cube.exchanges(point)] == [0, 1, 2, 4, 5]
    lonely = Space(
        {"x": Real(0.0, 1.0), "n": Integer(0, 20)},
        linear=[LinearConstraint([[0.0, 1.0]], -np.inf, 0.5)],
    )
    only = lonely.encode({"x": 0.5, "n": 0})
    assert lonely.cube.exchanges(only).shape == (0, 2)
    ends, scores = alternated(
        lonely.cube, lambda x: x[:, 0], lambda y: (y, y[:, 0]), only[None], only[:1]
    )
    assert ends.tolist() == [only.tolist()]
    assert scores.tolist() == [0.5]


def test_samples_are_maximized_over_points_that_stand_for_values():
    """The maxima are those of the samples at these points, and no exchange is above them."""
    posterior = posterior_of(MIXED, 20, 3)
    search = BoxSearch(MIXED.cube, np.random.default_rng(0))
    points, tops = search.sampled(posterior, np.random.default_rng(5), 2)
    assert np.array_equal(MIXED.cube.snap(points), points)
    paths = posterior.paths(np.random.default_rng(5), 2)
    for i, (point, top) in enumerate(zip(points, tops, strict=True)):
        assert paths(point[None])[i] == pytest.approx(top, abs=1e-4)
        others = MIXED.cube.exchanges(point)
        assert paths(others)[i].max() < top + 0.01

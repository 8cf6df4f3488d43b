import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.rewards.datasets import load_gisette
from gpbandits_env.rewards.tasks import make_task
from gpbandits_env.rewards.tasks.ramp import RampLoss

NOTHING = np.zeros(0)


def hinge(u, s):
    return np.maximum(0.0, s - u)


@pytest.mark.parametrize("options", [{}, {"cost": 5.0}, {"cost": 2.0, "s": -0.7, "bound": 0.1}])
def test_the_value_is_the_papers_formula(options, prepared):
    task = prepared(make_task("ramp-loss", options))
    features, labels = load_gisette("made")
    points = task.coordinates.box.sample(np.random.default_rng(0), 3)
    got = task.values(points, NOTHING)
    for point, value in zip(points, got, strict=True):
        w, b = point[:-1], point[-1]
        u = labels * (features.astype(float) @ w + b)
        loss = (hinge(u, 1.0) - hinge(u, task.s)).sum()
        assert value == pytest.approx(-(0.5 * w @ w + task.cost * loss), rel=1e-10)


def test_all_weights_and_the_bias_are_coordinates(prepared):
    task = prepared(make_task("ramp-loss", {"bound": 0.5}))
    box = task.coordinates.box
    assert box.dim == 5001
    assert set(box.high) == {0.5}
    assert task.values(np.zeros((1, 5001)), NOTHING).tolist() == [-1000.0]  # all on u = 0


@pytest.mark.parametrize("cost", [pytest.param(1.0, marks=pytest.mark.slow), 10.0])
def test_the_optimum_is_known_to_a_ten_thousandth(cost, prepared):
    task = prepared(RampLoss(cost))
    best = task.best(NOTHING)
    assert best.accuracy < 1e-4
    assert best.optimum == task.values(best.action[None], NOTHING)[0]
    assert best.optimum == pytest.approx(-0.4304, rel=1e-3)
    # Nothing near it is better.
    rng = np.random.default_rng(0)
    near = best.action * rng.normal(1, 0.01, (20, 5001)) + rng.normal(0, 1e-4, (20, 5001))
    assert task.values(near, NOTHING).max() < best.optimum
    shrunk = best.action * np.linspace(0.9, 1.1, 41)[:, None]
    assert task.values(shrunk, NOTHING).max() <= best.optimum + best.accuracy


def test_patterns_that_are_let_go(prepared):
    """With a C so small that it pays, the bound from below is what one pattern costs."""
    task = prepared(RampLoss(1e-5))
    best = task.best(NOTHING)
    assert -1000 * 1e-5 <= best.optimum < -1e-5
    assert best.accuracy == pytest.approx(-best.optimum - 1e-5)


def test_what_does_not_fit_is_refused():
    for options in ({"cost": 0}, {"bound": -1}, {"s": 1}, {"s": "low"}):
        with pytest.raises(InvalidInput):
            make_task("ramp-loss", options)
    for data in ("mad", ["made"]):
        with pytest.raises(UnknownName, match="part of gisette"):
            make_task("ramp-loss", {"data": data})


def test_a_pattern_beyond_s_may_be_cheaper_than_any_margin():
    """Its cost C (1 - s) is then the bound on the objective, far below the best value found."""
    best = RampLoss(1.0, 0.9).best(np.zeros(0))
    assert -best.optimum - best.accuracy == pytest.approx(0.1)
    assert best.accuracy > 0.1

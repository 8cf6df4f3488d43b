"""Test functions in a cube: the maximum is where it is said to be, however they were placed."""

import pickle

import numpy as np
import pytest
from scipy.stats import qmc

from gpbandits_env.errors import GPBanditsError
from gpbandits_env.rewards.functions import TEST_FUNCTIONS, AnalyticProcess


@pytest.mark.parametrize("function", TEST_FUNCTIONS)
def test_the_maximum_of_a_shifted_and_padded_function(function):
    """In 8 dimensions."""
    k = TEST_FUNCTIONS[function].dim or 3
    process = AnalyticProcess(function, 8, k, True)
    peak = TEST_FUNCTIONS[function].peak(k)
    points = 2.0 * qmc.Sobol(8, rng=1).random_base2(11) - 1.0
    for seed in range(3):
        f = process.draw(np.random.default_rng(seed))
        process.domain.check(f.best_action[None])
        assert f.optimum == peak
        assert abs(f(f.best_action[None])[0] - peak) <= f.accuracy
        near = np.clip(f.best_action + 0.05 * points, -1.0, 1.0)
        values = np.concatenate([f(points), f(near)])
        assert values.max() <= peak + f.accuracy


def test_nothing_beats_the_maximum_at_100000_points():
    for function, active in (("ackley", None), ("camelback", None), ("michalewicz", 3)):
        process = AnalyticProcess(function, 5, active, True)
        f = process.draw(np.random.default_rng(0))
        assert f(2.0 * qmc.Sobol(5, rng=2).random_base2(17) - 1.0).max() <= f.optimum + f.accuracy


def test_scaled_it_is_the_usual_box():
    """Against the formula at points scaled by hand."""
    u = np.random.default_rng(0).uniform(-1, 1, (50, 4))
    f = AnalyticProcess("schwefel-1.2", 4).draw(np.random.default_rng(0))
    np.testing.assert_allclose(f(u), TEST_FUNCTIONS["schwefel-1.2"].formula(65.536 * u))
    f = AnalyticProcess("hyper-ellipsoid", 4, shift=0.25).draw(np.random.default_rng(0))
    scaled = 65.536 * (u - 0.25)
    np.testing.assert_allclose(f(u), TEST_FUNCTIONS["hyper-ellipsoid"].formula(scaled))
    np.testing.assert_allclose(f.best_action, 0.25)
    f = AnalyticProcess("camelback", 4, [3, 1]).draw(np.random.default_rng(0))
    np.testing.assert_allclose(f(u), TEST_FUNCTIONS["camelback"].formula(u[:, [3, 1]] * [3.0, 2.0]))


def test_outside_its_usual_box_a_function_that_goes_on_climbing_does_not():
    f = AnalyticProcess("example", shift=-0.9).draw(np.random.default_rng(0))
    u = np.linspace(-1, 1, 2001)[:, None]
    end = TEST_FUNCTIONS["example"].formula(np.array([[10.0]]))[0]
    np.testing.assert_allclose(f(u[u[:, 0] > 0.1001]), end)
    assert f(u).max() <= f.optimum


def test_inert_coordinates_do_not_matter_and_the_others_do():
    process, rng = AnalyticProcess("camelback", 30, shift=True), np.random.default_rng(3)
    f = process.draw(np.random.default_rng(1))
    active = f.active
    u, v = rng.uniform(-1, 1, (2, 20, 30))
    v[:, active] = u[:, active]
    assert np.array_equal(f(u), f(v))
    for j in active:
        w = u.copy()
        w[:, j] = -w[:, j]
        assert not np.isclose(f(w), f(u)).any()


def test_places_are_drawn_at_each_reset_uniformly():
    process, rng = AnalyticProcess("camelback", 6, shift=True), np.random.default_rng(0)
    places = [process.draw(rng) for _ in range(3000)]
    counts = np.bincount(np.concatenate([p.active for p in places]), minlength=6)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000 * 2 / 3)
    first = np.mean([p.active[0] < p.active[1] for p in places])
    assert abs(first - 0.5) < 5 * 0.5 / np.sqrt(3000)
    given = TEST_FUNCTIONS["camelback"].maximizer(2) / [3.0, 2.0]
    peaks = np.stack([p.shift for p in places]) + given
    assert np.abs(peaks).max() <= 0.8
    assert np.abs(peaks.mean(axis=0)).max() < 5 * 0.8 / np.sqrt(3 * 3000)
    assert np.abs(peaks.var(axis=0) - 0.64 / 3).max() < 0.02


@pytest.mark.parametrize("fixed", [{"active": [4, 0]}, {"active": [4, 0], "shift": [0.1, -0.2]}])
def test_what_is_given_is_not_drawn(fixed):
    process = AnalyticProcess("camelback", 6, **fixed)
    places = [process.draw(np.random.default_rng(seed)) for seed in (0, 1)]
    assert all(p.active.tolist() == [4, 0] for p in places)
    assert all(p.shift.tolist() == fixed.get("shift", [0.0, 0.0]) for p in places)


def test_pickles_bring_functions_back():
    for process in (AnalyticProcess("levy", 6, 4, True), AnalyticProcess("ackley", 6, shift=True)):
        f = process.draw(np.random.default_rng(5))
        u = process.domain.sample(np.random.default_rng(6), 9)
        again = pickle.loads(pickle.dumps(f))
        assert np.array_equal(again(u), f(u))
        assert np.array_equal(again.best_action, f.best_action)
        assert again.optimum == f.optimum


def test_five_thousand_dimensions_are_exact():
    points = np.random.default_rng(0).uniform(-1, 1, (20, 5000))
    for function in [name for name, given in TEST_FUNCTIONS.items() if given.dim is None]:
        f = AnalyticProcess(function, 5000, shift=True).draw(np.random.default_rng(1))
        assert abs(f(f.best_action[None])[0] - f.optimum) <= f.accuracy
        near = f.best_action + 1e-5 * points
        assert max(f(points).max(), f(near).max()) <= f.optimum + f.accuracy


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"name": "akley"}, "ackley"),
        ({"name": "ackley", "dim": 0}, "at least 1"),
        ({"name": "camelback", "dim": 1}, "dim=2 or more"),
        ({"name": "camelback", "dim": 5, "active": 3}, "2 dimensions"),
        ({"name": "ackley", "dim": 5, "active": 6}, "dim=6 or more"),
        ({"name": "ackley", "dim": 5, "active": 0}, "at least 1"),
        ({"name": "ackley", "dim": 5, "active": []}, "at least one"),
        ({"name": "ackley", "dim": 5, "active": [1, 1]}, "distinct"),
        ({"name": "ackley", "dim": 5, "active": [1, 5]}, r"0\.\.4"),
        ({"name": "ackley", "dim": 5, "active": [-1, 2]}, "at least 0"),
        ({"name": "ackley", "dim": 5, "shift": [0.1, 0.2]}, "5 entries"),
        ({"name": "ackley", "dim": 5, "shift": float("nan")}, "finite"),
        ({"name": "ackley", "dim": 5, "shift": 1.1}, "outside of the cube; use"),
    ],
)
def test_bad_places_are_refused(args, says):
    with pytest.raises(GPBanditsError, match=says):
        AnalyticProcess(**args)

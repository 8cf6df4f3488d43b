"""Test functions in a cube: the maximum is where it is said to be, however they were placed."""

import pickle

import numpy as np
import pytest
from scipy.stats import qmc

from gpbandits_env.errors import GPBanditsError
from gpbandits_env.rewards.functions import MOTIONS, TEST_FUNCTIONS, AnalyticProcess

MOVING = [
    None,
    {"type": "orbit", "radius": 0.3, "period": 7},
    {"type": "line", "radius": 0.3, "period": 7},
    {"type": "turn", "period": 7},
    {"type": "stretch", "factor": 1.5, "period": 7},
]


def in_cube(name, dim=None, active=None, shift=False, motion=None):
    given = {"dim": dim, "active": active, "shift": shift, "motion": motion}
    return AnalyticProcess(name, cube=True, **given)


def motion_of(spec, function):
    if spec is None or (function == "example" and spec["type"] == "turn"):
        return None
    return MOTIONS.from_dict(spec)


@pytest.mark.parametrize("moving", MOVING, ids=lambda m: m["type"] if m else "still")
@pytest.mark.parametrize("function", TEST_FUNCTIONS)
def test_the_maximum_of_a_shifted_and_padded_function(function, moving):
    """Each round of a whole period, in 8 dimensions."""
    k = TEST_FUNCTIONS[function].dim or 3
    process = in_cube(function, 8, k, True, motion_of(moving, function))
    peak = TEST_FUNCTIONS[function].peak(k)
    points = 2.0 * qmc.Sobol(8, rng=1).random_base2(11) - 1.0
    for seed in range(3):
        path = process.begin(np.random.default_rng(seed))
        for _ in range(8):
            f = path.function
            process.domain.check(f.best_action[None])
            assert f.optimum == peak
            assert abs(f(f.best_action[None])[0] - peak) <= f.accuracy
            near = np.clip(f.best_action + 0.05 * points, -1.0, 1.0)
            values = np.concatenate([f(points), f(near)])
            assert values.max() <= peak + f.accuracy
            path.advance()


def test_nothing_beats_the_maximum_at_100000_points():
    for function, active in (("ackley", None), ("camelback", None), ("michalewicz", 3)):
        process = in_cube(function, 5, active, True)
        f = process.begin(np.random.default_rng(0)).function
        assert f(2.0 * qmc.Sobol(5, rng=2).random_base2(17) - 1.0).max() <= f.optimum + f.accuracy


def test_scaled_it_is_the_usual_box():
    """Against the formula at points scaled by hand."""
    u = np.random.default_rng(0).uniform(-1, 1, (50, 4))
    f = in_cube("schwefel-1.2", 4).begin(np.random.default_rng(0)).function
    np.testing.assert_allclose(f(u), TEST_FUNCTIONS["schwefel-1.2"].formula(65.536 * u))
    f = in_cube("hyper-ellipsoid", 4, shift=0.25).begin(np.random.default_rng(0)).function
    scaled = 65.536 * (u - 0.25)
    np.testing.assert_allclose(f(u), TEST_FUNCTIONS["hyper-ellipsoid"].formula(scaled))
    np.testing.assert_allclose(f.best_action, 0.25)
    f = in_cube("camelback", 4, [3, 1]).begin(np.random.default_rng(0)).function
    np.testing.assert_allclose(f(u), TEST_FUNCTIONS["camelback"].formula(u[:, [3, 1]] * [3.0, 2.0]))


def test_outside_its_usual_box_a_function_that_goes_on_climbing_does_not():
    f = in_cube("example", shift=-0.9).begin(np.random.default_rng(0)).function
    u = np.linspace(-1, 1, 2001)[:, None]
    end = TEST_FUNCTIONS["example"].formula(np.array([[10.0]]))[0]
    np.testing.assert_allclose(f(u[u[:, 0] > 0.1001]), end)
    assert f(u).max() <= f.optimum


def test_inert_coordinates_do_not_matter_and_the_others_do():
    process, rng = in_cube("camelback", 30, shift=True), np.random.default_rng(3)
    f = process.begin(np.random.default_rng(1)).function
    active = f.placement.active
    u, v = rng.uniform(-1, 1, (2, 20, 30))
    v[:, active] = u[:, active]
    assert np.array_equal(f(u), f(v))
    for j in active:
        w = u.copy()
        w[:, j] = -w[:, j]
        assert not np.isclose(f(w), f(u)).any()


def test_places_are_drawn_at_each_reset_uniformly():
    process, rng = in_cube("camelback", 6, shift=True), np.random.default_rng(0)
    places = [process.begin(rng).function.placement for _ in range(3000)]
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
    process = in_cube("camelback", 6, **fixed)
    places = [process.begin(np.random.default_rng(seed)).function.placement for seed in (0, 1)]
    assert all(p.active.tolist() == [4, 0] for p in places)
    assert all(p.shift.tolist() == fixed.get("shift", [0.0, 0.0]) for p in places)


def test_pickles_bring_paths_and_functions_back():
    motion = MOTIONS.from_dict(MOVING[1])
    for process in (in_cube("levy", 6, 4, True, motion), in_cube("ackley", 6, shift=True)):
        path = process.begin(np.random.default_rng(5))
        path.advance()
        u = process.domain.sample(np.random.default_rng(6), 9)
        again, copy = pickle.loads(pickle.dumps((path, path.function)))
        for _ in range(3):
            assert np.array_equal(again.function(u), path.function(u))
            assert np.array_equal(again.function.best_action, path.function.best_action)
            path.advance(), again.advance()
        assert copy.optimum == path.function.optimum


def test_five_thousand_dimensions_are_exact():
    points = np.random.default_rng(0).uniform(-1, 1, (20, 5000))
    for function in [name for name, given in TEST_FUNCTIONS.items() if given.dim is None]:
        f = in_cube(function, 5000, shift=True).begin(np.random.default_rng(1)).function
        assert abs(f(f.best_action[None])[0] - f.optimum) <= f.accuracy
        near = f.best_action + 1e-5 * points
        assert max(f(points).max(), f(near).max()) <= f.optimum + f.accuracy


def test_a_shift_is_drawn_for_the_true_of_numpy_too():
    given = [in_cube("ackley", 3, shift=drawn) for drawn in (True, np.True_)]
    shifts = [p.begin(np.random.default_rng(0)).function.placement.shift for p in given]
    assert (shifts[0] == shifts[1]).all()


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
        ({"name": "ackley", "dim": 5, "shift": 1.1}, "outside of its box; use"),
        ({"name": "ackley", "shift": 0.8, "motion": MOVING[1]}, r"box at \d+% of the period"),
        ({"name": "ackley", "dim": 1, "shift": True, "motion": MOVING[3]}, "2 dimensions"),
    ],
)
def test_bad_places_are_refused(args, says):
    if "motion" in args:
        args = {**args, "motion": MOTIONS.from_dict(args["motion"])}
    with pytest.raises(GPBanditsError, match=says):
        in_cube(**args)

"""The batched climb against scipy's L-BFGS-B, on quadratics in closed form, and its promises."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gpbandits_env.agents.search.climb import climb


def quadratic(d, seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    hessian = root @ root.T / d + 0.01 * np.eye(d)
    centre = rng.uniform(-1.3, 1.3, d)

    def surface(x, rows):
        away = x - centre
        pull = away @ hessian
        return -0.5 * np.einsum("ij,ij->i", away, pull), -pull

    return surface, -np.ones(d), np.ones(d)


def rosenbrock(d, seed):
    def surface(x, rows):
        a, b = x[:, :-1], x[:, 1:]
        gradient = np.zeros_like(x)
        gradient[:, :-1] = -400 * a * (b - a**2) - 2 * (1 - a)
        gradient[:, 1:] += 200 * (b - a**2)
        return -(100 * (b - a**2) ** 2 + (1 - a) ** 2).sum(axis=1), -gradient

    return surface, -2 * np.ones(d), 2 * np.ones(d)


def ackley(d, seed):
    def surface(x, rows):
        size = np.sqrt((x**2).mean(axis=1))
        waves = np.exp(np.cos(2 * np.pi * x).mean(axis=1))
        first = 20 * np.exp(-0.2 * size)
        slope = -0.2 * (first / np.maximum(size, 1e-300))[:, None] * x / d
        slope -= waves[:, None] * np.sin(2 * np.pi * x) * 2 * np.pi / d
        return first + waves, slope

    return surface, -2 * np.ones(d), 2 * np.ones(d)


def scipys(surface, start, low, high):
    def down(x):
        value, gradient = surface(x[None], np.zeros(1, dtype=int))
        return -value[0], -gradient[0]

    bounds = list(zip(low, high, strict=True))
    found = minimize(down, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-10)
    return -found.fun


@pytest.mark.parametrize(
    ("make", "d"),
    [(make, d) for make in (quadratic, ackley) for d in (1, 2, 10, 50)]
    + [(rosenbrock, d) for d in (2, 10, 50)],
)
class TestAgainstScipy:
    def climbed(self, make, d):
        surface, low, high = make(d, d)
        starts = np.random.default_rng(d).uniform(low, high, (12, d))
        points, values = climb(surface, starts, low, high, evaluations=12 * 500)
        np.testing.assert_allclose(surface(points, np.arange(12))[0], values, rtol=1e-9, atol=1e-9)
        assert (points >= low).all()
        assert (points <= high).all()
        return surface, low, high, starts, points, values

    def test_scipy_cannot_climb_on(self, make, d):
        surface, low, high, _, points, values = self.climbed(make, d)
        further = np.array([scipys(surface, point, low, high) for point in points])
        assert (further - values <= 1e-5 * np.maximum(np.abs(values), 0.1)).mean() > 0.9

    def test_scipy_climbs_hardly_higher_from_the_same_starts(self, make, d):
        surface, low, high, starts, _, values = self.climbed(make, d)
        theirs = np.array([scipys(surface, start, low, high) for start in starts])
        if make is ackley:
            # Of its many maxima our shorter first steps find nearer ones. By 200 starts the gain
            # is 0.95, 1.01, 0.84 and 0.91 of scipy's in 1, 2, 10 and 50 dimensions; here by 12.
            from_where = surface(starts, np.arange(12))[0].mean()
            assert values.mean() - from_where > 0.75 * (theirs.mean() - from_where)
            return
        worse = values < theirs - 1e-5 * np.maximum(np.abs(theirs), 0.1)
        # Rosenbrock has a second maximum from 4 dimensions on: either may find the better one.
        assert worse.sum() <= (0 if make is quadratic else 4)


def test_a_start_does_not_depend_on_the_others():
    surface, low, high = rosenbrock(4, 0)
    starts = np.random.default_rng(0).uniform(low, high, (6, 4))
    _, values = climb(surface, starts, low, high, evaluations=10_000)
    for i in range(6):
        alone = climb(surface, starts[i : i + 1], low, high, evaluations=10_000)
        np.testing.assert_allclose(alone[1][0], values[i], rtol=1e-6, atol=1e-9)


def test_rows_say_whose_points_they_are():
    tops = np.array([[0.1, 0.2], [0.9, 0.5], [0.4, 0.4]])

    def surface(x, rows):
        away = x - tops[rows]
        return -(away**2).sum(axis=1) * (1 + rows), -2 * away * (1 + rows)[:, None]

    points, _ = climb(surface, np.full((3, 2), 0.5), np.zeros(2), np.ones(2), evaluations=500)
    np.testing.assert_allclose(points, tops, atol=1e-6)


def test_never_into_minus_infinity_or_nan_and_never_below_the_start():
    def surface(x, rows):
        value = x[:, 0].copy()
        value[x[:, 0] > 0.7] = -np.inf
        value[x[:, 0] > 0.9] = np.nan
        return value, np.ones_like(x)

    starts = np.array([[0.1], [0.65], [0.8]])
    points, values = climb(surface, starts, np.zeros(1), np.ones(1), evaluations=1000)
    assert 0.69 < points[0, 0] <= 0.7
    assert 0.69 < points[1, 0] <= 0.7
    assert (points[2, 0], values[2]) == (0.8, -np.inf)


def test_a_flat_surface_is_left_at_once():
    calls = []

    def surface(x, rows):
        calls.append(len(x))
        return np.zeros(len(x)), np.zeros_like(x)

    starts = np.random.default_rng(0).random((5, 3))
    points, _ = climb(surface, starts, np.zeros(3), np.ones(3), evaluations=1000)
    np.testing.assert_array_equal(points, starts)
    assert calls == [5]


@pytest.mark.parametrize("size", [1e-307, 1e-309, 1e-311, 1e-315])
def test_a_surface_that_almost_underflows_is_climbed_without_an_overflow(size):
    """The inverse of a curvature below the smallest normal number is infinite."""

    def surface(x, rows):
        return -size * ((x - 0.3) ** 2).sum(axis=1), -2 * size * (x - 0.3)

    starts = np.array([[0.9, 0.1], [0.5, 0.6]])
    points, values = climb(surface, starts, np.zeros(2), np.ones(2), evaluations=60)
    assert np.isfinite(points).all()
    assert (values >= surface(starts, None)[0]).all()


def test_the_budget_counts_points():
    calls = []
    surface, low, high = rosenbrock(10, 0)

    def counted(x, rows):
        calls.append(len(x))
        return surface(x, rows)

    starts = np.random.default_rng(0).uniform(low, high, (7, 10))
    climb(counted, starts, low, high, evaluations=100)
    assert 90 <= sum(calls) <= 100


def test_the_sides_of_the_box_do_not_matter():
    surface, low, high = quadratic(5, 3)
    scale = 10.0 ** np.arange(-2, 3)

    def scaled(x, rows):
        value, gradient = surface(x / scale, rows)
        return value, gradient / scale

    starts = np.random.default_rng(0).uniform(low, high, (4, 5))
    _, plain = climb(surface, starts, low, high, evaluations=1000)
    _, values = climb(scaled, starts * scale, low * scale, high * scale, evaluations=1000)
    np.testing.assert_allclose(values, plain, rtol=1e-6)


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**20, 2.0**60])
@pytest.mark.parametrize("make", [quadratic, rosenbrock, ackley])
def test_the_unit_of_the_surface_does_not_matter(make, unit):
    surface, low, high = make(4, 1)

    def scaled(x, rows):
        value, gradient = surface(x, rows)
        return value * unit, gradient * unit

    starts = np.random.default_rng(0).uniform(low, high, (6, 4))
    plain = climb(surface, starts, low, high, evaluations=1000)
    points, values = climb(scaled, starts, low, high, evaluations=1000)
    np.testing.assert_array_equal(points, plain[0])
    np.testing.assert_array_equal(values, plain[1] * unit)


def test_where_the_surface_bends_up_the_corner_is_reached_in_few_calls():
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 50)
    calls = []

    def surface(x, rows):
        calls.append(len(x))
        values = np.exp(weights * x)
        return values.sum(axis=1), weights * values

    starts = np.random.default_rng(1).random((8, 50))
    points, _ = climb(surface, starts, np.zeros(50), np.ones(50), evaluations=8000)
    np.testing.assert_array_equal(points, np.ones((8, 50)))
    assert len(calls) <= 10


def test_noise_of_rounding_does_not_change_where_an_ascent_ends():
    """Without the grid the ends differ by 1e-8 and more."""

    def ends(noise):
        rng = np.random.default_rng(1)
        surface, low, high = ackley(6, 0)

        def rounding(x, rows):
            values, slopes = surface(x, rows)
            return values * (1 + noise * rng.standard_normal(values.shape)), slopes * (
                1 + noise * rng.standard_normal(slopes.shape)
            )

        starts = np.random.default_rng(0).uniform(low, high, (10, 6))
        return climb(rounding, starts, low, high, evaluations=1000)[0]

    assert np.array_equal(ends(1e-13), ends(0.0))


def test_what_does_not_move_stays_exactly():
    surface, low, high = quadratic(3, 0)

    def first(x, rows):
        values, slopes = surface(x, rows)
        return values, slopes * [1.0, 0.0, 1.0]

    starts = np.random.default_rng(0).uniform(low, high, (5, 3))
    ends, _ = climb(first, starts, low, high, evaluations=200)
    np.testing.assert_allclose(ends[:, 1], starts[:, 1], rtol=0, atol=1e-15)
    assert np.abs(ends[:, [0, 2]] - starts[:, [0, 2]]).max() > 0.01

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern12, Matern52, SquaredExponential
from gpbandits_env.gp.samplers import BoxSampler, FourierFeatures
from gpbandits_env.rewards.functions import BoxMaximum


class Bumps(BoxSampler):
    """Two bumps on [0, 1], heights are the coefficients: a broad one and a narrow one.

    The narrow one's top lies between two points of the search's first grid, so that hundreds of
    points of the broad one beat every point of it.
    """

    rank = 2
    error = 0.0
    fastest = np.array([300.0])
    centres = np.array([0.7, 500.5 / 2048])
    widths = np.array([0.3, 4 / 2048])

    def features(self, x):
        return np.exp(-0.5 * ((x - self.centres) / self.widths) ** 2)

    def gradient(self, x):
        slope = -(x - self.centres) / self.widths**2 * self.features(x)
        return slope[:, :, None]


@pytest.mark.parametrize(("height", "best"), [(1.003, 1), (0.9, 0)])
def test_a_narrow_peak_is_not_crowded_out_by_a_broad_one(height, best):
    under = Bumps().features(Bumps.centres[1:, None])[0, 0]  # the broad bump beneath the other
    point, _ = BoxMaximum(Bumps(), Box([0.0], [1.0]))(np.array([1.0, height - under]))
    assert point[0] == pytest.approx(Bumps.centres[best], abs=1e-3)


def test_sides_of_very_different_lengths_are_climbed_alike():
    """A smooth hill, its top between the points of the first set, in sides of 1e-3 and 1e6."""
    low, width = np.array([-2e-3, 50.0]), np.array([1e-3, 1e6])
    centre = low + np.array([0.30013, 0.70021]) * width

    class Hill(BoxSampler):
        rank = 1
        error = 0.0
        fastest = 3.0 / width

        def features(self, x):
            # The two bend differently, so that no step of the search lands on the top at once.
            gap = (x - centre) / width
            return -(gap[:, :1] ** 2 + 3.0 * np.expm1(gap[:, 1:]) ** 2 + gap[:, :1] * gap[:, 1:])

        def gradient(self, x):
            a, b = ((x - centre) / width).T
            rise = np.expm1(b)
            slope = -np.stack([2.0 * a + b, 6.0 * rise * np.exp(b) + a], axis=1) / width
            return slope[:, None]

    point, accuracy = BoxMaximum(Hill(), Box(low, low + width))(np.array([1.0]))
    assert Hill().features(point[None]).item() > -1e-3 * accuracy


def test_a_maximum_on_the_edge_is_found_exactly():
    class Line(Bumps):
        def features(self, x):
            return np.hstack([x, x**2])

        def gradient(self, x):
            return np.stack([np.ones_like(x), 2 * x], axis=1)

    point, _ = BoxMaximum(Line(), Box([-2.0], [3.0]))(np.array([1.0, 0.1]))
    assert point.tolist() == [3.0]


def features(kernel, dim):
    return FourierFeatures(kernel, dim, 1024, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("kernel", "dim"), [(Matern12(0.2), 4), (SquaredExponential(0.05), 6), (Matern12(0.2), 25)]
)
def test_a_search_that_would_take_too_long_is_refused(kernel, dim):
    box = Box(np.zeros(dim), np.ones(dim))
    with pytest.raises(InvalidInput, match=r"waves per side. Use arms"):
        BoxMaximum(features(kernel, dim), box).check()


def test_the_accuracy_has_the_units_of_the_function_and_knows_large_coordinates():
    box, away = Box([0.0], [1.0]), Box([1e8], [1e8 + 1.0])
    xi = np.random.default_rng(1).standard_normal(1024)
    plain, large, far = (
        BoxMaximum(features(SquaredExponential(0.1, variance), 1), place).accuracy(xi)
        for variance, place in ((1.0, box), (1e6, box), (1.0, away))
    )
    assert large == pytest.approx(1e3 * plain)
    # Angles of 30 times 1e8 radians are rounded to 4e-7.
    assert far > 4e-7


@pytest.mark.parametrize(("variance", "size"), [(1e-24, 1.0), (1e24, 1.0), (1.0, 1e-12)])
def test_the_unit_of_the_function_does_not_matter(variance, size):
    box, xi = Box([0.0, 0.0], [1.0, 1.0]), np.random.default_rng(1).standard_normal(1024)
    plain, _ = BoxMaximum(features(Matern52(0.2), 2), box)(xi)
    point, _ = BoxMaximum(features(Matern52(0.2, variance), 2), box)(size * xi)
    np.testing.assert_allclose(point, plain, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "dim", "most"),
    [
        (SquaredExponential(0.1), 1, 62),
        (SquaredExponential(0.2), 3, 239),
        (SquaredExponential(1.0), 6, 196),
        (Matern52(0.2), 2, 182),
        (Matern52(0.3), 3, 260),
    ],
)
def test_a_smooth_function_needs_few_evaluations(kernel, dim, most):
    """At most 8,192 points of a grid, and fewer evaluations than 16 ascents used to take."""
    sampler = features(kernel, dim)
    evaluated, pull = [], sampler.pull
    sampler.pull = lambda x, xi: evaluated.append(len(x)) or pull(x, xi)
    search = BoxMaximum(sampler, Box(np.zeros(dim), np.ones(dim)))
    assert len(search._scan(np.zeros(1024))) <= 8192
    rng = np.random.default_rng(0)
    for _ in range(10):
        search(rng.standard_normal(1024))
    assert sum(evaluated) <= 10 * most

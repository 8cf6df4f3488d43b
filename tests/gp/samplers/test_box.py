"""Draws in a box: random Fourier features and exact product features."""

import pickle

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import (
    Linear,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
)
from gpbandits_env.gp.samplers import FourierFeatures, ProductFeatures

SE = SquaredExponential(0.4, 2.0)
SPECTRAL = {
    "se": SE,
    "se ard": SquaredExponential((0.3, 1.0)),
    "matern12": Matern12(0.5),
    "matern32": Matern32(0.5, 0.7),
    "matern52 ard": Matern52((0.3, 0.8)),
    "matern of nu 1": Matern(0.5, nu=1.0),
    "matern of nu 7": Matern(0.5, nu=7.0),
    "sum": Matern32(0.3, 2.0) + SquaredExponential(1.0, 0.5),
    "product": Matern52(0.6) * SquaredExponential(0.8, 2.0),
    "product of sums": (Matern12(0.5) + SE) * Matern32(0.7, 0.5),
}


@pytest.fixture
def points(rng):
    return rng.random((25, 2)) * 2.0 - 0.5


@pytest.fixture(params=list(SPECTRAL.values()), ids=list(SPECTRAL))
def spectral(request):
    return request.param


def slopes_by_differences(sampler, x, step):
    shifts = np.eye(x.shape[1]) * step
    sides = [(sampler.features(x + s) - sampler.features(x - s)) / (2.0 * step) for s in shifts]
    return np.stack(sides, axis=2)


def test_random_features_average_to_the_kernel(spectral, points):
    # Of 400 independent sets the mean error at a pair is normal, of sd below v / sqrt(m 400).
    features, sets, rng = 32, 400, np.random.default_rng(7)
    mean = np.zeros((25, 25))
    for _ in range(sets):
        phi = FourierFeatures(spectral, 2, features, rng).features(points)
        mean += phi @ phi.T / sets
    variance = float(spectral.diagonal(points[:1])[0])
    z = (mean - spectral(points)) * np.sqrt(features * sets) / variance
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(mean.diagonal(), variance, rtol=1e-12)


@pytest.mark.parametrize("features", [256, 1024])
def test_the_stated_error_of_random_features_is_two_standard_errors(spectral, points, features):
    sampler = FourierFeatures(spectral, 2, features, np.random.default_rng(8))
    variance = float(spectral.diagonal(points[:1])[0])
    assert sampler.error == pytest.approx(2.0 * variance / np.sqrt(features))
    phi = sampler.features(points)
    assert phi.shape == (25, features)
    gaps = np.abs(phi @ phi.T - spectral(points))[np.triu_indices(25, 1)]
    assert np.sqrt((gaps**2).mean()) < sampler.error
    assert 0.2 * sampler.error < gaps.max() < 2.5 * sampler.error


def test_gradients_of_random_features(spectral, points):
    sampler = FourierFeatures(spectral, 2, 16, np.random.default_rng(9))
    found = sampler.gradient(points)
    assert found.shape == (25, 16, 2)
    # Frequencies of a Matern 1/2 are Cauchy: the step suits the largest.
    step = 1e-4 / np.abs(sampler.frequencies).max()
    expected = slopes_by_differences(sampler, points, step)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(found).max())


def test_random_features_are_the_generators_alone_and_survive_pickling(points):
    one, two = (FourierFeatures(SE, 2, 64, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(one.features(points), two.features(points))
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.features(points), one.features(points))
    assert again.error == one.error


def test_what_has_no_known_spectrum_is_refused(rng):
    says = "'linear' has no spectral density .*, since it is not stationary: use arms or a grid"
    with pytest.raises(InvalidInput, match=says):
        FourierFeatures(Linear(), 2, 64, rng)
    with pytest.raises(InvalidInput, match="'linear' has no spectral density"):
        FourierFeatures(SE * Linear(), 2, 64, rng)
    with pytest.raises(InvalidInput, match="features must be even"):
        FourierFeatures(SE, 2, 63, rng)


BOXES = {
    "line": (Box([0.0], [1.0]), SquaredExponential(0.2)),
    "square": (Box([0.0, -2.0], [1.0, 1.0]), SquaredExponential((0.2, 1.3), 2.0)),
    "cube": (Box(np.zeros(3), np.ones(3)), SquaredExponential(0.7)),
    "smooth matern": (Box([0.0], [1.0]), Matern(2.0, nu=6.5)),
    "product": (Box([-1.0, 0.0], [1.0, 3.0]), SE * SquaredExponential((1.0, 2.0), 0.5)),
}


@pytest.fixture(params=list(BOXES.values()), ids=list(BOXES))
def product(request):
    box, kernel = request.param
    return ProductFeatures(box, kernel), box, kernel


def test_product_features_are_exact_in_the_whole_box(product, rng):
    sampler, box, kernel = product
    x = box.sample(rng, 400)
    x[0], x[1] = box.low, box.high
    phi = sampler.features(x)
    assert phi.shape == (400, sampler.rank)
    variance = kernel.diagonal(x).max()
    gap = np.abs(phi @ phi.T - kernel(x)).max()
    assert gap <= 1.5 * sampler.error + 1e-14 * variance
    assert sampler.error <= 3e-12 * variance


def test_gradients_of_product_features(product, rng):
    sampler, box, kernel = product
    x, z = box.sample(rng, 30), box.sample(rng, 20)
    # d/dx phi(x) . phi(z) is the kernel's own gradient.
    found = np.einsum("nrd,mr->nmd", sampler.gradient(x), sampler.features(z))
    exact = kernel.gradient(x, z)
    assert np.abs(found - exact).max() <= 1e-8 * np.abs(exact).max()


def test_functions_in_a_box_have_the_kernels_moments(rng, z_scores):
    box, kernel = BOXES["square"]
    x = box.sample(rng, 40)
    sampler = ProductFeatures(box, kernel)
    draws = rng.standard_normal((4000, sampler.rank)) @ sampler.features(x).T
    assert np.abs(z_scores(draws, kernel(x))).max() < 4.8


def test_product_features_survive_pickling(product, rng):
    sampler, box, _ = product
    x = box.sample(rng, 5)
    again = pickle.loads(pickle.dumps(sampler))
    assert np.array_equal(again.features(x), sampler.features(x))
    assert again.error == sampler.error


@pytest.mark.parametrize(
    ("dim", "kernel", "message"),
    [
        (2, Matern52(0.2), "'matern52' is not a product over axes"),
        (1, Matern52(0.2), r"too rough on \[0, 1\]: its rank is above 100"),
        (1, SquaredExponential(0.01), "rank is above 100"),
        (4, SquaredExponential(0.2), "more than 4096 exact features"),
    ],
)
def test_what_product_features_cannot_do_is_refused(dim, kernel, message):
    with pytest.raises(InvalidInput, match=message):
        ProductFeatures(Box(np.zeros(dim), np.ones(dim)), kernel)


def test_a_single_point_and_no_points_keep_their_shapes(product, rng):
    sampler, box, _ = product
    for count in (0, 1):
        x = box.sample(rng, count)
        assert sampler.features(x).shape == (count, sampler.rank)
        assert sampler.gradient(x).shape == (count, sampler.rank, box.dim)

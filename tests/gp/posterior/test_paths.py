"""Functions drawn from a posterior: moments, gradients, and what they are made of."""

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Linear, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.gp.posterior.space_time import SpaceTime
from gpbandits_env.gp.posterior.whitening import BoxData
from gpbandits_env.gp.samplers import ProductFeatures

DRAWS = 20_000


def world(dim, kernel, epsilon=0.0, noise_var=0.05):
    """A posterior with ten rounds of three points behind it, and points to look at."""
    rng = np.random.default_rng(0)
    box = Box(-np.ones(dim), np.ones(dim))
    posterior = BoxPosterior(box, kernel, noise_var, 0.3)
    for _ in range(10):
        posterior.condition(box.sample(rng, 3), rng.standard_normal(3))
        posterior.advance(epsilon)
    return posterior, np.concatenate([box.sample(rng, 8), posterior.observed[[0, 1, -2, -1]]])


def assert_moments(draws, mean, covariance, slack=0.0):
    """Within 5.5 standard errors, entry by entry; the covariance also within a slack."""
    var, count = covariance.diagonal(), len(draws)
    assert (np.abs(draws.mean(axis=0) - mean) <= 5.5 * np.sqrt(var / count)).all()
    spread = np.sqrt((np.outer(var, var) + covariance**2) / count)
    assert (np.abs(np.cov(draws.T) - covariance) <= 5.5 * spread + slack).all()


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
class TestMoments:
    def test_exact_features(self, epsilon):
        posterior, x = world(2, SquaredExponential(0.5), epsilon)
        paths = posterior.paths(np.random.default_rng(1), DRAWS)
        assert paths.error < 1e-10
        assert_moments(paths(x), posterior.moments(x)[0], posterior.covariance(x))

    def test_draws_by_factor(self, epsilon):
        posterior, x = world(3, Matern32(0.5), epsilon)
        draws = posterior.sample(np.random.default_rng(1), DRAWS, x)
        assert_moments(draws, posterior.moments(x)[0], posterior.covariance(x))

    def test_draws_by_exact_paths(self, epsilon):
        """More points than features: Matheron's rule takes over."""
        posterior, x = world(1, SquaredExponential(0.5), epsilon)
        many = np.concatenate([x, posterior.box.sample(np.random.default_rng(2), 200)])
        draws = posterior.sample(np.random.default_rng(1), DRAWS, many)[:, : len(x)]
        assert_moments(draws, posterior.moments(x)[0], posterior.covariance(x))

    @pytest.mark.slow
    @pytest.mark.parametrize("kernel", [Matern32(0.5), Matern52((0.5, 0.7, 1.0))])
    def test_random_features(self, kernel, epsilon):
        """Over draws of the features too, the covariance is that of Matheron's rule."""
        posterior, x = world(3, kernel, epsilon)
        rng = np.random.default_rng(1)
        draws = np.concatenate([posterior.paths(rng, 20, 512)(x) for _ in range(1000)])
        assert_moments(draws, posterior.moments(x)[0], posterior.covariance(x), slack=0.004)

    def test_mean_over_one_set_of_features(self, epsilon):
        """The mean does not hang on the features at all."""
        posterior, x = world(3, Matern32(0.5), epsilon)
        draws = posterior.paths(np.random.default_rng(1), DRAWS, 32)(x)
        error = (draws.mean(axis=0) - posterior.moments(x)[0]) / draws.std(axis=0)
        assert np.abs(error).max() < 5.5 / np.sqrt(DRAWS)

    def test_scaled_differences_from_the_mean(self, epsilon):
        posterior, x = world(2, SquaredExponential(0.5), epsilon)
        mean = posterior.moments(x)[0]
        drawn = posterior.paths(np.random.default_rng(1), 3)(x)
        closer = posterior.paths(np.random.default_rng(1), 3, scale=0.3)(x)
        np.testing.assert_allclose(closer, mean + 0.3 * (drawn - mean), atol=1e-9)
        empty, rng = BoxPosterior(posterior.box, posterior.kernel, 0.1, 0.3), np.random.default_rng
        half = empty.paths(rng(1), 3, scale=0.5)(x) - 0.3
        np.testing.assert_allclose(half, 0.5 * (empty.paths(rng(1), 3)(x) - 0.3), atol=1e-9)

    def test_only_told_points_count(self, epsilon):
        posterior, x = world(2, SquaredExponential(0.5), epsilon)
        before = posterior.paths(np.random.default_rng(1), 3)(x)
        drawn = posterior.sample(np.random.default_rng(1), 3, x)
        posterior.hallucinate(x[:2])
        np.testing.assert_allclose(posterior.paths(np.random.default_rng(1), 3)(x), before)
        found = posterior.sample(np.random.default_rng(1), 3, x)
        np.testing.assert_allclose(found, drawn, atol=1e-7)


def test_past_values_of_prior_functions():
    """Given f now, past values have the law of the drift: each is correlated by its own fade."""
    rng = np.random.default_rng(0)
    x = np.array([[0.1], [0.4], [0.4], [0.9]])
    box, law = Box([0.0], [1.0]), SquaredExponential(0.3)
    features = ProductFeatures(box, law)
    phi = features.features(x)
    ages = np.array([2.0, 2.0, 0.5, 0.1])
    xi = rng.standard_normal((DRAWS, features.rank))
    shared = np.exp(-np.abs(ages[:, None] - ages))
    data = BoxData(1)
    for point, age in zip(x, ages, strict=True):
        data.clock = -age
        data.extend(point[None], 0.0, 0.1)
    data.clock = 0.0
    then = SpaceTime(box, law, None).seen(rng, features, xi, data, 4)
    kernel = law(x)
    apart = kernel * shared + 0.1 * np.eye(4)
    both = np.block([[apart, kernel * np.exp(-ages)[:, None]], [kernel * np.exp(-ages), kernel]])
    assert_moments(np.concatenate([then, xi @ phi.T], axis=1), np.zeros(8), both, slack=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize(
    ("dim", "kernel"),
    [(2, SquaredExponential(0.5)), (3, Matern32(0.5)), (6, Matern52(1.0) + Matern32(2.0))],
)
def test_climbing(dim, kernel, epsilon):
    posterior, x = world(dim, kernel, epsilon)
    paths = posterior.paths(np.random.default_rng(1), 5)
    which = np.array([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 1, 2])
    values, gradients = paths.climb(x, which)
    np.testing.assert_allclose(values, paths(x)[which, np.arange(12)], atol=5e-6)
    step = 1e-4
    for j, shift in enumerate(step * np.eye(dim)):
        ends = [paths.climb(x + sign * shift, which)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        # At observed points the second derivative may jump.
        np.testing.assert_allclose(gradients[:8, j], slope[:8], atol=2e-5)


def test_paths_stay_as_they_are():
    posterior, x = world(3, Matern32(0.5))
    paths = posterior.paths(np.random.default_rng(1), 2)
    before = paths(x)
    posterior.hallucinate(x)
    posterior.condition(x, np.ones(len(x)))
    posterior.forget()
    posterior.condition(x[::-1], np.ones(len(x)))
    np.testing.assert_array_equal(paths(x), before)


def test_little_noise_pins_paths_to_the_data():
    posterior, _ = world(3, Matern32(0.5), noise_var=1e-8)
    values = posterior.paths(np.random.default_rng(1), 50)(posterior.observed)
    np.testing.assert_allclose(values, np.tile(posterior.rewards, (50, 1)), atol=2e-3)


def test_prior_functions_and_no_functions():
    box = Box(np.zeros(2), np.ones(2))
    posterior = BoxPosterior(box, SquaredExponential(0.5, 2.0), 0.1, 1.0)
    x = box.sample(np.random.default_rng(3), 6)
    draws = posterior.paths(np.random.default_rng(4), DRAWS)(x)
    assert_moments(draws, np.ones(6), posterior.kernel(x))
    assert posterior.paths(np.random.default_rng(4), 0)(x).shape == (0, 6)
    assert posterior.sample(np.random.default_rng(4), 0, x).shape == (0, 6)


def test_no_features_for_the_kernel():
    posterior, _ = world(2, Linear())
    for draw in (lambda: posterior.paths(np.random.default_rng(0), 1), posterior.check_paths):
        with pytest.raises(InvalidInput, match="spectral density"):
            draw()
    world(1, Linear())[0].check_paths()  # on a line its features are exact

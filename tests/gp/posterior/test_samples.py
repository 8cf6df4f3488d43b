"""Joint draws have the posterior's mean and covariance."""

import numpy as np
import pytest

DRAWS = 20_000


def assert_moments(draws, mean, covariance):
    """Within 5.5 standard errors, entry by entry."""
    count = len(draws)
    var = covariance.diagonal()
    slack = 1e-12 * var.max() + 1e-14
    error = draws.mean(axis=0) - mean
    assert (np.abs(error) <= 5.5 * np.sqrt(var / count) + np.sqrt(slack)).all()
    found = np.cov(draws.T)
    spread = np.sqrt((np.outer(var, var) + covariance**2) / count)
    assert (np.abs(found - covariance) <= 5.5 * spread + 1e-9).all()


@pytest.mark.parametrize("drift", [0.0, 0.05])
def test_moments(make, dense_of, world, representation, drift):
    posterior = make(world, representation, noise_var=0.1, prior_mean=1.0)
    dense = dense_of(posterior)
    rng = np.random.default_rng(21)
    for _ in range(6):
        arms, rewards = rng.integers(10, size=3), rng.standard_normal(3)
        for thing in (posterior, dense):
            thing.condition(arms, rewards)
            thing.advance(drift)
    before = posterior.sample(np.random.default_rng(22), 3)
    posterior.hallucinate([1, 2])  # No values: draws stay as they are.
    draws = posterior.sample(np.random.default_rng(22), DRAWS)
    assert draws.shape == (DRAWS, posterior.arms.size)
    assert_moments(draws, *dense.moments())
    assert before.shape == (3, posterior.arms.size)


def test_draws_of_the_prior(make, dense_of, world, representation):
    posterior = make(world, representation)
    draws = posterior.sample(np.random.default_rng(23), DRAWS)
    assert_moments(draws, *dense_of(posterior).moments())


def test_almost_no_noise(make, dense_of):
    posterior = make("matern32", "rows", noise_var=1e-10)
    dense = dense_of(posterior)
    for thing in (posterior, dense):
        thing.condition([2, 11, 25], [1.0, 0.0, -1.0])
    draws = posterior.sample(np.random.default_rng(24), DRAWS)
    assert_moments(draws, *dense.moments())
    np.testing.assert_allclose(draws[:, 11], 0.0, atol=1e-3)


def test_draws_follow_new_data(make, representation):
    """What is kept of a factorisation must not outlive the data."""
    posterior = make("matern32", representation, noise_var=0.01)
    posterior.condition([4], [0.0])
    posterior.advance(0.1)
    assert posterior.sample(np.random.default_rng(1), 2000)[:, 20].std() > 0.5
    assert posterior.sample(np.random.default_rng(1), 2000)[:, 4].std() < 0.4
    posterior.advance(0.9)
    assert posterior.sample(np.random.default_rng(1), 2000)[:, 4].std() > 0.8
    posterior.condition([20] * 9, [3.0] * 9)
    near = posterior.sample(np.random.default_rng(1), 2000)[:, 20]
    assert near.std() < 0.1
    assert near.mean() == pytest.approx(3.0, abs=0.1)


def test_same_generator_same_draws(make, representation):
    posterior = make("se", representation)
    posterior.condition([4], [0.0])
    one, other = (posterior.sample(np.random.default_rng(9), 4) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert posterior.sample(np.random.default_rng(9), 0).shape == (0, 30)

"""Rewards whose noise has variances of their own, against the dense formula."""

import numpy as np
import pytest

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.posterior.box import BoxPosterior
from gpbandits_env.gp.posterior.nystrom import NystromPosterior

MEAN, USUAL = 0.2, 0.1
KERNELS = [Matern52(0.3, 1.5), SquaredExponential(0.2)]


def dense(kernel, points, rewards, noise, at):
    gram, cross = kernel(points, points) + np.diag(noise), kernel(points, at)
    mean = MEAN + cross.T @ np.linalg.solve(gram, rewards - MEAN)
    return mean, np.diag(kernel(at, at) - cross.T @ np.linalg.solve(gram, cross))


def data(rng, n=70):
    """Rewards, variances that are told or NaN, and the variances that they mean."""
    told = rng.uniform(0.001, 2.0, n)
    told[::3] = np.nan
    return rng.standard_normal(n), told, np.where(np.isnan(told), USUAL, told)


def in_parts(posterior, points, rewards, told):
    posterior.condition(points[:30], rewards[:30], told[:30])
    for i in range(30, 40):
        posterior.condition(points[i : i + 1], rewards[i : i + 1], told[i : i + 1])
    posterior.condition(points[40:], rewards[40:], told[40:])


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_box(kernel):
    rng = np.random.default_rng(0)
    points, at = rng.random((70, 2)), rng.random((50, 2))
    rewards, told, noise = data(rng)
    posterior = BoxPosterior(Box([0, 0], [1, 1]), kernel, USUAL, MEAN)
    in_parts(posterior, points, rewards, told)
    mean, var = dense(kernel, points, rewards, noise, at)
    own = posterior.moments(at)
    np.testing.assert_allclose(own[0], mean, atol=1e-8)
    np.testing.assert_allclose(own[1], var, atol=1e-8)
    there = dense(kernel, points, rewards, noise, points)[0]
    np.testing.assert_allclose(posterior.mean_at_observed(), there, atol=1e-8)
    gram = np.eye(70) + kernel(points, points) / np.sqrt(np.outer(noise, noise))
    assert posterior.information_gain == pytest.approx(0.5 * np.linalg.slogdet(gram)[1], abs=1e-8)

    posterior.hallucinate(at[:5])
    posterior.rollback()
    np.testing.assert_array_equal(posterior.moments(at)[0], own[0])
    draws = posterior.paths(rng, 2000, 1024)(at[:3])
    np.testing.assert_allclose(draws.mean(axis=0), mean[:3], atol=0.07)
    np.testing.assert_allclose(draws.var(axis=0), var[:3], atol=0.07)


@pytest.mark.parametrize("representation", ["rows", "coefficients"])
@pytest.mark.parametrize("least", [0.001, 1e-11])
def test_arms(representation, least):
    rng = np.random.default_rng(1)
    kernel, grid = Matern52(0.3, 1.5), rng.random((60, 2))
    posterior = posterior_for(Arms(grid), kernel, USUAL, MEAN, kind=representation)
    arms = rng.integers(60, size=70)
    rewards, told, noise = data(rng)
    if least < 0.001:
        arms[:5], told[:5], noise[:5] = np.arange(5), least, least
        arms[5:] = rng.integers(5, 60, size=65)
    in_parts(posterior, arms, rewards, told)
    mean, var = dense(kernel, grid[arms], rewards, noise, grid)
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-8)
    np.testing.assert_allclose(posterior.var, var, atol=1e-8)
    assert set(posterior.observed) == set(arms)
    draws = posterior.sample(rng, 20000)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.05)
    np.testing.assert_allclose(draws.var(axis=0), var, atol=0.05)


def test_the_largest_amount_added_is_stated():
    posterior = posterior_for(Arms(np.linspace(0.0, 1.0, 5)), Matern52(0.3), USUAL)
    for noise in (0.5, 0.0, 0.5):
        posterior.condition([1, 3], [0.1, 0.2], [noise, noise])
    assert posterior.jitter == pytest.approx(2e-12)


@pytest.mark.parametrize("told", [0.0, 1e-9])
def test_no_variance_is_negative_after_little_noise(told):
    grid = np.linspace(0.0, 1.0, 40)
    posterior = posterior_for(Arms(grid), SquaredExponential(0.3), USUAL)
    posterior.condition(np.arange(40), np.sin(grid), np.full(40, told))
    posterior._var[:] = 0.0  # as rounding may leave it
    for arm in range(40):
        posterior.condition([arm], [0.3])
    assert (posterior.var >= 0.0).all()


@pytest.mark.parametrize("told", [[0.1], [0.1, -1.0], [0.1, np.inf], 0.1])
def test_variances_are_checked(told):
    posterior = BoxPosterior(Box([0.0], [1.0]), Matern52(0.3), USUAL)
    with pytest.raises(InvalidInput, match=r"noise_var must have shape \(2,\)"):
        posterior.condition([[0.1], [0.2]], [1.0, 2.0], told)
    assert not posterior.size


@pytest.mark.parametrize("told", [["a"], [[0.1], [0.1, 0.2]]])
def test_variances_are_numbers(told):
    posterior = BoxPosterior(Box([0.0], [1.0]), Matern52(0.3), USUAL)
    with pytest.raises(InvalidInput, match="noise_var must be an array of numbers"):
        posterior.condition([[0.1]], [1.0], told)


def test_a_nystrom_posterior_takes_none():
    arms, rng = Arms(np.linspace(0.0, 1.0, 9)[:, None]), np.random.default_rng(0)
    posterior = NystromPosterior(arms, Matern52(0.3), USUAL, 0.0, qbar=5.0, rng=rng)
    with pytest.raises(InvalidInput, match="same noise variance for all"):
        posterior.condition([1, 2], [1.0, 2.0], [0.1, 0.2])

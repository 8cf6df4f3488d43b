"""Errors do not grow over a million rounds."""

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Matern32, SquaredExponential
from gpbandits_env.gp.posterior import posterior_for


def by_counts(kernel, arms, noise_var, pulls, sums):
    """The dense formula for many pulls of few arms: their means, and noise_var / pulls."""
    seen = np.flatnonzero(pulls)
    covariance = kernel(arms.coordinates)
    gram = covariance[np.ix_(seen, seen)] + np.diag(noise_var / pulls[seen])
    solved = np.linalg.solve(gram, covariance[seen])
    return solved.T @ (sums[seen] / pulls[seen]), covariance.diagonal() - np.sum(
        covariance[seen] * solved, axis=0
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("representation", "kernel", "rounds"),
    [
        ("rows", Matern32(lengthscale=0.2), 1_000_000),
        ("coefficients", SquaredExponential(lengthscale=0.2), 1_000_000),
    ],
)
def test_a_million_rounds(representation, kernel, rounds):
    arms, noise_var = Arms.grid(46), 0.025
    posterior = posterior_for(arms, kernel, noise_var, kind=representation)
    rng = np.random.default_rng(41)
    truth = np.sin(6.0 * arms.coordinates[:, 0])
    pulls, sums = np.zeros(46), np.zeros(46)
    for _ in range(rounds // 1000):
        chosen = rng.integers(46, size=(1000, 1))
        rewards = truth[chosen] + np.sqrt(noise_var) * rng.standard_normal((1000, 1))
        for arm, reward in zip(chosen, rewards, strict=True):
            posterior.condition(arm, reward)
        np.add.at(pulls, chosen[:, 0], 1.0)
        np.add.at(sums, chosen[:, 0], rewards[:, 0])
    mean, var = by_counts(kernel, arms, noise_var, pulls, sums)
    np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(posterior.var, var, rtol=0, atol=1e-8)
    assert posterior.size == rounds


@pytest.mark.slow
@pytest.mark.parametrize("representation", ["rows", "coefficients"])
def test_a_million_drifting_rounds(representation):
    """What a long past has left must be what a fresh posterior makes of the recent rounds."""
    arms, kernel, noise_var = Arms.grid(46), SquaredExponential(lengthscale=0.2), 0.025
    model = (arms, kernel, noise_var, 0.5, representation)
    long = posterior_for(*model)
    rng = np.random.default_rng(42)
    for t in range(1_000_000):
        if t == 998_000:
            recent = posterior_for(arms, kernel, noise_var, prior_mean=0.5, kind=representation)
        arm, reward = rng.integers(46, size=1), rng.standard_normal(1)
        for posterior in (long,) if t < 998_000 else (long, recent):
            posterior.condition(arm, reward)
            posterior.advance(0.03)
    np.testing.assert_allclose(long.mean, recent.mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(long.var, recent.var, rtol=0, atol=1e-8)


@pytest.mark.parametrize("representation", ["rows", "coefficients"])
def test_time_may_pass_without_observations(representation):
    def fresh():
        return posterior_for(Arms.grid(30), SquaredExponential(0.3), 0.1, 0.0, representation)

    posterior, other = fresh(), fresh()
    posterior.condition([3], [2.0])
    for _ in range(800):  # 0.1^400 is below what a float holds
        posterior.advance(0.9)
    for one in (posterior, other):
        one.condition([5], [1.0])
    np.testing.assert_allclose(posterior.mean, other.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(posterior.var, other.var, rtol=0, atol=1e-12)


@pytest.mark.parametrize("representation", ["rows", "coefficients"])
def test_memory_does_not_grow_with_single_observations(representation):
    posterior = posterior_for(Arms.grid(30), SquaredExponential(0.3), 0.1, 0.0, representation)
    for i in range(300):
        posterior.condition([i % 30], [0.1])
    assert len(posterior._representation.block) <= 64

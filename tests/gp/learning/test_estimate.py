"""Fits in the units of the rewards, with what is known of the noise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.learning import Learning
from gpbandits_env.gp.learning.estimate import LEAST_NOISE, Estimator
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import WienerTime

ARMS, GIVEN = Arms.grid(12), Model(Matern52(0.3), 0.1)
X = np.arange(12)
Y = np.sin(6.0 * ARMS.coordinates[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(12)


def estimate(noise_var, what=("kernel", "noise_var"), rewards=Y, given=GIVEN, reward_sd=1.0, **how):
    estimator = Estimator(given, ARMS, Learning(what=what, **how), reward_sd)
    return estimator.fit(given, X, rewards, 1.0 * X, noise_var, 1)


def test_noise_that_is_known_of_all_rewards_is_not_learned_and_each_counts_with_its_own():
    noise = np.linspace(1e-3, 0.5, 12) ** 2
    found = estimate(noise)
    assert found.model.noise_var == pytest.approx(np.median(noise))
    covariance = found.model.kernel(ARMS.coordinates) + np.diag(noise)
    expected = multivariate_normal(np.zeros(12), covariance).logpdf(Y)
    expected += 12.0 * np.log(Y.std())  # that of the standardized rewards
    assert found.log_likelihood == pytest.approx(expected, abs=1e-3)


def test_noise_that_is_known_is_that_of_small_rewards_too():
    """It was at least 1e-6, whatever the unit of rewards that are not standardized."""
    small = replace(GIVEN, kernel=Matern52(0.3, 1e-8), noise_var=1e-9)
    found = [
        estimate(np.full(12, 0.01 * unit**2), ("kernel",), unit * Y, given)
        for unit, given in ((1.0, GIVEN), (1e-4, small))
    ]
    assert found[1].model.noise_var == pytest.approx(1e-10)
    lengths = [one.model.kernel.lengthscale for one in found]
    assert lengths[1] == pytest.approx(lengths[0], rel=1e-3)


def test_noise_that_is_known_of_some_rewards_is_learned_for_the_others():
    noise = np.where(X < 6, 0.04, np.nan)
    found = estimate(noise)
    assert found.model.noise_var not in (GIVEN.noise_var, 0.04)
    covariance = found.model.kernel(ARMS.coordinates)
    covariance = covariance + np.diag(np.where(X < 6, 0.04, found.model.noise_var))
    expected = multivariate_normal(np.zeros(12), covariance).logpdf(Y)
    expected += 12.0 * np.log(Y.std())  # that of the standardized rewards
    assert found.log_likelihood == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("reward_sd", [1.0, 2.0])
def test_the_given_model_is_that_of_rewards_of_a_given_scale(reward_sd):
    rewards = 7.0 + 30.0 * Y
    found = estimate(None, (), rewards, standardize=True, reward_sd=reward_sd)
    factor = rewards.var() / reward_sd**2
    assert found.mean == pytest.approx(rewards.mean())
    assert found.model.kernel.variance == pytest.approx(factor)
    assert found.model.noise_var == pytest.approx(0.1 * factor)
    known = estimate(None, (), rewards, standardize=True, known_noise=True)
    assert known.model.noise_var == 0.1
    exact = estimate(np.zeros(12), (), rewards, standardize=True)
    assert exact.model.noise_var == pytest.approx(LEAST_NOISE * rewards.var())


def test_what_is_learned_of_time_does_not_depend_on_the_mean_of_the_rewards():
    given = replace(GIVEN, temporal=WienerTime(0.02))
    near, far = (
        estimate(None, ("temporal",), Y + shift, given, standardize=True) for shift in (0.0, 1000.0)
    )
    assert far.mean == pytest.approx(near.mean + 1000.0)
    assert far.log_likelihood == pytest.approx(near.log_likelihood, abs=1e-6)


def test_repeated_rewards_that_are_known_to_have_no_noise_are_fitted_with_the_least():
    estimator = Estimator(GIVEN, ARMS, Learning(what=("variance",)))
    found = estimator.fit(GIVEN, X // 2, Y, 0.0 * X, np.zeros(12), 1)
    covariance = found.model.kernel(ARMS.coordinates[X // 2])
    covariance += LEAST_NOISE * Y.var() * np.eye(12)
    expected = multivariate_normal(np.zeros(12), covariance).logpdf(Y)
    assert found.log_likelihood == pytest.approx(expected + 12.0 * np.log(Y.std()), rel=1e-3)


def test_a_robust_fit_is_that_of_rewards_that_were_drawn_in():
    rewards = np.where(X == 5, 1000.0, Y)
    found = estimate(None, rewards=rewards, standardize=True, robust=True)
    near = estimate(None, rewards=found.winsorizer(rewards), standardize=True)
    assert (found.model, found.mean) == (near.model, near.mean)
    assert found.mean < 10.0


def test_a_boolean_of_numpy_is_one():
    assert estimate(None, ard=np.True_).model == estimate(None, ard=True).model
    assert estimate(None, ard=np.False_).model == estimate(None).model

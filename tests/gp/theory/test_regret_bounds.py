"""The regret bounds, against the formulas and against plays of GP-UCB."""

from math import log, pi, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.theory import (
    information_gain_bound,
    regret_bound,
    regret_bound_theorem1,
    regret_bound_theorem2,
    regret_bound_theorem3,
    regret_constant,
)

GAIN = np.array([0.5, 0.8, 1.0, 1.1])


def test_constant():
    assert regret_constant(0.025) == pytest.approx(8 / log(1 + 1 / 0.025))
    assert regret_constant(0.5, 3.0) == pytest.approx(24 / log(7))


def test_constant_does_not_depend_on_the_unit_of_reward():
    """Rewards in units c times smaller: v and s^2 grow by c^2, and so does C1."""
    assert regret_constant(0.5 * 9, 3.0 * 9) == pytest.approx(9 * regret_constant(0.5, 3.0))


def test_theorem_1():
    curve = regret_bound_theorem1(GAIN, arms=20, delta=0.1, noise_var=0.3)
    for t, gamma in enumerate(GAIN, start=1):
        beta = 2 * log(20 * t**2 * pi**2 / 0.6)
        assert curve[t - 1] == pytest.approx(sqrt(8 / log(1 + 1 / 0.3) * t * beta * gamma))


def test_theorem_2():
    curve = regret_bound_theorem2(GAIN, 2, 0.1, 0.3, 1.5, a=1.2, b=0.8, r=3.0)
    for t, gamma in enumerate(GAIN, start=1):
        cells = t**2 * 2 * 0.8 * 3.0 * sqrt(log(4 * 2 * 1.2 / 0.1))
        beta = 2 * log(t**2 * 2 * pi**2 / 0.3) + 4 * log(cells)
        expected = sqrt(12 / log(1 + 1.5 / 0.3) * t * beta * gamma) + 2
        assert curve[t - 1] == pytest.approx(expected)


def test_theorem_3():
    curve = regret_bound_theorem3(GAIN, norm_bound=4.0, delta=0.1, noise_var=0.3)
    for t, gamma in enumerate(GAIN, start=1):
        beta = 8.0 + 300 * gamma * log(t / 0.1) ** 3
        assert curve[t - 1] == pytest.approx(sqrt(8 / log(1 + 1 / 0.3) * t * beta * gamma))


def test_any_widths():
    expected = np.sqrt(regret_constant(0.3) * np.arange(1, 5) * 2.0 * GAIN)
    assert_allclose(regret_bound(GAIN, 2.0, 0.3), expected)
    assert_allclose(regret_bound(GAIN, [2.0] * 4, 0.3), expected)


def test_curves_grow_with_the_horizon_and_fall_with_delta():
    for bound in (
        lambda delta: regret_bound_theorem1(GAIN, 20, delta, 0.3),
        lambda delta: regret_bound_theorem2(GAIN, 2, delta, 0.3),
        lambda delta: regret_bound_theorem3(GAIN, 1.0, delta, 0.3),
    ):
        assert (np.diff(bound(0.1)) > 0).all()
        assert (bound(0.01) > bound(0.1)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: regret_bound(GAIN, [1.0, 2.0], 0.3),
        lambda: regret_bound(GAIN, -1.0, 0.3),
        lambda: regret_bound(-GAIN, 1.0, 0.3),
        lambda: regret_bound(GAIN, 1.0, 0.0),
        lambda: regret_bound(GAIN, 1.0, 0.3, variance=0.0),
        lambda: regret_bound(2.0, 1.0, 0.3),
        lambda: regret_bound_theorem1(GAIN, 0, 0.1, 0.3),
        lambda: regret_bound_theorem1(GAIN, 20, 1.5, 0.3),
    ],
)
def test_numbers_out_of_range_are_refused(call):
    with pytest.raises(InvalidInput):
        call()


def play_gp_ucb(covariance, noise_var, delta, horizon, rng):
    """The cumulative regret of GP-UCB on a draw of its prior, and its information gain."""
    n = len(covariance)
    f = np.linalg.cholesky(covariance + 1e-10 * np.eye(n)) @ rng.normal(size=n)
    mean, cov, regret, gain = np.zeros(n), covariance.copy(), [], []
    for t in range(1, horizon + 1):
        beta = 2 * np.log(n * t**2 * np.pi**2 / (6 * delta))
        arm = np.argmax(mean + np.sqrt(beta * np.diag(cov).clip(0)))
        gain.append(0.5 * np.log1p(cov[arm, arm] / noise_var))
        reward = f[arm] + np.sqrt(noise_var) * rng.normal()
        weight = cov[:, arm] / (cov[arm, arm] + noise_var)
        mean = mean + weight * (reward - mean[arm])
        cov = cov - np.outer(weight, cov[arm])
        regret.append(f.max() - f[arm])
    return np.cumsum(regret), np.cumsum(gain)


@pytest.mark.parametrize("variance", [1.0, 4.0])
def test_bound_holds_in_play(variance):
    """Over 40 plays the bound may fail in a tenth; the bound by what was learned is the sharper."""
    horizon, noise_var, delta = 60, 0.05, 0.1
    arms, kernel = Arms.grid(40), SquaredExponential(0.15, variance)
    gamma = information_gain_bound(arms, kernel, noise_var, horizon)
    bound = regret_bound_theorem1(gamma, 40, delta, noise_var, variance)
    rng, failures = np.random.default_rng(5), 0
    for _ in range(40):
        regret, gain = play_gp_ucb(kernel(arms.coordinates), noise_var, delta, horizon, rng)
        assert (gain <= gamma + 1e-8).all()
        realised = regret_bound_theorem1(gain, 40, delta, noise_var, variance)
        assert (realised <= bound + 1e-8).all()
        failures += bool((regret > realised).any())
    assert failures <= 4
    # Nor is it idle: an arm drawn once and kept has a regret beyond the bound's growth.
    assert bound[-1] / horizon < bound[0]

"""Block lengths, betas, gains and bounds of bogunovic2016, against the printed formulas."""

import itertools

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.theory import time_varying as tv


def log_det_gain(times, points, epsilon, noise_var, lengthscale):
    space = np.exp(-((points[:, None] - points) ** 2) / (2 * lengthscale**2))
    decay = (1 - epsilon) ** (np.abs(times[:, None] - times) / 2)
    return 0.5 * np.linalg.slogdet(np.eye(len(times)) + space * decay / noise_var)[1]


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.001, 67), (0.01, 38), (0.03, 29), (0.0, 500), (1.0, 12)]
)
def test_block_lengths_of_the_squared_exponential(epsilon, expected):
    assert tv.block_length_se(epsilon, 500) == expected


def test_block_length_of_matern():
    found = [tv.block_length_matern(epsilon, 500, 2.5, 2) for epsilon in (0.001, 0.01, 0.03)]
    assert found == [177, 91, 66]  # 177.3, 91.02 and 66.2, by Appendix E to the closest integer
    assert tv.block_length_matern(1e-9, 500, 2.5, 2) == 500


def test_betas_are_eqs_16_and_19():
    T, d, delta, a, b, r = 100, 2, 0.1, 1.5, 2.0, 3.0
    x = 2 * np.pi**2 * T**2 / (3 * delta)
    expected = 2 * np.log(x) + 2 * d * np.log(r * d * b * T**2 * np.sqrt(np.log(d * a * x)))
    assert tv.beta_resetting(T, d, delta, a, b, r) == pytest.approx(expected, rel=1e-12)
    x = np.pi**2 * T**2 / (2 * delta)
    expected = 2 * np.log(x) + 2 * d * np.log(r * d * b * T**2 * np.sqrt(np.log(d * a * x)))
    assert tv.beta_time_varying(T, d, delta, a, b, r) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("beta", [tv.beta_resetting, tv.beta_time_varying])
def test_betas_of_a_flat_function_have_one_cell_per_axis(beta):
    assert beta(10, 2, 0.1, b=1e-9) == beta(10, 2, 0.1, b=1e-12) > 0.0


@pytest.mark.parametrize("beta", [tv.beta_resetting, tv.beta_time_varying])
def test_betas_say_which_a_is_large_enough(beta):
    with pytest.raises(InvalidInput, match=r"a must be above 0\.\d+ for this delta, got 0.001"):
        beta(1, 1, 0.9, a=0.001)
    assert beta([], 1, 0.9).shape == (0,)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_greedy_gain_is_the_log_determinant_of_its_arms(epsilon):
    x = np.linspace(0, 1, 6)
    gains = tv.greedy_time_varying_gain(Arms(x), SquaredExponential(0.3), 0.1, epsilon, 5)
    best = max(
        log_det_gain(np.arange(4.0), x[list(choice)], epsilon, 0.1, 0.3)
        for choice in itertools.product(range(6), repeat=4)
    )
    assert 0.5 * best <= gains[3] <= best + 1e-9
    assert (np.diff(gains) > 0).all()


def test_the_erratum_of_eq_21():
    """One arm, s2 = 1e-4, epsilon = .01, T = 50, N = 6: the printed bound is below the truth."""
    true = log_det_gain(np.arange(50.0), np.zeros(50), 0.01, 1e-4, 1.0)
    static = log_det_gain(np.arange(6.0), np.zeros(6), 0.0, 1e-4, 1.0)
    assert true == pytest.approx(117.9, abs=0.05)
    printed = tv.time_varying_gain_bound(50, 6, static, 1e-4, 0.01, as_printed=True)
    assert printed == pytest.approx(71.5, abs=0.05)
    assert printed < true < tv.time_varying_gain_bound(50, 6, static, 1e-4, 0.01)
    # A function of variance 1e4 with noise of variance 1.
    assert true < tv.time_varying_gain_bound(50, 6, static, 1.0, 0.01, 1e4)


def test_tail_constants_bound_the_tail_of_a_gaussian_field():
    rng, sd = np.random.default_rng(0), 2.0
    sups = sd * np.abs(rng.standard_normal((20_000, 30))).max(axis=1)
    a, b = tv.tail_constants(float(sups.mean()), sd)
    assert b == 2 * sd
    assert a == pytest.approx(2 * np.exp(sups.mean() ** 2 / (2 * sd**2)))
    for level in np.linspace(0.0, 5 * sd, 40):
        assert (sups > level).mean() <= a * np.exp(-((level / b) ** 2))


def test_regret_bounds_are_eqs_17_18_and_20():
    T, beta, gain, s2 = np.array([10.0, 100.0]), np.array([3.0, 5.0]), np.array([2.0, 4.0]), 0.5
    c1 = 8 / np.log(1 + 1 / s2)
    np.testing.assert_allclose(
        tv.regret_bound_time_varying(T, beta, gain, s2), np.sqrt(c1 * T * beta * gain) + 2
    )
    N, g, eps, delta, a0, b0 = 4, 1.5, 0.02, 0.1, 1.2, 0.7
    psi = np.sqrt(beta * (3 / s2 + s2**-2) * N**3 * eps) + (1 / s2 + s2**-2) * N**3 * eps * (
        2 + b0
    ) * np.sqrt(np.log(2 * (1 + a0) * np.pi**2 * T**2 / (3 * delta)))
    for times, printed in ((1, True), (2, False)):  # eq. (72) has twice the psi_T of eq. (18)
        expected = np.sqrt(c1 * T * beta * (T / N + 1) * g) + 2 + times * T * psi
        found = tv.regret_bound_resetting(T, beta, N, g, s2, eps, delta, a0, b0, as_printed=printed)
        np.testing.assert_allclose(found, expected)


def test_the_noise_in_rewards_counts_in_the_bound_of_resetting():
    """In eq. (65), |y_t| <= |f_t| + |z_t|, and z_t has the standard deviation s = 10."""
    s2, T, delta, a0, b0 = 100.0, 20, 0.1, 1.2, 0.7
    found = [tv.regret_bound_resetting(T, 0.0, 4, 1.0, s2, e, delta, a0, b0) for e in (0.0, 0.02)]
    tail = np.sqrt(np.log(2 * (1 + a0) * np.pi**2 * T**2 / (3 * delta)))
    psi = (1 / s2 + s2**-2) * 4**3 * 0.02 * (2 * 10.0 + b0) * tail
    assert found[1] - found[0] == pytest.approx(2 * T * psi)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tv.block_length_se(-0.1, 10),
        lambda: tv.block_length_se(0.1, 0),
        lambda: tv.regret_bound_time_varying(1, 1, 1, 0.0),
        lambda: tv.block_length_matern(0.1, 10, 2.5, 0),
        lambda: tv.time_varying_gain_bound(1, 0, 1, 1.0, 0.1),
        lambda: tv.time_varying_gain_bound(1, 2, 1, 1.0, -0.1),
        lambda: tv.time_varying_gain_bound(0, 2, 1, 1.0, 0.1),
        lambda: tv.regret_bound_time_varying(0, 1, 1, 1.0),
        lambda: tv.regret_bound_resetting(10, 1, 0, 1, 0.1, 0.1, 0.1),
        lambda: tv.regret_bound_resetting(10, 1, 2, 1, 0.1, 0.1, 0.0),
        lambda: tv.beta_resetting(0, 2, 0.1),
        lambda: tv.beta_resetting(10, 0, 0.1),
        lambda: tv.beta_time_varying(10, 2, 1.0),
        lambda: tv.beta_time_varying(1, 1, 0.9, a=0.1),
        lambda: tv.greedy_time_varying_gain(Arms(np.zeros(1)), SquaredExponential(1.0), 1, 2.0, 1),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(InvalidInput):
        call()


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.9])
def test_the_least_regret_of_two_arms_is_that_of_an_agent_that_knows_the_last_function(correlation):
    rng, n, variance = np.random.default_rng(0), 400_000, 2.0
    factor = np.linalg.cholesky(variance * np.array([[1.0, correlation], [correlation, 1.0]]))
    before, fresh = rng.standard_normal((2, n, 2)) @ factor.T
    for epsilon in (0.1, 0.5, 1.0):
        now = np.sqrt(1.0 - epsilon) * before + np.sqrt(epsilon) * fresh
        regret = now.max(axis=1) - now[np.arange(n), before.argmax(axis=1)]
        least = tv.least_regret(epsilon, correlation, variance)
        assert abs(regret.mean() - least) < 5.0 * regret.std() / np.sqrt(n)
        assert least >= np.sqrt(variance * (1.0 - correlation) / np.pi) * epsilon / 2.0


def test_what_the_least_regret_does_not_accept():
    for wrong in (-0.1, 1.1):
        with pytest.raises(InvalidInput, match="epsilon"):
            tv.least_regret(wrong)
    with pytest.raises(InvalidInput, match="correlation"):
        tv.least_regret(0.1, 1.5)

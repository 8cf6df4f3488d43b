"""The Matern kernel of any smoothness."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gamma, gammaln, kv

from gpbandits_env.gp.kernels import (
    Linear,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
)

ORDERS = [
    0.05,
    0.3,
    0.8,
    0.9999,
    1.0,
    1.0001,
    1.7,
    2.0,
    3.0,
    7.2,
    20.0,
    24.9,
    25.0,
    26.1,
    80.0,
    1e4,
]


def by_quadrature(nu, r):
    """E exp(-nu r^2 / (2 g)), g ~ Gamma(nu): the profile as a mixture of squared exponentials.

    In u = log g the integrand falls off so fast that the trapezoidal rule is exact to rounding.
    """
    u, step = np.linspace(-60.0 / min(nu, 1.0), 12.0, 20_001, retstep=True)
    log = nu * u - np.exp(u) - gammaln(nu) - nu * r**2 / 2.0 * np.exp(-u)
    return np.exp(log).sum() * step


@pytest.mark.parametrize("nu", [0.3, 0.8, 1.0, 1.7, 3.0, 7.2, 20.0, 24.9, 25.0, 40.0, 300.0])
def test_equals_an_independent_quadrature(nu):
    r = np.array([0.01, 0.2, 1.0, 3.0, 6.0])
    expected = [by_quadrature(nu, value) for value in r]
    assert_allclose(Matern(1.0, nu=nu).profile(r), expected, rtol=2e-12)


@pytest.mark.parametrize("nu", [0.3, 0.8, 1.0, 1.7, 3.0, 7.2])
def test_equals_the_formula_of_the_paper(nu):
    d = np.linspace(0.05, 4.0, 60)
    r = np.sqrt(2 * nu) * d / 0.7
    expected = 2 ** (1 - nu) / gamma(nu) * r**nu * kv(nu, r)
    k = Matern(0.7, nu=nu)(d[:, None], np.zeros((1, 1)))[:, 0]
    assert_allclose(k, expected, rtol=1e-12)


@pytest.mark.parametrize(("nu", "cls"), [(0.5, Matern12), (1.5, Matern32), (2.5, Matern52)])
def test_closed_forms_are_used_and_continuous_in_nu(nu, cls):
    r = np.array([0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 5.0, 40.0])
    closed, exact = cls(1.0), Matern(1.0, nu=nu)
    assert_array_equal(exact.profile(r), closed.profile(r))
    assert_array_equal(exact.slope(r), closed.slope(r))
    for beside in (nu * (1 - 1e-12), nu * (1 + 1e-12)):
        bessel = Matern(1.0, nu=beside)
        assert_allclose(bessel.profile(r), closed.profile(r), rtol=1e-9, atol=1e-30)
        assert_allclose(bessel.slope(r), closed.slope(r), rtol=1e-9, atol=1e-30)


@pytest.mark.parametrize("nu", [2.0, 25.0, 26.0])
def test_continuous_where_the_method_changes(nu):
    r = np.array([0.0, 1e-9, 1e-3, 0.1, 1.0, 5.0, 12.0])
    below, above = Matern(1.0, nu=nu * (1 - 1e-14)), Matern(1.0, nu=nu * (1 + 1e-14))
    assert_allclose(below.profile(r), above.profile(r), rtol=1e-11)
    assert_allclose(below.slope(r), above.slope(r), rtol=1e-11)


@pytest.mark.parametrize("nu", ORDERS)
def test_no_overflow_and_no_nan_at_any_distance(nu):
    r = np.array([0.0, 5e-324, 1e-300, 1e-162, 1e-100, 1e-30, 1e-9, 1.0, 50.0, 1e4, 1e100, 1e150])
    kernel = Matern(1.0, nu=nu)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        profile, slope = kernel.profile(r), kernel.slope(r)
    assert profile[0] == 1.0
    assert (np.diff(profile) <= 1e-14).all()
    assert_array_equal(profile[-3:], 0.0)
    assert np.isfinite(slope).all()
    assert (slope >= 0).all()


@pytest.mark.parametrize("nu", ORDERS)
def test_limit_at_zero(nu):
    kernel, r = Matern(1.0, nu=nu), np.array([0.0])
    assert kernel.profile(r)[0] == 1.0
    assert kernel.slope(r)[0] == (0.0 if nu <= 1 else pytest.approx(nu / (nu - 1)))
    # 1 - p(r) ~ c r^(2 min(nu, 1)), up to a logarithm at nu = 1
    near = 1.0 - kernel.profile(np.array([1e-4]))[0]
    bound = 1.0 / min(nu, 1.0) / (abs(1.0 - nu) + 1e-1) * 2.0 * 1e-4 ** (2 * min(nu, 1.0))
    assert 0 <= near < max(bound, 1e-7) if nu > 1e-1 else near < 1


def test_tends_to_the_squared_exponential():
    r = np.linspace(0, 5, 100)
    limit = SquaredExponential(1.0).profile(r)
    gaps = [abs(Matern(1.0, nu=nu).profile(r) - limit).max() for nu in (10, 100, 1e3, 1e4, 1e8)]
    assert (np.diff(gaps) < 0).all()
    assert gaps[-1] < 1e-8
    assert_allclose(Matern(1.0, nu=1e13).profile(r), limit, rtol=1e-11)  # nothing cancels


@settings(max_examples=60)
@given(nu=st.floats(0.05, 200.0), r=st.floats(1e-3, 30.0))
def test_slope_is_minus_the_derivative_over_r(nu, r):
    kernel, h = Matern(1.0, nu=nu), 1e-4 * r
    p = kernel.profile(np.array([r - 2 * h, r - h, r + h, r + 2 * h]))
    derivative = (p[0] - 8 * p[1] + 8 * p[2] - p[3]) / (12 * h)
    slope = kernel.slope(np.array([r]))[0]
    assert slope * r == pytest.approx(-derivative, rel=1e-6, abs=1e-11 / h)


def test_smoothness_of_any_class():
    kernels = [Matern12(1.0), Matern32(0.2), Matern52((1.0, 2.0)), Matern(1.0, nu=3.3)]
    assert [k.smoothness for k in kernels] == [0.5, 1.5, 2.5, 3.3]
    assert SquaredExponential(1.0).smoothness == np.inf
    assert (kernels[1] + SquaredExponential(1.0) * kernels[2]).smoothness == 1.5
    assert (kernels[0] * Linear()).smoothness is None

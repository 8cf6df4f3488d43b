"""Closed forms, and the checks of the lengthscales."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import (
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
    kernel_from_dict,
)
from gpbandits_env.gp.kernels.kernel import LEAST_VARIANCE

LENGTHSCALE, VARIANCE = 0.6, 1.7
FORMULAS = {
    SquaredExponential: lambda d: np.exp(-(d**2) / (2 * LENGTHSCALE**2)),
    Matern12: lambda d: np.exp(-d / LENGTHSCALE),
    Matern32: lambda d: (1 + np.sqrt(3) * d / LENGTHSCALE) * np.exp(-np.sqrt(3) * d / LENGTHSCALE),
    Matern52: lambda d: (
        (1 + np.sqrt(5) * d / LENGTHSCALE + 5 * d**2 / (3 * LENGTHSCALE**2))
        * np.exp(-np.sqrt(5) * d / LENGTHSCALE)
    ),
}


@pytest.mark.parametrize("dim", [1, 2, 5, 60])
@pytest.mark.parametrize("cls", FORMULAS)
def test_closed_form(cls, dim):
    rng = np.random.default_rng(dim)
    x, z = rng.uniform(-1, 1, (2, 20, dim)) / np.sqrt(dim)
    d = np.linalg.norm(x[:, None] - z[None], axis=2)
    expected = VARIANCE * FORMULAS[cls](d)
    assert_allclose(cls(LENGTHSCALE, VARIANCE)(x, z), expected, rtol=1e-12)
    assert_allclose(cls((LENGTHSCALE,) * dim, VARIANCE)(x, z), expected, rtol=1e-12)
    assert cls([LENGTHSCALE] * dim) == cls(np.full(dim, LENGTHSCALE))


@pytest.mark.parametrize("cls", FORMULAS)
def test_ard_scales_the_coordinates(cls):
    x = np.random.default_rng(0).normal(size=(15, 3))
    scales = np.array([0.5, 2.0, 1.3])
    assert_allclose(cls(scales)(x), cls(1.0)(x / scales), rtol=1e-14)


@pytest.mark.parametrize("cls", FORMULAS)
def test_profile_and_slope_at_any_distance(cls):
    r = np.array([0.0, 1e-300, 1e-160, 1e-20, 1.0, 700.0, 1e10, 1e150])
    kernel = cls(1.0)
    profile, slope = kernel.profile(r), kernel.slope(r)
    assert_array_equal(profile[[0, 1, 2, 3, -2, -1]], [1, 1, 1, 1, 0, 0])
    assert np.isfinite(slope).all()
    assert (slope >= 0).all()
    assert (np.diff(profile) <= 0).all()


@pytest.mark.parametrize("cls", FORMULAS)
def test_slope_is_minus_the_derivative_over_r(cls):
    r = np.linspace(0.05, 6, 50)
    kernel, h = cls(1.0), 1e-6
    expected = -(kernel.profile(r + h) - kernel.profile(r - h)) / (2 * h) / r
    assert_allclose(kernel.slope(r), expected, rtol=1e-5, atol=1e-9)


def test_se_splits_over_the_axes_with_one_lengthscale_each():
    assert SquaredExponential((0.2, 0.3), 2.0).axis_kernels(2) == (
        SquaredExponential(0.2, 2.0),
        SquaredExponential(0.3),
    )
    assert SquaredExponential(0.2).axis_kernels(3) == (SquaredExponential(0.2),) * 3
    assert Matern52(0.2).axis_kernels(2) is None
    assert Matern52(0.2).axis_kernels(1) == (Matern52(0.2),)


def test_ard_of_another_dimension_is_refused():
    with pytest.raises(InvalidInput, match=r"2 lengthscales.*3 coordinates"):
        SquaredExponential((0.2, 0.3)).check_points(np.zeros((4, 3)))


def test_a_variance_that_agents_would_take_for_zero_is_refused():
    says = "a kernel's variance must be at least 1e-80, got .*; give the rewards in a smaller unit"
    kernel = Matern52(0.3, LEAST_VARIANCE)
    for make in (
        lambda: Matern52(0.3, 1e-81),
        lambda: kernel.scaled(0.1),
        lambda: kernel_from_dict({"type": "linear", "variance": 1e-150}),
    ):
        with pytest.raises(InvalidInput, match=says):
            make()

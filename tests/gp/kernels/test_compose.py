"""Sums and products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Linear, Matern52, Product, SquaredExponential, Sum
from gpbandits_env.gp.kernels.compose import OnCoordinates

A, B, C = SquaredExponential(0.4, 2.0), Matern52((0.3, 0.8)), Linear(0.5)
X, Z = np.random.default_rng(0).normal(size=(2, 8, 2))


def test_sum_and_product_of_values():
    assert_allclose((A + B + C)(X, Z), A(X, Z) + B(X, Z) + C(X, Z), rtol=1e-15)
    assert_allclose((A * B * C)(X, Z), A(X, Z) * B(X, Z) * C(X, Z), rtol=1e-15)
    assert_allclose((A * (B + C))(X), A(X) * (B(X) + C(X)), rtol=1e-15)


def test_are_joined_not_nested():
    assert (A + B) + C == A + (B + C) == Sum((A, B, C)) == Sum([A, B, C])
    assert (A * B) * C == A * (B * C) == Product((A, B, C))
    assert Product((Sum((A, B)), C)) == (A + B) * C


def test_parameter_names_say_where_they_live():
    kernel = A * (B + C)
    assert kernel.parameters() == {
        "factors.0.lengthscale": 0.4,
        "factors.0.variance": 2.0,
        "factors.1.terms.0.lengthscale.0": 0.3,
        "factors.1.terms.0.lengthscale.1": 0.8,
        "factors.1.terms.0.variance": 1.0,
        "factors.1.terms.1.variance": 0.5,
    }
    changed = kernel.with_parameters({"factors.1.terms.0.lengthscale.1": 0.9})
    assert changed == A * (Matern52((0.3, 0.9)) + C)


def test_gradient_of_a_product_where_a_factor_vanishes():
    x = np.array([[1.0, 0.0], [0.0, 0.0]])  # the linear kernel is 0 between them
    h = 1e-6
    kernel = A * C
    step = np.array([h, 0.0])
    expected = (kernel(x + step, x) - kernel(x - step, x)) / (2 * h)
    assert_allclose(kernel.gradient(x, x)[:, :, 0], expected, atol=1e-8)


def test_product_structure_over_axes():
    product = A * SquaredExponential((0.5, 0.7), 3.0)
    assert product.axis_kernels(2) == (
        SquaredExponential(0.4, 2.0) * SquaredExponential(0.5, 3.0),
        SquaredExponential(0.4) * SquaredExponential(0.7),
    )
    assert (A * C).axis_kernels(2) is None
    assert (A + A).axis_kernels(2) is None
    assert (A + A).axis_kernels(1) == (A + A,)


@pytest.mark.parametrize("coordinates", [(), (0, 1, 0), (-1,)])
def test_coordinates_that_are_missing_repeated_or_negative_are_refused(coordinates):
    with pytest.raises(InvalidInput, match="coordinates"):
        OnCoordinates(coordinates, Matern52(0.3))

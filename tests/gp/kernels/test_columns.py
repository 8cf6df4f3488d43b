"""Kernels against fixed points: values and contracted gradients as by the kernel itself."""

import numpy as np
import pytest

from gpbandits_env.gp.kernels import Linear, Matern12, Matern52, SquaredExponential, Stationary
from gpbandits_env.gp.kernels.columns import PlainColumns
from gpbandits_env.gp.kernels.stationary import squares


def test_values_and_contracted_gradients(vector_case):
    kernel, x, z = vector_case
    columns = kernel.columns(z, z.mean(axis=0) + 0.3)
    values, pulled = columns.pull(x)
    np.testing.assert_allclose(columns(x), kernel(x, z), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(values, kernel(x, z), rtol=1e-10, atol=1e-12)
    values[:] = 0.0  # What is done with the values must not matter.
    gradient = kernel.gradient(x, z)
    rng = np.random.default_rng(0)
    for shape in ((len(x), len(z)), (len(z),)):
        weights = np.broadcast_to(rng.standard_normal(shape), (len(x), len(z)))
        want = np.einsum("ij,ijk->ik", weights, gradient)
        np.testing.assert_allclose(pulled(weights), want, rtol=1e-9, atol=1e-10)


def test_gradient_of_the_variance(vector_case):
    kernel, x, _ = vector_case
    step = 1e-6
    found = kernel.diagonal_gradient(x)
    assert found.shape == x.shape
    for j, shift in enumerate(step * np.eye(x.shape[1])):
        slope = (kernel.diagonal(x + shift) - kernel.diagonal(x - shift)) / (2 * step)
        np.testing.assert_allclose(found[:, j], slope, atol=1e-7)


def test_profile_and_slope(all_kernels):
    r = np.array([[0.0, 1e-8, 0.1, 1.0, 5.0, 60.0]])
    for kernel in (k for k in all_kernels if isinstance(k, Stationary)):
        profile, slope = kernel.profile_and_slope(r)
        np.testing.assert_allclose(profile, kernel.profile(r), rtol=1e-13)
        np.testing.assert_allclose(slope, kernel.slope(r), rtol=1e-13)
        assert not np.shares_memory(profile, slope)


@pytest.mark.parametrize("dim", [5, 60])
def test_equal_points_are_at_distance_zero(dim):
    rng = np.random.default_rng(0)
    z = 3.0 + rng.standard_normal((20, dim))
    columns = Matern12(0.01).columns(z, np.zeros(dim))
    np.testing.assert_array_equal(columns(z).diagonal(), 1.0)


def test_close_points_are_not_lost():
    rng = np.random.default_rng(0)
    z = 1e3 + rng.standard_normal((40, 6))
    for x in (z[:10] + 1e-5, np.concatenate([z[:1] + 1e-5, rng.uniform(-1e3, 1e3, (500, 6))])):
        want = np.square(x[:, None] - z).sum(axis=2)
        found = squares(x, z, np.einsum("ij,ij->i", z, z))
        np.testing.assert_allclose(found, want, rtol=1e-10)
    assert squares(z[:0], z, np.ones(40)).shape == (0, 40)


def test_block_by_block(monkeypatch):
    monkeypatch.setattr("gpbandits_env.gp.kernels.columns.MOST_NUMBERS", 30)
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    weights = rng.standard_normal((7, 5))
    kernel = Linear() * SquaredExponential(1.0) + Matern52(2.0)
    want = kernel.columns(z, z[0]).pull(x)[1](weights)
    np.testing.assert_allclose(
        PlainColumns(kernel, kernel.gradient, z).pull(x)[1](weights), want, atol=1e-12
    )

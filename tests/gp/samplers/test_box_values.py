"""Functions on a box by their coefficients: values and gradients as the features give them."""

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import ConstantKernel, Matern32, SquaredExponential
from gpbandits_env.gp.samplers import FourierFeatures, ProductFeatures

SAMPLERS = {
    "fourier": FourierFeatures(Matern32(0.3, 2.0), 3, 256, np.random.default_rng(0)),
    "product": ProductFeatures(Box(np.zeros(3), np.ones(3)), SquaredExponential(0.9)),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_values_and_gradients(name):
    sampler, rng = SAMPLERS[name], np.random.default_rng(1)
    x = rng.uniform(size=(3000, 3))
    xi = rng.standard_normal((4, sampler.rank))
    want = xi @ sampler.features(x).T
    np.testing.assert_allclose(sampler.values(x, xi), want, rtol=0, atol=2e-4)
    assert np.abs(sampler.values(x, xi) - want).mean() < 2e-6
    which = rng.integers(4, size=5)
    values, gradients = sampler.pull(x[:5], xi[which])
    np.testing.assert_allclose(values, want[which, np.arange(5)], atol=1e-10)
    slopes = np.einsum("ij,ijk->ik", xi[which], sampler.gradient(x[:5]))
    np.testing.assert_allclose(gradients, slopes, atol=1e-10)


@pytest.mark.parametrize("name", SAMPLERS)
def test_sums(name):
    sampler, rng = SAMPLERS[name], np.random.default_rng(1)
    x, steps = rng.uniform(0.0, 0.5, (7, 3)), rng.uniform(0.0, 0.5, (5, 3))
    xi = rng.standard_normal(sampler.rank)
    want = [[(sampler.features((p + step)[None]) @ xi)[0] for step in steps] for p in x]
    np.testing.assert_allclose(sampler.sums(x, steps, xi), want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("lengthscale", [0.05, 0.3])
def test_the_fastest_wave_of_product_features(lengthscale):
    """The spectrum of a squared exponential is normal with standard deviation 1 / lengthscale."""
    fastest = ProductFeatures(Box([0.0], [1.0]), SquaredExponential(lengthscale)).fastest
    assert 3.0 < fastest[0] * lengthscale < 8.0
    assert ProductFeatures(Box([0.0], [1.0]), ConstantKernel()).fastest[0] == 0.0


@pytest.mark.parametrize("variance", [1e-80, 1e140])
def test_values_of_any_size_are_those_of_size_one_in_other_units(variance):
    ours, plain = (
        FourierFeatures(Matern32(0.3, v), 3, 64, np.random.default_rng(0)) for v in (variance, 1.0)
    )
    rng = np.random.default_rng(1)
    x, xi = rng.uniform(size=(50, 3)), rng.standard_normal((4, 64))
    values = ours.values(x, xi) / np.sqrt(variance)
    np.testing.assert_allclose(values, plain.values(x, xi), rtol=0, atol=1e-5)

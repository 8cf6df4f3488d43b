"""The spherical linear kernel: reference values of its authors' formula, its rank, mistakes."""

import numpy as np
import pytest

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SphericalLinear
from gpbandits_env.gp.posterior import BoxPosterior, posterior_for

POINTS = np.array([[0.1, 0.2, 0.9], [0.5, 0.5, 0.5], [1.0, 0.0, 1.0], [0.3, 0.8, 0.4]])
ELL = (0.5, 1.0, 2.0)


def test_reference_values():
    k = SphericalLinear(ELL)(POINTS)
    assert k[0] == pytest.approx([1.0, 0.4601226994, 0.2328366930, 0.7050657800], abs=1e-10)
    pairs = [k[1, 2], k[1, 3], k[2, 3]]
    assert pairs == pytest.approx([0.3333333333, 0.7221458047, 0.0132966529], abs=1e-10)
    other = SphericalLinear(ELL, offset=0.3 / 0.7, radius=float(np.exp(1.2)))(POINTS)[0]
    assert other == pytest.approx([1.0, 0.3939355703, -0.1227408705, 0.6333082900], abs=1e-10)


def test_the_coefficients_are_d_plus_2_and_their_posterior_is_the_dense_one():
    rng, kernel = np.random.default_rng(0), SphericalLinear(0.4, 2.0)
    x, y, seen = rng.random((300, 9)), rng.normal(size=40), rng.integers(300, size=40)
    posterior = posterior_for(Arms(x), kernel, 0.1, kind="coefficients")
    assert np.linalg.matrix_rank(kernel(x)) == kernel.features(x).shape[1] == 11
    posterior.condition(seen, y)
    k = kernel(x)
    gram = k[np.ix_(seen, seen)] + 0.1 * np.eye(40)
    assert posterior.mean == pytest.approx(k[:, seen] @ np.linalg.solve(gram, y), abs=1e-7)
    explained = np.sum(k[:, seen] * np.linalg.solve(gram, k[seen]).T, axis=1)
    assert posterior.var == pytest.approx(2.0 - explained, abs=1e-7)


def test_mistakes():
    with pytest.raises(InvalidInput, match="low must be below high"):
        SphericalLinear(0.5, low=1.0)
    with pytest.raises(InvalidInput, match="must fit lengthscale"):
        SphericalLinear(ELL, low=(0.0, 0.0))
    with pytest.raises(InvalidInput, match="must fit lengthscale"):
        SphericalLinear(0.5, low=(0.0,), high=(1.0, 1.0))
    with pytest.raises(InvalidInput, match="must fit lengthscale"):
        SphericalLinear(0.5, low=((0.0, 0.0),))
    with pytest.raises(InvalidInput, match="for 3 coordinates"):
        SphericalLinear(ELL).check_points(POINTS[:, :2])


def test_a_domain_beyond_the_box_is_refused():
    points = np.array([[-1.0, 0.5], [1.0, 0.5]])
    with pytest.raises(InvalidInput, match=r"from -1 to 1, out of the box .* low and high"):
        BoxPosterior(Box([-1.0, 0.0], [1.0, 1.0]), SphericalLinear(0.4), 0.1)
    SphericalLinear(0.4, low=(-1.0, 0.0)).check_points(points)

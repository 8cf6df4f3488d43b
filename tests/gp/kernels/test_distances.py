"""Distances keep their digits at close points, in every dimension."""

from decimal import Decimal, getcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gpbandits_env.gp.kernels.stationary import MANY, distances

DIMS = [1, 2, 3, 4, 10, MANY - 1, MANY, 200]


def exact(x, z, scale):
    """The distance in 50 decimal digits."""
    getcontext().prec = 50
    parts = (
        ((Decimal(float(a)) - Decimal(float(b))) / Decimal(float(s))) ** 2
        for a, b, s in zip(x, z, scale, strict=True)
    )
    return float(sum(parts, Decimal(0)).sqrt())


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-8, 1e-13])
@pytest.mark.parametrize("ard", [False, True])
def test_relative_accuracy_of_close_points(dim, gap, ard):
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, (6, dim))
    z = x + gap * rng.uniform(0.5, 1, (6, dim))
    scale = rng.uniform(0.1, 2, dim) if ard else np.full(dim, 0.3)
    got = distances(x, z, scale if ard else 0.3)
    # the matrix product is used in many dimensions; lengthscales are divided out first there
    tolerance = 4e-15 if dim < MANY else (1e-12 if not ard else max(1e-12, 2e-16 / gap * 40))
    for i in range(6):
        assert got[i, i] == pytest.approx(exact(x[i], z[i], scale), rel=tolerance)


@pytest.mark.parametrize("dim", DIMS)
def test_all_pairs(dim):
    rng = np.random.default_rng(2)
    x, z, scale = rng.normal(size=(30, dim)), rng.normal(size=(20, dim)), rng.uniform(0.5, 2, dim)
    plain = np.linalg.norm(x[:, None] - z[None], axis=2)
    assert_allclose(distances(x, z, 0.7), plain / 0.7, rtol=1e-13)
    scaled = np.linalg.norm(x[:, None] / scale - z[None] / scale, axis=2)
    assert_allclose(distances(x, z, scale), scaled, rtol=1e-13, atol=1e-15)
    square = distances(x, x, 0.7)
    # A matrix product may sum the two halves of its result in different orders.
    assert_allclose(square, square.T, rtol=0.0 if dim < MANY else 1e-14)
    assert_array_equal(np.diag(square), 0.0)

import numpy as np
import pytest

from gpbandits_env.posterior.whitening import root, whitener


def gram(rank, size=6):
    square = np.random.default_rng(1).standard_normal((size, rank))
    return square @ square.T


def test_whitens_a_regular_block():
    block = gram(6) + 0.1 * np.eye(6)
    inverse, pivots, jitter = whitener(block, 1e-12)
    np.testing.assert_allclose(inverse @ block @ inverse.T, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(np.prod(pivots), np.linalg.det(block), rtol=1e-10)
    np.testing.assert_allclose(np.triu(inverse, 1), 0.0, atol=1e-14)
    assert jitter == 0.0


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_lifts_only_the_pivots_that_need_it(rank):
    block = gram(rank) if rank else np.zeros((6, 6))
    inverse, pivots, jitter = whitener(block, 1e-6)
    assert np.isfinite(inverse).all()
    assert (pivots[:rank] > 1e-3).all()
    np.testing.assert_allclose(pivots[rank:], 1e-6)
    assert 0.0 < jitter <= 1e-6 * (1 + 1e-8)
    lower = np.linalg.inv(inverse)
    added = lower @ lower.T - block
    np.testing.assert_allclose(added, np.diag(added.diagonal()), atol=1e-9)
    np.testing.assert_allclose(added.diagonal()[:rank], 0.0, atol=1e-9)


def test_one_observation_of_what_is_known():
    inverse, pivots, jitter = whitener(np.zeros((1, 1)), 0.25)
    assert (inverse.item(), pivots.item(), jitter) == (2.0, 0.25, 0.25)


@pytest.mark.parametrize("noise", [0.0, -1e-4])
def test_root_of_a_singular_covariance(noise):
    covariance = gram(2)
    covariance[5, 5] += noise  # Rounding, exaggerated: past what a small jitter mends.
    half = root(covariance)
    np.testing.assert_allclose(half @ half.T, covariance, atol=1e-4 if noise else 1e-10)

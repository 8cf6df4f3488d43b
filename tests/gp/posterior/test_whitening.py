import numpy as np
import pytest

from gpbandits_env.gp.posterior.whitening import whitener


def gram(rank, size=6):
    square = np.random.default_rng(1).standard_normal((size, rank))
    return square @ square.T


def test_whitens_a_regular_block():
    block = gram(6) + 0.1 * np.eye(6)
    inverse, pivots = whitener(block, 0.05)
    np.testing.assert_allclose(inverse @ block @ inverse.T, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(np.prod(pivots), np.linalg.det(block), rtol=1e-10)
    np.testing.assert_allclose(np.triu(inverse, 1), 0.0, atol=1e-14)


@pytest.mark.parametrize(("block", "floor"), [(gram(6), 100.0), (gram(3), 0.0)])
def test_refuses_a_block_that_rounding_may_have_spoiled(block, floor):
    with pytest.raises(np.linalg.LinAlgError):
        whitener(block, floor)

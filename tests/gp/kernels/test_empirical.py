"""The covariance matrix over arms."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels import Empirical, SquaredExponential

COVARIANCE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 1.5]])


def test_its_matrix_on_all_arms_is_the_covariance():
    arms = Arms(np.arange(3)).coordinates
    kernel = Empirical(COVARIANCE)
    assert_array_equal(kernel(arms), COVARIANCE)
    assert_array_equal(kernel(arms[[2]], arms), COVARIANCE[[2]])
    assert_array_equal((kernel * 3.0)(arms), 3.0 * COVARIANCE)


def test_keeps_its_own_read_only_copy():
    mine = COVARIANCE.copy()
    kernel = Empirical(mine)
    mine[0, 0] = 99.0
    assert kernel.covariance[0, 0] == 2.0
    with pytest.raises(ValueError, match="read-only"):
        kernel.covariance[0, 0] = 1.0


def test_equality_and_hash_by_content():
    a, b = Empirical(COVARIANCE), Empirical(COVARIANCE.tolist())
    assert a == b
    assert hash(a) == hash(b)
    assert a != Empirical(COVARIANCE, 2.0)
    assert a != Empirical(COVARIANCE + np.eye(3))
    assert a != SquaredExponential(1.0)
    assert Empirical(np.diag([1.0, 0.0])) == Empirical([[1.0, -0.0], [-0.0, 0.0]])


@pytest.mark.parametrize(
    "bad",
    [[[1.0, 0.2], [0.3, 1.0]], [[1.0, np.nan], [np.nan, 1.0]], [1.0], [[1.0, 0.0]], [[]], "C"],
)
def test_what_is_no_covariance_is_refused(bad):
    with pytest.raises(InvalidInput, match="covariance"):
        Empirical(bad)


@pytest.mark.parametrize("bad", [[[1.0, 2.0], [2.0, 1.0]], [[-1.0]], [[0.0, 1.0], [1.0, 0.0]]])
def test_a_negative_eigenvalue_is_refused(bad):
    with pytest.raises(NotPositiveDefinite, match="least eigenvalue"):
        Empirical(bad)


def test_rank_deficient_and_zero_covariances_are_accepted():
    readings = np.random.default_rng(0).normal(size=(5, 30))
    Empirical(np.cov(readings, rowvar=False))
    Empirical(np.zeros((4, 4)))


@pytest.mark.parametrize("bad", [[[3.0]], [[-1.0]], [[0.5]], [[0.0, 1.0]]])
def test_points_must_be_indices_of_arms(bad):
    with pytest.raises(InvalidInput, match="column of indices"):
        Empirical(COVARIANCE).check_points(np.array(bad))
    with pytest.raises(InvalidInput, match="column of indices"):
        (Empirical(COVARIANCE) * Empirical(COVARIANCE)).check_points(np.array(bad))


def test_has_no_gradient_in_its_points():
    x = np.arange(3.0)[:, None]
    with pytest.raises(InvalidInput, match="no gradient"):
        Empirical(COVARIANCE).gradient(x, x)

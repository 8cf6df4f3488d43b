import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.posterior import covariances
from gpbandits_env.gp.posterior.covariances import PriorCovariance, prior_covariance
from gpbandits_env.gp.threads import blas_threads

ARMS, KERNEL = Arms.grid((9, 7)), Matern52(lengthscale=0.3)


@pytest.mark.parametrize("budget", [0, 2**20])
def test_rows_are_the_kernel_s(monkeypatch, budget):
    monkeypatch.setattr(covariances, "MATRIX_BYTES", budget)
    monkeypatch.setattr(covariances, "STRIP_ENTRIES", 63 * 5)  # 63 arms in strips of 5.
    prior = PriorCovariance(ARMS, KERNEL)
    whole = KERNEL(ARMS.coordinates)
    np.testing.assert_allclose(prior.row(62), whole[62], rtol=0, atol=1e-14)
    some = np.array([3, 3, 41])
    rows = prior.rows(some)
    np.testing.assert_allclose(rows, whole[some], rtol=0, atol=1e-14)
    rows[:] = 0.0
    np.testing.assert_allclose(prior.row(3), whole[3], rtol=0, atol=1e-14)
    np.testing.assert_allclose(prior.diagonal, whole.diagonal(), rtol=0, atol=1e-14)
    assert prior.fits == (budget > 0)
    if prior.fits:
        np.testing.assert_allclose(prior.matrix(), whole, rtol=0, atol=1e-14)


def test_rows_do_not_depend_on_what_was_asked_before(monkeypatch):
    monkeypatch.setattr(covariances, "STRIP_ENTRIES", 63 * 4)
    first, second = PriorCovariance(ARMS, KERNEL), PriorCovariance(ARMS, KERNEL)
    first.matrix()
    for arm in (17, 62, 0):
        np.testing.assert_array_equal(first.row(arm), second.row(arm))


def test_rows_are_computed_by_one_blas_thread(monkeypatch):
    found, usual = [], Matern52.__call__

    def counted(self, x, z=None):
        found.append(blas_threads())
        return usual(self, x, z)

    monkeypatch.setattr(Matern52, "__call__", counted)
    with threadpool_limits(2):
        PriorCovariance(ARMS, KERNEL).row(3)
        assert blas_threads() == 2
    assert found == [1]


def test_it_is_shared_also_by_a_pickled_copy():
    prior = prior_covariance(ARMS, KERNEL)
    assert prior_covariance(Arms.grid((9, 7)), Matern52(lengthscale=0.3)) is prior
    assert pickle.loads(pickle.dumps(prior)) is prior
    assert prior_covariance(ARMS, SquaredExponential(lengthscale=0.3)) is not prior

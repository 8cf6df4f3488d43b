"""What every sampler on arms must do, whatever its kind."""

import pickle

import numpy as np
import pytest

from gpbandits_env.gp.samplers import DenseFactor, Factor, KroneckerFactor


def test_phi_phi_t_is_the_kernel_within_the_stated_error(exact, phi):
    sampler, covariance = exact.sampler, exact.covariance
    matrix = phi(sampler)
    assert matrix.shape == (sampler.size, sampler.rank) == (exact.arms.size, sampler.rank)
    # The last term is the rounding of this very product.
    allowed = sampler.error + 1e-14 * covariance.max()
    assert np.abs(matrix @ matrix.T - covariance).max() <= allowed
    assert sampler.error <= 3e-12 * covariance.diagonal().max()


def test_a_batch_is_its_single_calls(exact, rng):
    sampler = exact.sampler
    xi = rng.standard_normal((2, 3, sampler.rank))
    batch = sampler(xi)
    assert batch.shape == (2, 3, sampler.size)
    for place in np.ndindex(2, 3):
        np.testing.assert_allclose(sampler(xi[place]), batch[place], rtol=0, atol=1e-12)
    assert sampler(xi[:0, 0]).shape == (0, sampler.size)


def test_calls_are_linear_and_leave_their_argument_alone(exact, rng):
    sampler = exact.sampler
    a, b = rng.standard_normal((2, sampler.rank))
    kept = a.copy()
    first = sampler(a)
    np.testing.assert_allclose(sampler(2.0 * a - b), 2.0 * first - sampler(b), atol=1e-11)
    assert np.array_equal(a, kept)
    assert np.array_equal(sampler(a), first)


def test_draws_are_a_function_of_the_generator_alone(exact):
    sampler = exact.sampler
    one = sampler.draw(np.random.default_rng(3))
    assert one.shape == (sampler.size,)
    assert np.array_equal(one, sampler.draw(np.random.default_rng(3)))
    assert not np.allclose(one, sampler.draw(np.random.default_rng(4)))
    some = sampler.draw(np.random.default_rng(3), 4)
    assert some.shape == (4, sampler.size)
    np.testing.assert_allclose(some[0], one, rtol=0, atol=1e-12)


def test_large_batches_are_drawn_in_blocks_from_the_same_stream(exact, monkeypatch):
    sampler = exact.sampler
    at_once = sampler.draw(np.random.default_rng(3), 7)
    monkeypatch.setattr("gpbandits_env.gp.samplers.sampler.MOST_NORMALS", 2 * sampler.rank)
    blocks = sampler.draw(np.random.default_rng(3), 7)
    np.testing.assert_allclose(blocks, at_once, rtol=0, atol=1e-12)


def test_moments_of_draws_are_the_kernel(exact, rng, z_scores):
    draws = exact.sampler.draw(rng, 4000)
    covariance = exact.covariance
    # At most 300^2 entries: 5.5 standard errors is a chance of 3e-3 for all of them together.
    assert np.abs(z_scores(draws, covariance)).max() < 5.5
    means = draws.mean(axis=0) * np.sqrt(4000.0 / covariance.diagonal())
    assert np.abs(means).max() < 4.5


def test_samplers_survive_pickling(exact, rng):
    sampler = exact.sampler
    again = pickle.loads(pickle.dumps(sampler))
    xi = rng.standard_normal(sampler.rank)
    assert np.array_equal(again(xi), sampler(xi))
    assert (again.rank, again.size, again.error) == (sampler.rank, sampler.size, sampler.error)


def test_nbytes_counts_all_arrays(exact):
    sampler = exact.sampler
    # A pickle holds the arrays and little else.
    assert sampler.nbytes <= len(pickle.dumps(sampler)) <= 1.02 * sampler.nbytes + 2000


def test_a_factors_parts_agree_with_its_matrix(factored, phi, rng):
    factor = factored.sampler
    assert isinstance(factor, Factor)
    matrix = phi(factor)
    some = rng.integers(factor.size, size=6)
    np.testing.assert_allclose(factor.rows(some), matrix[some], atol=1e-14)
    assert factor.rows(some[:0]).shape == (0, factor.rank)
    for arm in some.tolist():
        np.testing.assert_allclose(factor.row(arm), matrix[arm], atol=1e-14)
    np.testing.assert_allclose(factor.squared_norms(), (matrix**2).sum(axis=1), atol=1e-13)


def test_shared_factors_cannot_be_written_to(factored):
    factor = factored.sampler
    kept = factor.factors[0] if isinstance(factor, KroneckerFactor) else factor.matrix
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 0.0


def test_a_singular_covariance_has_a_symmetric_root(exact):
    if exact.kind == "dense":
        matrix = exact.sampler.matrix
        if np.linalg.matrix_rank(exact.covariance, hermitian=True) < exact.arms.size:
            np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-9)
        elif type(exact.sampler) is DenseFactor:
            assert np.array_equal(matrix, np.tril(matrix))

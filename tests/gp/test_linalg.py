import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpbandits_env.errors import NotPositiveDefinite
from gpbandits_env.gp.linalg import cholesky, least_missing, pivoted_cholesky, root, spectral_root


def random_covariance(seed, n, rank, scale=1.0):
    factor = np.random.default_rng(seed).standard_normal((n, rank))
    return scale * factor @ factor.T


def pivoted(matrix, tolerance=1e-12, max_rank=None):
    most = len(matrix) if max_rank is None else max_rank
    return pivoted_cholesky(lambda i: matrix[i], matrix.diagonal(), tolerance, most)


def squared_exponential(points, lengthscale):
    gaps = points[:, None, :] - points[None, :, :]
    return np.exp(-0.5 * (gaps**2).sum(axis=2) / lengthscale**2)


def test_cholesky_of_a_regular_matrix_needs_no_jitter():
    matrix = random_covariance(0, 6, 9)
    kept = matrix.copy()
    lower, jitter = cholesky(matrix, "the covariance")
    assert jitter == 0.0
    np.testing.assert_allclose(lower @ lower.T, matrix, atol=1e-13)
    assert np.array_equal(lower, np.tril(lower))
    assert np.array_equal(matrix, kept)


def test_cholesky_of_a_singular_matrix_adds_and_reports_the_least_jitter():
    matrix = 5.0 * np.ones((8, 8))
    lower, jitter = cholesky(matrix, "the covariance")
    assert 0.0 < jitter <= 5e-13
    np.testing.assert_allclose(lower @ lower.T, matrix + jitter * np.eye(8), atol=1e-14)


@pytest.mark.parametrize(
    "matrix",
    [np.diag([1.0, -1.0]), np.diag([-1.0, -1.0]), np.ones((2, 2)) + np.array([[0, 1], [1, 0]])],
)
def test_cholesky_of_an_indefinite_matrix_names_it_and_the_cure(matrix):
    with pytest.raises(NotPositiveDefinite, match=r"the covariance of x.*check that the kernel"):
        cholesky(matrix, "the covariance of x")


def test_spectral_root_bears_with_rounding_below_zero():
    matrix = random_covariance(1, 7, 3)
    root = spectral_root(matrix - 1e-15 * np.eye(7))
    np.testing.assert_allclose(root @ root.T, matrix, atol=1e-13)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 30),
    rank=st.integers(1, 30),
    power=st.integers(-6, 6),
    tolerance=st.sampled_from([0.0, 1e-14, 1e-12, 1e-6, 1e-2]),
)
@example(seed=304, n=9, rank=1, power=1, tolerance=0.0)  # its rounding is 2.03 units
def test_pivoted_cholesky_is_within_its_stated_error(seed, n, rank, power, tolerance):
    matrix = random_covariance(seed, n, rank, 10.0**power)
    factor, pivots, error = pivoted(matrix, tolerance)
    assert factor.shape == (n, len(pivots))
    assert len(set(pivots.tolist())) == len(pivots)
    assert np.abs(matrix - factor @ factor.T).max() <= error
    assert error <= (max(tolerance, 1e-15) + (n + 4) * 2.3e-16) * matrix.diagonal().max()
    # The factor's rows at the pivots are lower triangular: their Cholesky factor.
    assert np.abs(np.triu(factor[pivots], 1)).max(initial=0.0) <= 1e-6 * np.sqrt(matrix.max())


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 40), data=st.data())
def test_pivoted_cholesky_finds_the_rank_and_refuses_a_larger_one(seed, n, data):
    rank = data.draw(st.integers(1, n // 2))
    matrix = random_covariance(seed, n, rank)
    factor, _, _ = pivoted(matrix, 1e-10, max_rank=rank)
    assert factor.shape[1] == rank
    if rank > 1:
        assert pivoted(matrix, 1e-10, max_rank=rank - 1) is None


def test_pivots_are_the_largest_remaining_diagonals():
    matrix = random_covariance(2, 12, 12)
    _, pivots, _ = pivoted(matrix)
    left = matrix.copy()
    for pivot in pivots:
        assert left[pivot, pivot] == pytest.approx(left.diagonal().max(), rel=1e-8)
        left = left - np.outer(left[:, pivot], left[pivot]) / left[pivot, pivot]


def test_repeated_points_and_a_zero_matrix_are_no_trouble():
    matrix = random_covariance(3, 5, 5)
    twice = np.tile(matrix, (2, 2))
    factor, _, error = pivoted(twice)
    assert factor.shape == (10, 5)
    assert np.abs(twice - factor @ factor.T).max() <= error
    factor, pivots, error = pivoted(np.zeros((4, 4)))
    assert factor.shape == (4, 0)
    assert len(pivots) == 0
    assert error == 0.0


def test_pivoted_cholesky_refuses_an_indefinite_matrix():
    """Its first pivot leaves a negative diagonal, with nothing that could be a next pivot."""
    assert pivoted(np.array([[1.0, 3.0], [3.0, 1.0]])) is None


def test_only_pivot_rows_are_asked_for():
    points = np.linspace(0.0, 1.0, 500)[:, None]
    matrix, asked = squared_exponential(points, 0.2), []
    factor, pivots, _ = pivoted_cholesky(
        lambda i: asked.append(i) or matrix[i], matrix.diagonal(), 1e-12, 100
    )
    assert asked == pivots.tolist()
    assert len(asked) == factor.shape[1]


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), data=st.data())
def test_no_factor_errs_less_than_the_least_that_is_missing(seed, n, data):
    matrix = random_covariance(seed, n, n, data.draw(st.sampled_from([1e-6, 1.0, 1e6])))
    rank = data.draw(st.integers(0, n - 1))
    bound = least_missing(matrix, rank)
    # The eigenvectors' factor has the least trace of all, and pivots the least of the cheap ones.
    values, vectors = np.linalg.eigh(matrix)
    left = (vectors[:, : n - rank] * values[: n - rank]) @ vectors[:, : n - rank].T
    assert bound <= left.diagonal().max()
    assert bound == pytest.approx(left.trace() / n, rel=1e-6, abs=1e-13 * matrix.max())


def test_nothing_is_missing_from_a_matrix_of_that_rank():
    matrix = random_covariance(4, 30, 7)
    assert least_missing(matrix, 7) <= 0.0 < least_missing(matrix, 6)


@pytest.mark.parametrize("noise", [0.0, -1e-4])
def test_root_of_a_singular_covariance(noise):
    square = np.random.default_rng(1).standard_normal((6, 2))
    covariance = square @ square.T
    covariance[5, 5] += noise  # Rounding, exaggerated: past what a small jitter mends.
    half = root(covariance)
    np.testing.assert_allclose(half @ half.T, covariance, atol=1e-4 if noise else 1e-10)

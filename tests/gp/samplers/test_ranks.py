"""Numerical ranks as measured independently of this code, and what low rank refuses."""

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Empirical, Linear, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.samplers import (
    KroneckerFactor,
    dense_factor,
    factor_for,
    kronecker_factor,
    low_rank_factor,
    sampler_for,
)

SE = SquaredExponential(0.2)
LINE, SQUARE = Arms.grid(1000), Arms.grid((50, 50))


@pytest.mark.parametrize(
    ("arms", "tolerance", "rank", "slack"),
    [(LINE, 1e-12, 19, 1), (LINE, 1e-10, 17, 1), (SQUARE, 1e-12, 266, 3), (SQUARE, 1e-10, 219, 3)],
)
def test_ranks_of_the_squared_exponential(arms, tolerance, rank, slack):
    factor = low_rank_factor(arms, SE, 400, tolerance)
    assert abs(factor.rank - rank) <= slack
    assert factor.error <= 1.1 * tolerance
    rows = np.arange(0, arms.size, 97)
    missing = factor.rows(rows) @ factor.matrix.T - SE(arms.coordinates[rows], arms.coordinates)
    assert np.abs(missing).max() <= factor.error


def test_the_kronecker_factor_has_the_axes_ranks():
    factor = kronecker_factor(SQUARE, SE)
    assert factor.ranks == (19, 19)
    assert factor.rank == 361


@pytest.mark.parametrize("shape", [(50, 50), (11, 9, 10), (40, 3)])
def test_a_learner_gets_the_columns_that_matter(shape):
    arms, rng = Arms.grid(shape), np.random.default_rng(0)
    whole = kronecker_factor(arms, SE)
    thin = whole.thinned(1e-12 - whole.error)
    assert thin.error <= 1e-12
    phi = thin(np.eye(thin.rank)).T
    assert phi.shape == (arms.size, thin.rank)
    assert np.abs(phi @ phi.T - SE(arms.coordinates)).max() <= thin.error + 1e-14
    some = rng.integers(arms.size, size=5)
    np.testing.assert_allclose(thin.rows(some), phi[some], atol=1e-14)
    np.testing.assert_allclose(thin.row(int(some[0])), phi[some[0]], atol=1e-14)
    np.testing.assert_allclose(thin.squared_norms(), (phi**2).sum(axis=1), atol=1e-14)
    assert whole.thinned(-1.0) is whole


def test_rounding_does_not_decide_which_columns_a_learner_gets():
    # Columns that differ in the order of the axes matter as much.
    whole = kronecker_factor(Arms.grid((12, 12, 12)), SquaredExponential(0.7))
    rng = np.random.default_rng(0)
    rounded = [a * (1.0 + 1e-15 * rng.standard_normal(a.shape)) for a in whole.factors]
    other = KroneckerFactor(tuple(rounded), whole.error)
    thin, same = (factor.thinned(1e-10) for factor in (whole, other))
    assert thin.rank < whole.rank
    np.testing.assert_array_equal(thin.kept, same.kept)


def test_the_learner_of_the_square_has_a_fifth_fewer():
    # A joint factorisation, without the grid's structure, needs 266.
    assert 266 <= factor_for(SQUARE, SE, 400).rank <= 300


def test_linear_kernels_have_the_rank_of_their_dimension():
    arms = Arms(np.random.default_rng(0).standard_normal((500, 120)))
    # Flat up to its rank: no forecast may stop it.
    assert factor_for(arms, Linear(), 300).rank == 120
    assert type(sampler_for(arms, Linear())).__name__ == "MatrixFactor"
    assert factor_for(arms, Linear(), 119) is None


def test_an_empirical_covariance_of_few_readings_has_their_rank():
    readings = np.random.default_rng(1).standard_normal((61, 200))
    kernel = Empirical(np.cov(readings, rowvar=False))
    assert factor_for(Arms(np.arange(200)), kernel, 100).rank == 60


def test_covariances_that_are_indefinite_by_rounding_state_what_that_costs():
    matrix = np.diag([1.0, 0.0, 0.0])
    matrix[1, 2] = matrix[2, 1] = 1e-10
    kernel, arms = Empirical(matrix), Arms(np.arange(3))
    factor = low_rank_factor(arms, kernel, 3)
    gap = np.abs(factor.matrix @ factor.matrix.T - matrix).max()
    assert 5e-11 < gap <= factor.error


def test_full_rank_is_none_for_a_learner():
    assert factor_for(SQUARE, Matern52(0.2), 512) is None
    few = Arms.grid(30)
    rough = Matern52(0.01)
    assert low_rank_factor(few, rough, 29) is None
    assert low_rank_factor(few, rough, 30).rank == 30


FLAT_THEN_GONE = [SquaredExponential(ell) for ell in (0.02, 0.03, 0.05, 0.1, 0.3, 1.0)]
LONG_TAILED = [
    SquaredExponential(0.05) + SquaredExponential(0.5),
    SquaredExponential(0.2) * SquaredExponential(0.5),
    SquaredExponential(0.1) + 1e-9 * Matern32(0.2),
    Matern32(100.0),
    Matern52(5.0),
]


@pytest.mark.parametrize("kernel", FLAT_THEN_GONE + LONG_TAILED, ids=repr)
@pytest.mark.parametrize("plane", [False, True])
def test_no_kernel_within_the_rank_is_given_up_after_a_look_at_a_few_arms(kernel, plane):
    # In the plane most of them have a rank that no number of arms leaves room for.
    full = plane and kernel not in FLAT_THEN_GONE[4:]
    count = 500 if full else 1500
    points = np.random.default_rng(3).random((count, 2)) if plane else np.linspace(0, 1, count)
    arms = Arms(points)
    whole = low_rank_factor(arms, kernel, arms.size)
    assert (whole.rank > arms.size // 9) == full
    if not full:
        # So many arms that a few are looked at first, with no rank to spare.
        assert 6 * (whole.rank * 3 // 2 + 1) <= arms.size
        again = low_rank_factor(arms, kernel, whole.rank)
        assert np.array_equal(again.matrix, whole.matrix)
    assert low_rank_factor(arms, kernel, whole.rank - 1) is None


def test_a_rough_kernel_is_dropped_after_a_look_at_a_few_arms(monkeypatch):
    arms = Arms.grid((60, 60))

    def refuse(*_):
        raise AssertionError("the long way")

    monkeypatch.setattr("gpbandits_env.gp.samplers.factors.pivoted_cholesky", refuse)
    for kernel in (Matern32(0.2), Matern52(1.0), SquaredExponential(0.05)):
        assert low_rank_factor(arms, kernel, 256) is None


CASES = [(10, 1.0), (14, 0.5), (18, 0.3), (20, 0.2), (26, 0.15), (50, 0.08), (200, 0.01)]


@pytest.mark.parametrize(
    ("size", "kernel"),
    [(300, Matern52(0.4)), *((size, SquaredExponential(scale)) for size, scale in CASES)],
)
def test_rounding_hardly_changes_a_draw(size, kernel):
    # A draw takes a number for each column: another number of columns is another function.
    arms, rng = Arms(np.arange(size)), np.random.default_rng(0)
    exact, found = kernel(np.linspace(0.0, 1.0, size)[:, None] ** 1.5), []
    xi = rng.standard_normal(size)
    for _ in range(10):
        rounding = 1e-16 * rng.standard_normal((size, size))
        covariance = exact + rounding + rounding.T
        factor = dense_factor(arms, Empirical(covariance))
        assert np.abs(factor.matrix @ factor.matrix.T - covariance).max() <= factor.error <= 1e-12
        found.append(factor(xi))
    assert np.ptp(found, axis=0).max() < 1e-6


def test_max_rank_must_be_a_whole_number_above_zero():
    with pytest.raises(InvalidInput, match="max_rank must be at least 1"):
        factor_for(LINE, SE, 0)
    with pytest.raises(InvalidInput, match="whole number"):
        factor_for(LINE, SE, 10.5)

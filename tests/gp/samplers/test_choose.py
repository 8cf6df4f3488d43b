import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels import (
    Empirical,
    Linear,
    Matern12,
    Matern52,
    SquaredExponential,
    Stationary,
)
from gpbandits_env.gp.samplers import (
    CirculantSampler,
    DenseFactor,
    KroneckerFactor,
    MatrixFactor,
    factor_for,
    kronecker_factor,
    sampler_for,
)

SE, ROUGH = SquaredExponential(0.2), Matern52(0.2)
RNG = np.random.default_rng(0)
SQUARE, FREE = Arms.grid((50, 50)), Arms(RNG.random((1600, 2)))


@pytest.mark.parametrize(
    ("arms", "kernel", "chosen"),
    [
        (SQUARE, SE, KroneckerFactor),
        (Arms.grid((60, 60)), SquaredExponential((0.1, 0.3)) * 2.0, KroneckerFactor),
        (Arms.grid(1000), SE, MatrixFactor),
        (FREE, SE, MatrixFactor),
        (FREE, Linear(), MatrixFactor),
        (SQUARE, Linear(), MatrixFactor),
        (SQUARE, ROUGH, CirculantSampler),
        (Arms.grid((16, 16, 16)), ROUGH, CirculantSampler),
        (Arms.grid(20000), Matern12(0.01), CirculantSampler),
        (Arms.grid((30, 30)), ROUGH, CirculantSampler),
        (Arms.grid((20, 20)), ROUGH, DenseFactor),
        (Arms(FREE.coordinates[:400]), ROUGH, DenseFactor),
        (Arms(np.arange(30)), Empirical(np.eye(30)), DenseFactor),
    ],
)
def test_auto_takes_the_cheapest_exact_way(arms, kernel, chosen):
    sampler = sampler_for(arms, kernel)
    assert type(sampler) is chosen
    assert sampler.error <= 2e-12 * kernel.diagonal(arms.coordinates).max()


def test_auto_takes_no_torus_that_costs_more_than_the_full_factor():
    # Matern 5/2 with l = 0.6 needs 180 x 180 points here: 0.5 ms a draw against 0.4.
    sampler = sampler_for(Arms.grid((40, 40)), Matern52(0.6))
    assert type(sampler) is DenseFactor


def test_too_many_arms_for_anything_exact_say_what_to_do():
    many = Arms(np.random.default_rng(1).random((10_001, 2)))
    assert type(sampler_for(Arms(many.coordinates[:3001]), ROUGH)) is DenseFactor
    with pytest.raises(InvalidInput, match=r"10001 arms are too many.*evenly spaced grid"):
        sampler_for(many, ROUGH)


def test_a_real_covariance_with_a_wide_spectrum_is_drawn_exactly(phi):
    # As of 46 sensors of temperature: eigenvalues from 0.003 to 385.
    basis, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((46, 46)))
    covariance = basis * np.geomspace(0.003, 385.0, 46) @ basis.T
    kernel = Empirical((covariance + covariance.T) / 2.0)
    sampler = sampler_for(Arms(np.arange(46)), kernel)
    matrix = phi(sampler)
    assert np.abs(matrix @ matrix.T - kernel.covariance).max() <= sampler.error <= 1e-11


class NoCovariance(Stationary):
    """1 - r is far below -1 at long distances, where no covariance may be."""

    def profile(self, r):
        return 1.0 - r

    def slope(self, r):
        return 0.0 * r


def test_a_kernel_that_is_no_covariance_gets_no_factor_of_low_rank():
    arms, kernel = Arms(3.0 * FREE.coordinates[:50]), NoCovariance(0.3)
    assert factor_for(arms, kernel, 20) is None
    with pytest.raises(NotPositiveDefinite, match="check that the kernel is a covariance"):
        sampler_for(arms, kernel)


def test_a_kernel_that_does_not_fit_the_arms_is_refused():
    with pytest.raises(InvalidInput, match="3 lengthscales"):
        sampler_for(SQUARE, SquaredExponential((0.1, 0.2, 0.3)))
    for arms, kernel in ((SQUARE, ROUGH), (SQUARE, Linear()), (FREE, SE), (Arms.grid(9), SE)):
        assert kronecker_factor(arms, kernel) is None


@pytest.mark.parametrize("tolerance", [-1e-12, np.nan, "small"])
def test_the_tolerance_is_a_number_not_below_zero(tolerance):
    with pytest.raises(InvalidInput, match="tolerance"):
        factor_for(SQUARE, SE, 100, tolerance=tolerance)


def test_equal_arms_and_kernels_share_a_sampler():
    a = sampler_for(Arms.grid((9, 9)), SquaredExponential(0.31))
    assert sampler_for(Arms.grid((9, 9)), SquaredExponential(0.31)) is a
    assert sampler_for(Arms.grid((9, 9)), SquaredExponential(0.32)) is not a
    b = factor_for(Arms.grid(99), SE, 50)
    assert factor_for(Arms.grid(99), SE, 50) is b
    assert factor_for(Arms.grid(99), SE, 5) is None


def test_free_points_that_lie_on_a_grid_do_not_share_the_grids_sampler():
    grid = Arms.grid((9, 9))
    free = Arms(grid.coordinates)
    assert type(sampler_for(grid, SE)) is KroneckerFactor
    assert type(sampler_for(free, SE)) is not KroneckerFactor


def test_a_learner_gets_a_kronecker_factor_where_it_is_small_enough():
    assert type(factor_for(SQUARE, SE, 300)) is KroneckerFactor
    small = factor_for(SQUARE, SE, 270)
    assert type(small) is MatrixFactor
    assert small.rank <= 270
    assert factor_for(SQUARE, SE, 200) is None

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Linear, Matern12, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.samplers import circulant_sampler

SQUARE = Arms.grid((50, 50))

MIXED = Matern32(0.1, 1e-3) + SquaredExponential(0.5, 1.0 - 1e-3)


class Rotated(SquaredExponential):
    """A stationary kernel that is not even in each coordinate."""

    def __call__(self, x, z=None):
        shear = np.array([[1.0, 0.5], [0.0, 1.0]])
        return super().__call__(x @ shear, (x if z is None else z) @ shear)


def covariance_with(sampler, arm):
    """Row ``arm`` of Phi Phi^T, without Phi: the draw's covariance by the torus's eigenvalues."""
    field = np.fft.ifftn((sampler._weights**2).reshape(sampler.torus)).real * sampler.rank
    places = np.indices(sampler.shape).reshape(2, -1)
    lags = places - np.array(np.unravel_index(arm, sampler.shape))[:, None]
    return field[tuple(lags)]


@pytest.mark.parametrize("kernel", [Matern12(0.2), Matern32(0.2), Matern52(0.2, 3.0)])
@pytest.mark.parametrize("arm", [0, 1275, 2499])
def test_the_papers_grid_is_exact(kernel, arm):
    sampler = circulant_sampler(SQUARE, kernel)
    assert sampler.error <= 1.1e-12 * kernel.variance
    exact = kernel(SQUARE.coordinates[[arm]], SQUARE.coordinates)[0]
    assert np.abs(covariance_with(sampler, arm) - exact).max() <= sampler.error


def test_tori_are_little_larger_than_twice_the_grid():
    assert circulant_sampler(SQUARE, Matern52(0.2)).torus == (120, 120)
    assert circulant_sampler(SQUARE, Matern32(0.2)).torus == (100, 100)
    assert circulant_sampler(SQUARE, Matern12(0.2)).torus == (100, 100)


@pytest.mark.parametrize("kernel", [Matern12(50.0), Matern32(5.0), Matern52(2.0, 3.0)])
def test_lengthscales_far_longer_than_the_line_are_exact(kernel, phi):
    line = Arms.grid(30)
    sampler = circulant_sampler(line, kernel)
    assert sampler.rank <= 40 * line.size
    matrix = phi(sampler)
    gap = np.abs(matrix @ matrix.T - kernel(line.coordinates)).max()
    assert gap <= sampler.error + 1e-14 * kernel.variance <= 1.1e-12 * kernel.variance


def test_a_longer_lengthscale_grows_its_own_axis_only():
    torus = circulant_sampler(Arms.grid((40, 40)), Matern52((0.1, 0.5))).torus
    assert torus[0] <= 100 < 140 <= torus[1]


def test_no_torus_is_larger_than_allowed():
    assert circulant_sampler(Arms.grid(64), Matern52(2.0), most_points=300) is None


@pytest.mark.parametrize(("kernel", "period"), [(SquaredExponential(0.3), 4.5), (MIXED, 6.0)])
def test_images_are_summed_where_a_smooth_kernel_has_died_out(kernel, period, phi):
    # With bent lags alone, the torus of the first has more than 9 times as many points as the line.
    line = Arms.grid(100)
    sampler = circulant_sampler(line, kernel)
    assert sampler.rank <= period * line.size
    matrix = phi(sampler)
    gap = np.abs(matrix @ matrix.T - kernel(line.coordinates)).max()
    assert gap <= sampler.error + 1e-14 <= 1.1e-12

    assert sampler.error <= 1.5 * gap + 1e-13


def test_what_cannot_be_embedded_has_no_sampler():
    uneven = Arms(np.array([[0.0], [0.1], [0.3]]), (np.array([0.0, 0.1, 0.3]),))
    assert circulant_sampler(Arms.grid((6, 6)), Rotated(0.3)) is None
    assert circulant_sampler(uneven, Matern52(0.2)) is None
    assert circulant_sampler(Arms([[0.0], [0.1], [0.2]]), Matern52(0.2)) is None
    assert circulant_sampler(SQUARE, Linear()) is None


def test_axes_far_from_the_origin_are_even_within_the_rounding_of_their_points(phi):
    far, kernel = Arms.grid(50, low=1e6, high=1e6 + 1), Matern32(0.2)
    sampler, near = circulant_sampler(far, kernel), circulant_sampler(Arms.grid(50), kernel)
    np.testing.assert_allclose(phi(sampler), phi(near), atol=1e-8)
    matrix = phi(sampler)
    gap = np.abs(matrix @ matrix.T - kernel(far.coordinates)).max()
    # The points themselves are rounded to 1e-10.
    assert 1e-12 < gap <= sampler.error <= 1e-8


def test_the_squared_exponential_embeds_on_a_large_grid_of_three_axes(rng):
    cube = Arms.grid((24, 20, 16))
    sampler = circulant_sampler(cube, SquaredExponential((0.15, 0.2, 0.25), 2.0))
    draws = sampler.draw(rng, 60)
    spread = (draws**2).mean()
    # About 100 independent cells a draw.
    assert spread == pytest.approx(2.0, rel=0.1)

"""Stationary kernels on even grids: a periodic extension, diagonal in the Hartley basis."""

import math

import numpy as np
from scipy.fft import fft, fftn, next_fast_len, rfft

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import EPS
from gpbandits_env.samplers.base import Sampler, held
from gpbandits_env.samplers.torus import check_even, extensions, reach, rounding

# The torus may hold this many points: 32 MB of coefficients, 0.1 s a draw.
MOST_POINTS = 1 << 22
GROWTH = 1.06
# Axes whose covariance at half their period is below this part of the largest need not grow.
UNEQUAL = 0.3


def can_embed(arms: Arms, kernel: Kernel) -> bool:
    """Whether the kernel is stationary and the arms are a product of evenly spaced axes."""
    return kernel.is_stationary and arms.axes is not None and all(_even(a) for a in arms.axes)


class CirculantSampler(Sampler):
    r"""Draws by circulant embedding; `circulant_sampler` makes one.

    The grid is a corner of a torus whose covariance is a circulant matrix C = H diag(lam) H, with
    H the (real, symmetric, orthogonal) Hartley matrix. So f = H sqrt(lam) xi has covariance C,
    and the Hartley transform is the real part less the imaginary part of one real FFT.

    Cost: one real FFT of the torus a draw. A 50 x 50 grid of Matern 5/2, l = 0.2, has a torus of
    120 x 120 points: 0.06 ms, and 0.14 ms for its 14400 normal numbers.

    Args:
        shape: the grid's.
        eigenvalues: lam, of the torus's shape, none below 0.
        error: a bound on the covariance's error.
    """

    def __init__(self, shape: tuple[int, ...], eigenvalues: Array, error: float) -> None:
        self.shape, self.torus = shape, eigenvalues.shape
        self.size, self.rank = int(np.prod(shape)), eigenvalues.size
        self.error = error
        self._weights = held(np.sqrt(eigenvalues / self.rank))

    def __call__(self, xi: Array) -> Array:
        lead = xi.shape[:-1]
        field = self._weights * xi.reshape(*lead, *self.torus)
        # Only the corner is wanted: what lies outside is cut after each axis.
        spectrum = rfft(field, axis=-1)[..., : self.shape[-1]]
        for axis, n in enumerate(self.shape[:-1], start=len(lead)):
            whole = (slice(None),) * axis
            spectrum = fft(spectrum, axis=axis)[(*whole, slice(n))]
        values = spectrum.real - spectrum.imag
        return values.reshape(*lead, self.size)


def circulant_sampler(
    arms: Arms, kernel: Kernel, tolerance: float = 1e-12, most_points: int = MOST_POINTS
) -> CirculantSampler:
    """The embedding in the smallest torus that does.

    Only the covariance at the grid's own lags matters; beyond, any will do that makes C positive
    semidefinite. Two are tried on each torus: the kernel at lags that are bent smoothly into the
    period, and, where the kernel has died out, the sum of its periodic images. The torus grows,
    along the axes on which the kernel reaches farthest, until one has next to no negative
    eigenvalues. A 50 x 50 grid of Matern 5/2, l = 0.2, needs 120 x 120 points; with lags that turn
    back sharply at half the period, 160 x 160.

    Args:
        arms: an evenly spaced grid of any dimension.
        kernel: a stationary kernel, even in each coordinate.
        tolerance: the largest error of the covariance, relative to the variance; below four units
            of rounding it is taken as that.
        most_points: the largest torus.

    Returns:
        The sampler; its error is the sum of the negative eigenvalues left out over their number (a
        bound), for summed images what they change at the grid's lags, and rounding: also that of
        the arms' coordinates, which is large on a small grid far from the origin.

    Raises:
        InvalidInput: a kernel that is not stationary and even, arms that are no even grid, or a
            kernel that reaches too far beyond the grid.
    Source: Dietrich and Newsam (1997); bending lags is akin to the cut-off embedding of Stein
        (2002).
    """
    if not can_embed(arms, kernel) or arms.axes is None:
        raise InvalidInput(_why_not(arms, kernel))
    steps = [float(a[-1] - a[0]) / (len(a) - 1) if len(a) > 1 else 1.0 for a in arms.axes]
    check_even(kernel, arms.shape, steps)
    variance = float(kernel.diagonal(np.zeros((1, arms.dim)))[0])
    enough = max(tolerance, 4.0 * EPS) * variance
    sizes = tuple(_fast(2 * (n - 1)) for n in arms.shape)
    while math.prod(sizes) <= most_points:
        for covariance, moved in extensions(kernel, arms.shape, sizes, steps, enough):
            eigenvalues = _eigenvalues(covariance)
            error = moved + _lost(eigenvalues)
            if error <= enough:
                error += rounding(kernel, arms.axes, steps) + 32.0 * EPS * variance
                return CirculantSampler(arms.shape, np.maximum(eigenvalues, 0.0), error)
        sizes = _grown(kernel, sizes, steps)
    raise InvalidInput(
        f"the kernel {kernel.type_name!r} reaches too far beyond this grid: no torus of at most "
        f"{most_points} points has its covariance to {tolerance:g} of the variance; use "
        "'lowrank' or 'dense', or pass a larger tolerance"
    )


def _grown(kernel: Kernel, sizes: tuple[int, ...], steps: list[float]) -> tuple[int, ...]:
    """The next larger torus: by 6% along the axes on which the kernel is largest at half way."""
    far = reach(kernel, [m // 2 * h for m, h in zip(sizes, steps, strict=True)])
    far[np.array(sizes) == 1] = 0.0
    grows = far >= UNEQUAL * far.max()
    return tuple(
        _fast(int(GROWTH * m) + 1) if grow and m > 1 else m
        for m, grow in zip(sizes, grows, strict=True)
    )


def _lost(eigenvalues: Array) -> float:
    """What leaving out the negative eigenvalues changes in the covariance, at most."""
    return float(np.maximum(-eigenvalues, 0.0).sum()) / eigenvalues.size


def _eigenvalues(covariance: Array) -> Array:
    """Those of the circulant matrix; real, since its first row is even along every axis."""
    return np.ascontiguousarray(fftn(covariance).real)


def _fast(size: int) -> int:
    """The next size with a fast real transform; even, so that an axis has a half-way point."""
    return 2 * int(next_fast_len((size + 1) // 2, real=True)) if size > 0 else 1


def _even(axis: Array) -> bool:
    """Whether an axis is evenly spaced, but for the rounding of its points."""
    if len(axis) < 3:
        return True
    ideal = np.linspace(axis[0], axis[-1], len(axis))
    rounding = 8.0 * EPS * np.abs(axis).max() + 1e-13 * abs(axis[-1] - axis[0])
    return bool(np.abs(axis - ideal).max() <= rounding and axis[-1] != axis[0])


def _why_not(arms: Arms, kernel: Kernel) -> str:
    if not kernel.is_stationary:
        return (
            f"the sampler 'circulant' needs a stationary kernel, and {kernel.type_name!r} is not "
            "one; use 'lowrank' or 'dense'"
        )
    what = "an unevenly spaced grid" if arms.axes else f"{arms.size} free points"
    return (
        "the sampler 'circulant' needs arms on an evenly spaced grid (Arms.grid), and these are "
        f"{what}; use 'lowrank' or 'dense'"
    )

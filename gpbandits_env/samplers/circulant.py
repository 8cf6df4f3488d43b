"""Stationary kernels on even grids: a periodic extension, diagonal in the Hartley basis."""

import numpy as np
from scipy.fft import fft, next_fast_len, rfft, rfftn

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.samplers.base import Sampler

TOLERANCE = 1e-12
# The extended grid may hold this many points: 32 MB of coefficients.
MOST_POINTS = 1 << 22
GROWTH = 1.06


def can_embed(arms: Arms, kernel: Kernel) -> bool:
    """Whether the kernel is stationary and the arms are a product of evenly spaced axes."""
    return kernel.is_stationary and arms.axes is not None and all(_even(a) for a in arms.axes)


class CirculantSampler(Sampler):
    r"""Draws by circulant embedding (Dietrich and Newsam 1997).

    The grid is laid on a torus whose covariance is k at the wrapped distance: a circulant matrix
    C = H diag(lam) H with H the (real, symmetric, orthogonal) Hartley matrix, so that
    f = H sqrt(lam) xi, of which the grid is a corner. C must have no negative eigenvalue: the
    torus is enlarged until what the negative ones add up to is below 1e-12 of the variance. Where
    that takes too many points
    the sum of the kernel's periodic images is used, which has none at any period.

    Cost: one real FFT of the torus a draw; a 50 x 50 grid of Matern 5/2 takes some 0.3 ms.

    Args:
        arms: an evenly spaced grid.
        kernel: a stationary kernel.
    Attributes:
        error: the sum of the negative eigenvalues left out over the number of points (a bound on
            the covariance's error), plus that of summed images, measured on the grid.
    Raises:
        InvalidInput: a kernel that is not stationary, or arms that are no even grid.
    """

    def __init__(self, arms: Arms, kernel: Kernel) -> None:
        if not can_embed(arms, kernel) or arms.axes is None:
            why = "is not stationary" if not kernel.is_stationary else "needs an even grid of arms"
            raise InvalidInput(
                f"the sampler 'circulant' cannot be used: the kernel {kernel.type_name!r} {why}; "
                "use 'dense' or 'auto'"
            )
        self.shape, self.size = arms.shape, arms.size
        steps = [float(a[1] - a[0]) if len(a) > 1 else 1.0 for a in arms.axes]
        eigenvalues, self.error = _embed(kernel, self.shape, steps)
        self.torus = eigenvalues.shape
        self.rank = eigenvalues.size
        self._weights = np.sqrt(eigenvalues / self.rank)

    def __call__(self, xi: Array) -> Array:  # noqa: D102
        lead, d = xi.shape[:-1], len(self.torus)
        field = self._weights * xi.reshape(*lead, *self.torus)
        # Only the corner is wanted: what lies outside is cut after each axis.
        spectrum = rfft(field, axis=-1)[..., : self.shape[-1]]
        for axis in range(d - 1):
            place = len(lead) + axis
            spectrum = fft(spectrum, axis=place)
            cut = (slice(None),) * place + (slice(self.shape[axis]),)
            spectrum = spectrum[cut]
        values = spectrum.real - spectrum.imag
        return values.reshape(*lead, self.size)


def _embed(kernel: Kernel, shape: tuple[int, ...], steps: list[float]) -> tuple[Array, float]:
    """The torus's eigenvalues, and the error of the covariance."""
    sizes = tuple(_fast(2 * (n - 1)) for n in shape)
    last: tuple[int, ...] = sizes
    variance = float(kernel.diagonal(np.zeros((1, len(shape))))[0])
    while np.prod(sizes) <= MOST_POINTS:
        last = sizes
        eigenvalues = _eigenvalues(_wrapped(kernel, sizes, steps))
        lost = _lost(eigenvalues)
        if lost <= TOLERANCE * variance:
            return np.maximum(eigenvalues, 0.0), lost
        sizes = tuple(
            m if n == 1 else _fast(int(GROWTH * m) + 1) for m, n in zip(sizes, shape, strict=True)
        )
    return _summed_images(kernel, shape, last, steps)


def _summed_images(
    kernel: Kernel, shape: tuple[int, ...], sizes: tuple[int, ...], steps: list[float]
) -> tuple[Array, float]:
    images = np.zeros(sizes)
    reach = range(-2, 3)
    for shift in np.ndindex(*(len(reach) if n > 1 else 1 for n in shape)):
        offsets = [
            reach[s] * m if n > 1 else 0 for s, m, n in zip(shift, sizes, shape, strict=True)
        ]
        images += _covariance_at(
            kernel,
            [(np.arange(m) + o) * h for m, o, h in zip(sizes, offsets, steps, strict=True)],
        )
    eigenvalues = _eigenvalues(images)
    corner = tuple(slice(n) for n in shape)
    plain = _covariance_at(
        kernel, [np.arange(float(n)) * h for n, h in zip(shape, steps, strict=True)]
    )
    moved = float(np.abs(images[corner] - plain).max())
    return np.maximum(eigenvalues, 0.0), _lost(eigenvalues) + moved


def _lost(eigenvalues: Array) -> float:
    """What leaving out the negative eigenvalues changes in the covariance, at most."""
    return float(np.maximum(-eigenvalues, 0.0).sum()) / eigenvalues.size


def _wrapped(kernel: Kernel, sizes: tuple[int, ...], steps: list[float]) -> Array:
    lags = [
        np.minimum(np.arange(m), m - np.arange(m)) * h for m, h in zip(sizes, steps, strict=True)
    ]
    return _covariance_at(kernel, lags)


def _covariance_at(kernel: Kernel, lags: list[Array]) -> Array:
    mesh = np.stack([g.ravel() for g in np.meshgrid(*lags, indexing="ij")], axis=1)
    return kernel(mesh, np.zeros((1, len(lags)))).reshape([len(lag) for lag in lags])


def _eigenvalues(covariance: Array) -> Array:
    """The discrete Hartley transform of a symmetric array: its real Fourier transform, unfolded."""
    half = rfftn(covariance).real
    m = covariance.shape[-1]
    mirror = half[..., 1 : (m + 1) // 2][..., ::-1]
    for axis in range(covariance.ndim - 1):
        mirror = np.roll(np.flip(mirror, axis), 1, axis)
    return np.concatenate([half, mirror], axis=-1)


def _fast(size: int) -> int:
    return int(next_fast_len(max(size, 1), real=True))


def _even(axis: Array) -> bool:
    if len(axis) < 3:
        return True
    gaps = np.diff(axis)
    return bool(np.allclose(gaps, gaps[0], rtol=1e-9, atol=0.0)) and bool(gaps[0] > 0)

"""Covariances on a torus that agree with a stationary kernel at the lags of a grid."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.special import betainc

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.linalg import EPS

# Derivatives of a bent lag that are continuous. Measured: fewer or more need larger tori.
SMOOTHNESS = 4
# Mirror images of a covariance agree but for so much rounding.
MIRRORED = 64.0 * EPS


def extensions(
    kernel: Kernel,
    shape: tuple[int, ...],
    sizes: tuple[int, ...],
    steps: list[float],
    enough: float,
) -> Iterator[tuple[Array, float]]:
    """The covariances of a torus's points with its first that are worth a try.

    Args:
        kernel: stationary, and even in each coordinate.
        shape: the grid's.
        sizes: the torus's periods, even or 1, and at least 2 (n - 1) for n points.
        steps: the grid's spacings.
        enough: the error that is allowed.

    Yields:
        A covariance of shape ``sizes``, and the largest error at the grid's lags. First the kernel
        at bent lags, exact at the grid's; then, where the nearest periodic images are within
        ``enough``, the sum of the kernel's images, which takes smaller tori for kernels as smooth
        as the squared exponential.
    """
    axes = list(zip(shape, sizes, steps, strict=True))
    yield _covariance_at(kernel, [_bent_lags(n, m) * h for n, m, h in axes]), 0.0
    nearest = reach(kernel, [(m - n + 1) * h for n, m, h in axes])
    if nearest[np.array(shape) > 1].max(initial=0.0) > enough:
        return
    images = np.zeros(sizes)
    # An axis of one point has no images.
    for turns in product(*((-1, 0, 1) if n > 1 else (0,) for n in shape)):
        lags = [(_short_way(m) + t * m) * h for t, (_, m, h) in zip(turns, axes, strict=True)]
        images += _covariance_at(kernel, lags)
    plain = _covariance_at(kernel, _corner(shape, steps))
    yield images, float(np.abs(images[tuple(slice(n) for n in shape)] - plain).max())


def reach(kernel: Kernel, lags: list[float]) -> Array:
    """|k| at one lag along each axis, (d,)."""
    return np.abs(kernel(np.diag(lags), np.zeros((1, len(lags)))))[:, 0]


def check_even(kernel: Kernel, shape: tuple[int, ...], steps: list[float]) -> None:
    """Nothing, if turning the sign of one coordinate's lag does not change the covariance.

    Raises:
        InvalidInput: it does, as in a kernel whose axes are rotated.
    """
    corner = _corner(shape, steps)
    plain = _covariance_at(kernel, corner)
    for i in range(1, len(shape)):
        mirrored = _covariance_at(kernel, [-c if j == i else c for j, c in enumerate(corner)])
        if np.abs(mirrored - plain).max() > MIRRORED * np.abs(plain).max():
            raise InvalidInput(
                f"the sampler 'circulant' needs a kernel even in each coordinate, and "
                f"{kernel.type_name!r} changes with the sign of coordinate {i}; use 'lowrank' or "
                "'dense'"
            )


def rounding(kernel: Kernel, axes: tuple[Array, ...], steps: list[float]) -> float:
    """What the covariance of two arms is off at most because the axes' points are rounded."""
    corner = _corner(tuple(len(a) for a in axes), steps)
    plain = _covariance_at(kernel, corner)
    total = 0.0
    for i, (axis, lags) in enumerate(zip(axes, corner, strict=True)):
        # Two points' lag is off by at most twice what a point is.
        off = 2.0 * np.abs(axis - axis[0] - lags).max()
        moved = [c + off if j == i else c for j, c in enumerate(corner)]
        total += float(np.abs(_covariance_at(kernel, moved) - plain).max())
    return total


def _bent_lags(n: int, period: int) -> Array:
    """Lags 0, 1, ... of one axis the short way round: true up to n - 1, then slowing to a halt.

    Without the halt, the covariance has a kink at half the period, and the kink's slowly decaying
    spectrum is what makes eigenvalues negative. The lag's slope falls from 1 to 0 over the gap as
    a regularised incomplete beta function, so the covariance stays smooth.
    """
    places = np.arange(period)
    lags = np.minimum(places, period - places).astype(np.float64)
    gap = period / 2 - (n - 1)
    if gap <= 0:
        return lags
    w = np.maximum(lags - (n - 1), 0.0) / gap
    a = SMOOTHNESS + 1.0
    slowed = betainc(a, a, w) * w - betainc(a + 1.0, a, w) / 2.0  # the integral of betainc(a, a, .)
    return lags - gap * slowed


def _short_way(period: int) -> Array:
    """The signed lags 0, 1, ..., -1 of an axis."""
    places = np.arange(float(period))
    return np.where(places <= period / 2, places, places - period)


def _corner(shape: tuple[int, ...], steps: list[float]) -> list[Array]:
    """The grid's lags from its first point."""
    return [np.arange(float(n)) * h for n, h in zip(shape, steps, strict=True)]


def _covariance_at(kernel: Kernel, lags: list[Array]) -> Array:
    mesh = np.stack([g.ravel() for g in np.meshgrid(*lags, indexing="ij")], axis=1)
    return kernel(mesh, np.zeros((1, len(lags)))).reshape([len(lag) for lag in lags])

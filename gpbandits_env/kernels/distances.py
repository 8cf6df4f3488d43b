"""Distances between points, accurate for close ones.

The usual trick |x|^2 + |z|^2 - 2 x.z loses half of the digits where it matters most: at close
points of a kernel with a kink. Here differences are taken first wherever that is affordable.
"""

import numpy as np
from scipy.spatial.distance import cdist

from gpbandits_env.arrays import Array

# Up to FEW coordinates one pass of NumPy per coordinate is fastest, from MANY a matrix product.
FEW, MANY = 3, 48
# Pairs closer than this fraction of their squared size are computed anew by differences; for
# `squares` those that lost four digits of sixteen, and all if these are more than MANY_NEAR.
CLOSE, NEAR, MANY_NEAR = 1e-3, 1e-4, 0.05


def distances(x: Array, z: Array, lengthscale: float | Array) -> Array:
    """The distances |(x_i - z_j) / lengthscale|, fresh (n, m), of points x (n, d) and z (m, d).

    The lengthscale is a number or (d,), one per coordinate. No distance may exceed 1e150.
    """
    if x.shape[1] == 1:
        r: Array = np.subtract.outer(x[:, 0], z[:, 0])
        np.abs(r, out=r)
        r /= lengthscale
        return r
    if x.shape[1] <= FEW:
        return _by_coordinate(x, z, lengthscale)
    if isinstance(lengthscale, float):
        r = cdist(x, z) if x.shape[1] < MANY else _by_product(x, z)
        r /= lengthscale
        return r
    if x.shape[1] < MANY:
        return np.asarray(cdist(x, z, "seuclidean", V=lengthscale**2))
    return _by_product(x / lengthscale, z / lengthscale)


def _by_coordinate(x: Array, z: Array, lengthscale: float | Array) -> Array:
    scales = None if isinstance(lengthscale, float) else lengthscale
    total: Array | None = None
    for j in range(x.shape[1]):
        square: Array = np.subtract.outer(x[:, j], z[:, j])
        if scales is not None:
            square /= scales[j]
        square *= square
        total = square if total is None else np.add(total, square, out=total)
    assert total is not None
    np.sqrt(total, out=total)
    if scales is None:
        total /= lengthscale
    return total


def _by_product(x: Array, z: Array) -> Array:
    centre = z.mean(axis=0)
    x, z = x - centre, z - centre
    size = np.add.outer(np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", z, z))
    square: Array = size - 2.0 * (x @ z.T)
    i, j = np.nonzero(square < CLOSE * size)
    difference = x[i] - z[j]
    square[i, j] = np.einsum("ij,ij->i", difference, difference)
    np.sqrt(square, out=square)
    return square


def squares(x: Array, z: Array, norms: Array) -> Array:
    """|x_i - z_j|^2, fresh (n, m), by a matrix product; exactly 0 at equal points.

    The points are x (n, d) and z (m, d), with |z_j|^2 the norms (m,).
    """
    own = np.einsum("ij,ij->i", x, x)
    square: Array = (-2.0 * x) @ z.T
    square += norms
    square += own[:, None]
    if not square.size or square.min() >= NEAR * (own.max() + norms.max()):
        return square
    close = np.flatnonzero(square < NEAR * np.add.outer(own, norms))
    if len(close) > MANY_NEAR * square.size + 64:
        return np.asarray(cdist(x, z, "sqeuclidean"))
    i, j = np.divmod(close, len(z))
    difference = x[i] - z[j]
    square.ravel()[close] = np.einsum("ij,ij->i", difference, difference)
    return square

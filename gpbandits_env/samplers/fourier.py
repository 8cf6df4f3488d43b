"""Random Fourier features: any kernel with `Kernel.frequencies`, anywhere, approximately."""

import numpy as np

from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.samplers.base import BoxSampler

# Angles are worked on in pieces of so many (1 MB in single precision), which stay in cache.
STRIP = 1 << 18
# Amplitudes whose multiples single precision holds with all its digits.
SINGLE = (1e-30, 1e30)


class FourierFeatures(BoxSampler):
    r"""phi(x) = sqrt(2 v / m) [cos(W x), sin(W x)], the m/2 rows of W from the kernel's spectrum.

    Cost: O(m d) a point. `error` is two standard errors of the covariance at one pair of points,
    2 v / sqrt(m): 0.06 for 1024 features and v = 1; it is random, not a bound.

    Args:
        kernel: stationary, with `Kernel.frequencies`.
        dim: the number of coordinates.
        features: m, even.
        rng: draws W.
    Raises:
        InvalidInput: a kernel without a known spectral density, or an odd number of features.
    Source: Rahimi and Recht (2007).
    """

    def __init__(self, kernel: Kernel, dim: int, features: int, rng: np.random.Generator) -> None:
        if whole(features, "features", 2) % 2:
            raise InvalidInput(f"features must be even (a cosine and a sine each), got {features}")
        self.frequencies = kernel.frequencies(rng, features // 2, dim)
        self.rank = features
        variance = float(kernel.diagonal(np.zeros((1, dim)))[0])
        self._scale = np.sqrt(2.0 * variance / features)
        self.error = 2.0 * variance / np.sqrt(features)

    def features(self, x: Array) -> Array:
        angles = x @ self.frequencies.T
        return self._scale * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)

    def gradient(self, x: Array) -> Array:
        angles = x @ self.frequencies.T
        slopes = self._scale * np.concatenate([-np.sin(angles), np.cos(angles)], axis=1)
        return slopes[:, :, None] * np.concatenate([self.frequencies, self.frequencies])

    def values(self, x: Array, xi: Array) -> Array:
        """The functions phi(x)^T xi, (n, d), (size, rank) -> (size, n), in single precision.

        Several times faster than `features`, whose cost is that of cosines in double precision; the
        error is about 1e-7 of the standard deviation times the largest angle W x.
        """
        half = self.rank // 2
        # What single precision may not hold is multiplied in afterwards.
        held = SINGLE[0] < self._scale < SINGLE[1]
        weights = (self._scale * xi if held else xi).astype(np.float32)
        frequencies = self.frequencies.astype(np.float32)
        out = np.empty((len(xi), len(x)))
        step = max(1, STRIP // half)
        for start in range(0, len(x), step):
            part = slice(start, start + step)
            angles = frequencies @ x[part].astype(np.float32).T
            waves = np.cos(angles)
            out[:, part] = weights[:, :half] @ waves
            np.sin(angles, out=waves)
            out[:, part] += weights[:, half:] @ waves
        if not held:
            out *= self._scale
        return out

    def pull(self, x: Array, xi: Array) -> tuple[Array, Array]:
        angles = x @ self.frequencies.T
        cosine, sine = np.cos(angles), np.sin(angles)
        even, odd = np.split(self._scale * xi, 2, axis=1)
        values = np.einsum("ij,ij->i", cosine, even) + np.einsum("ij,ij->i", sine, odd)
        return values, (cosine * odd - sine * even) @ self.frequencies

"""The candidates of one round; their moments are updated as points are hallucinated."""

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.posterior import BoxPosterior
from gpbandits_env.posterior.threads import OneThread
from gpbandits_env.posterior.whitening import root

# A draw carries this part of the prior variance as noise of its own: rounding is smaller.
LEAST = 1e-10
# So many rows of a covariance are worked on together.
STRIP = 128


class HeldCandidates:
    """Points and their moments: O(n t (d + t)) at first, O(n t) for each hallucinated point.

    A hallucinated point p is one more row w of the posterior's whitening matrix W: with K the
    covariances of candidates with all conditioned points, the variances fall by (K w)^2. So K is
    kept, a column is added, and W is never applied again.
    """

    def __init__(self, points: Array, posterior: BoxPosterior) -> None:
        self.points = points
        self._posterior, self._size = posterior, posterior.size
        self._known = posterior.conditioned
        self._beta = posterior.predictor.beta.copy()
        self._root: Array | None = None
        count = len(self._known)
        self._k = np.empty((len(points), count + 8))
        self.mean = np.full(len(points), posterior.prior_mean)
        self.var = posterior.kernel.diagonal(points)
        if not count:
            return
        columns = posterior.kernel.columns(
            self._known, 0.5 * (posterior.box.low + posterior.box.high)
        )

        def kept(part: slice) -> Array:
            k = self._k[part, :count] = columns(points[part])
            return k

        posterior.predictor.moments(self.mean, self.var, kept)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Exact joint draws (size, n) of f; hallucinated points count in the covariance alone.

        O(n^3) for the first after a change, O(n^2 size) for others.
        """
        if self._root is None:
            self._root = root(self._covariance())
        values: Array = rng.standard_normal((size, len(self.points))) @ self._root.T
        values += self.mean
        return values

    def _covariance(self) -> Array:
        """The lower triangle of the posterior covariance (n, n), in strips that fit the cache."""
        posterior, points = self._posterior, self.points
        with OneThread():
            v = self._k[:, : len(self._known)] @ posterior.predictor.white.T
            covariance = np.zeros((len(points), len(points)))
            for start in range(0, len(points), STRIP):
                stop = min(start + STRIP, len(points))
                strip = covariance[start:stop, :stop]
                strip[:] = posterior.kernel(points[start:stop], points[:stop])
                strip -= v[start:stop] @ v[:stop].T
        covariance.flat[:: len(points) + 1] += LEAST * posterior.kernel.diagonal(points)
        return covariance

    def follow(self, posterior: BoxPosterior) -> bool:
        """Add the points that were hallucinated since; False if anything else has changed."""
        count, now = len(self._known), posterior.conditioned
        if (
            posterior is not self._posterior
            or posterior.size != self._size
            or len(now) < count
            or not np.array_equal(now[:count], self._known)
            or not np.array_equal(posterior.predictor.beta[:count], self._beta)
        ):
            return False
        total = len(now)
        if total == count:
            return True
        if total > self._k.shape[1]:
            grown = np.empty((len(self.points), 2 * total))
            grown[:, :count] = self._k[:, :count]
            self._k = grown
        self._k[:, count:total] = posterior.kernel(self.points, now[count:])
        v = self._k[:, :total] @ posterior.predictor.white[count:total].T
        self.var = np.maximum(self.var - np.einsum("ij,ij->i", v, v), 0.0)
        self._known, self._beta, self._root = now, posterior.predictor.beta.copy(), None
        return True

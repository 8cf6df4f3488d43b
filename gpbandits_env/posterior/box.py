"""A Gaussian-process posterior at any point of a box, grown an observation at a time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, finite_array, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.posterior.base import Posterior
from gpbandits_env.posterior.box_model import checked_model
from gpbandits_env.posterior.conditioning import Conditioning
from gpbandits_env.posterior.draws import draw_paths, draw_values
from gpbandits_env.posterior.paths import Paths
from gpbandits_env.posterior.regression import Regression, pieces
from gpbandits_env.posterior.state import check_keys
from gpbandits_env.posterior.threads import OneThread
from gpbandits_env.samplers import BoxSampler


class BoxPosterior(Posterior):
    r"""What is known of f ~ GP(prior_mean, k) at every point of a box from noisy observations.

    .. math::
        \mu_t(x) = m + \tilde k_t(x)^T (K_t \circ D_t + s^2 I)^{-1} (y_t - m), \quad
        \sigma_t^2(x) = k(x, x) - \tilde k_t(x)^T (K_t \circ D_t + s^2 I)^{-1} \tilde k_t(x)

    (srinivas2010, Section 2.2; bogunovic2016, eqs. (7)-(8)), where D and the tilde stand for the
    correlation lost by `advance`: all ones as long as nothing drifts. The inverse W of the Cholesky
    factor is grown by rows; drift does not touch it, since the correlations among past points stay
    as they are, only those with the present shrink.

    Appending k points costs O(k t (d + t)); moments and gradients at n points O(n t (d + t)), in
    few matrix products.

    With (almost) no noise an observation is given some: 1e-10 of the largest prior variance, and
    `jitter` says how much was added.

    Args:
        box: where.
        kernel: the prior covariance.
        noise_var: variance of the noise on a reward, at least 0.
        prior_mean: a number.

    Attributes:
        box: where.
        size: the number of observations since the prior.

    Raises:
        InvalidInput: a kernel for other points, a negative noise variance, or a prior mean that is
            no number.
    """

    def __init__(self, box: Box, kernel: Kernel, noise_var: float, prior_mean: float = 0.0) -> None:
        self.domain = self.box = box
        self.size = 0
        self._data = Conditioning(checked_model(box, kernel, noise_var, prior_mean))

    @property
    def kernel(self) -> Kernel:
        """The prior covariance."""
        return self._data.model.kernel

    @property
    def noise_var(self) -> float:
        """Variance of the noise on a reward."""
        return self._data.model.noise_var

    @property
    def prior_mean(self) -> float:
        """The prior mean, everywhere."""
        return self._data.model.prior_mean

    @property
    def jitter(self) -> float:
        """The largest amount that was added to a squared pivot; 0.0 if none was needed."""
        return self._data.jitter

    @property
    def information_gain(self) -> float:
        """1/2 sum log(1 + var / noise_var) over the observations (srinivas2010, Lemma 5.3).

        The variance of each is that just before it. Infinite without noise.
        """
        return self._data.gain

    @property
    def version(self) -> int:
        """A number that grows with every change of the state."""
        return self._data.version

    @property
    def observed(self) -> Array:
        """(t, d) the points observed since the prior, oldest first; fresh.

        Points that have faded away are no longer among them.
        """
        return self._data.log.points[: self._data.n_observed].copy()

    @property
    def rewards(self) -> Array:
        """(t,) what was observed there; fresh."""
        return self._data.log.rewards[: self._data.n_observed].copy()

    @property
    def conditioned(self) -> Array:
        """(t, d) the points the variance is conditioned on, observed and hallucinated; fresh."""
        return self._data.log.points.copy()

    @property
    def regression(self) -> Regression:
        """How moments follow from covariances with the points at hand; good until a change."""
        return self._data.regression

    def _learn(self, points: Array, rewards: Array) -> None:
        self._data.append(points, rewards)
        self.size += len(points)

    def hallucinate(self, points: ArrayLike) -> None:
        """Shrink the variance as if these points had been observed too; the mean stays.

        May be called again and again; `rollback` undoes all of it, to the bit.

        Args:
            points: (k, d).

        Raises:
            InvalidInput: a point outside the box.
        """
        x = self.box.check(points)
        self._data.mark()
        self._data.append(x, None)

    def rollback(self) -> None:
        """Drop all hallucinated points."""
        self._data.rollback()

    def var_given(self, points: ArrayLike, at: ArrayLike) -> Array:
        """(n,) the variance at n points if others were observed too; the state stays as it is.

        Args:
            points: (k, d) the points observed, besides those observed and hallucinated.
            at: (n, d).

        Raises:
            InvalidInput: a point outside the box.
        """
        x, where = self.box.check(points), self._points(at)
        before = self._data.count, self.jitter
        self._data.append(x, None)
        var = self.moments(where)[1]
        self._data.truncate(*before)
        return var

    def moments(self, x: ArrayLike) -> tuple[Array, Array]:
        """Posterior mean and variance at points; hallucinated points count in the variance only.

        O(n t (d + t)), in pieces, so that memory stays O(n).

        Args:
            x: (n, d).

        Raises:
            InvalidInput: another shape.
        """
        x = self._points(x)
        mean, var = np.full(len(x), self.prior_mean), self.kernel.diagonal(x)
        if self._data.count:
            with OneThread():
                for part in pieces(len(x), self._data.count):
                    gained, known = self.regression.moments(self._data.columns(x[part]))
                    mean[part] += gained
                    var[part] -= known
            np.maximum(var, 0.0, out=var)
        return mean, var

    def gradients(self, x: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """Posterior mean (n,) and variance (n,) at points, and their gradients (n, d).

        Where the variance is 0 to rounding, so is its gradient. O(n t (d + t)).

        Args:
            x: (n, d).

        Raises:
            InvalidInput: another shape.
        """
        x = self._points(x)
        mean, var = np.full(len(x), self.prior_mean), self.kernel.diagonal(x)
        mean_slope, var_slope = np.zeros(x.shape), self.kernel.diagonal_gradient(x)
        if self._data.count:
            with OneThread():
                for part in pieces(len(x), self._data.count):
                    found = self.regression.gradients(*self._data.columns.pull(x[part]))
                    mean[part] += found[0]
                    var[part] -= found[1]
                    mean_slope[part] = found[2]
                    var_slope[part] -= found[3]
            np.maximum(var, 0.0, out=var)
        return mean, var, mean_slope, var_slope

    def mean_at(self, x: ArrayLike) -> Array:
        """(n,) the posterior mean alone, O(n t d).

        Args:
            x: (n, d).

        Raises:
            InvalidInput: another shape.
        """
        x = self._points(x)
        mean = np.full(len(x), self.prior_mean)
        if self._data.count:
            with OneThread():
                for part in pieces(len(x), self._data.count):
                    mean[part] += self._data.columns(x[part]) @ self.regression.alpha
        return mean

    def var_at(self, points: Array) -> Array:
        """(k,) the variance at points, hallucinated ones included."""
        return self.moments(points)[1]

    def mean_at_observed(self) -> Array:
        """(t,) the posterior means at the observed points, now; O(t) if nothing has faded."""
        if self.jitter or self._data.log.fade() is not None:
            return self.mean_at(self._data.log.points[: self._data.n_observed])
        # m + K alpha, and (K + s^2 I) alpha = y - m.
        return self.rewards - self.noise_var * self.regression.alpha[: self._data.n_observed]

    def covariance(self, points: ArrayLike) -> Array:
        """(k, k) posterior covariance among points, hallucinated points included.

        Args:
            points: (k, d).

        Raises:
            InvalidInput: another shape.
        """
        x = self._points(points)
        covariance = self.kernel(x, x)
        if self._data.count:
            with OneThread():
                v = self._data.columns(x) @ self.regression.white.T
                covariance -= v @ v.T
        return 0.5 * (covariance + covariance.T)

    def paths(
        self, rng: np.random.Generator, size: int, features: int | BoxSampler = 1024
    ) -> Paths:
        """Functions drawn from the posterior of now, to be called anywhere in the box.

        Hallucinated points have no values and do not count. The mean is exact. The covariance is
        exact to 1e-12 where the kernel has few exact features (squared exponential in one or two
        dimensions); otherwise it errs as `FourierFeatures` says, `Paths.error`.

        O(t rank size + t^2 size); where the data have faded O(t^3) too.

        Args:
            rng: the source of randomness.
            size: the number of functions.
            features: the number of random features, even, where there are no exact ones; or the
                features to use, made for this box and kernel.

        Raises:
            InvalidInput: a kernel without exact features or a known spectral density.
        """
        return draw_paths(self._data, rng, whole(size, "size", 0), features)

    def sample(self, rng: np.random.Generator, size: int, x: ArrayLike) -> Array:
        """(size, n) exact joint draws of f at points given the data (not the hallucinated points).

        By `paths` where they are exact and cheaper, O(n rank size); otherwise by factorising the
        posterior covariance, O(n^3): for many points take `paths`.

        Args:
            rng: the source of randomness.
            size: the number of draws.
            x: (n, d).

        Raises:
            InvalidInput: another shape.
        """
        x = self._points(x)
        return draw_values(self._data, rng, whole(size, "size", 0), x)

    def advance(self, epsilon: float, dt: float = 1.0) -> None:
        """The world drifts: past data lose correlation by (1 - epsilon)^(dt / 2).

        Observations of one batch share a time, and `advance` stands between batches. epsilon = 1
        brings the prior back. Hallucinated points are dropped; points that have faded away are
        dropped now and then, by a new factor of those left.

        Args:
            epsilon: the drift, in [0, 1]; may differ from call to call.
            dt: the time that passes, at least 0, in rounds.

        Raises:
            InvalidInput: a number out of range.
        """
        if positive(epsilon, "epsilon", zero=True) > 1:
            raise InvalidInput(f"epsilon must lie in [0, 1], got {epsilon!r}")
        passed = positive(dt, "dt", zero=True)
        self.rollback()
        if epsilon > 0.0 and passed > 0.0 and self._data.count:
            self._data.fade(float(epsilon), passed)

    def forget(self) -> None:
        """Back to the prior: no data, no jitter, no information."""
        self._data.clear()
        self.size = 0

    def replace_model(
        self,
        kernel: Kernel | None = None,
        noise_var: float | None = None,
        prior_mean: float | None = None,
    ) -> None:
        """The same data under another model: a new factor, O(t^2 (d + t)).

        Hallucinated points are dropped. `jitter` and `information_gain` become those of the data
        at hand under the new model.

        Args:
            kernel: the new prior covariance, if it changes.
            noise_var: the new noise variance, if it changes.
            prior_mean: the new prior mean, if it changes.

        Raises:
            InvalidInput: as in the constructor; nothing has changed then.
        """
        model = checked_model(
            self.box,
            self.kernel if kernel is None else kernel,
            self.noise_var if noise_var is None else noise_var,
            self.prior_mean if prior_mean is None else prior_mean,
        )
        self._data.refactor(model)

    def snapshot(self) -> dict[str, Any]:
        """The whole state as a plain dict of arrays and numbers, all copied; not the model."""
        return self._data.snapshot() | {"size": self.size}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot, of this posterior or of one made alike (same box and model).

        Raises:
            InvalidInput: the snapshot does not fit; nothing has changed then.
        """
        check_keys(state, self.snapshot())
        self._data.check(state)
        self.size = whole(state["size"], "snapshot entry 'size'", 0)
        self._data.restore(state)

    def _points(self, x: ArrayLike) -> Array:
        points = finite_array(x, "points")
        if points.ndim != 2 or points.shape[1] != self.box.dim:
            raise InvalidInput(f"points must have shape (n, {self.box.dim}), got {points.shape}")
        return points

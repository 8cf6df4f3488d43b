"""A Gaussian-process posterior at any point of a box, grown an observation at a time."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, finite_array, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.kernels.columns import Columns
from gpbandits_env.posterior.base import BLOCK, FLOOR, observed_gain
from gpbandits_env.posterior.box_state import Log
from gpbandits_env.posterior.elimination import root
from gpbandits_env.posterior.paths import Paths, exact_features, shown
from gpbandits_env.posterior.regression import Regression, pieces
from gpbandits_env.posterior.state import check_keys
from gpbandits_env.posterior.threads import OneThread
from gpbandits_env.posterior.whitening import Whitening
from gpbandits_env.samplers import BoxSampler, FourierFeatures

# Points whose correlation with the present has shrunk below this are dropped: the mean then errs
# by at most 1e-8 of its size, the variance by 1e-16.
FADED = 1e-8
# Dropping means a new factor, so it waits until it pays: for so many, and for a quarter of all.
FEWEST_DROPPED, PART_DROPPED = 32, 0.25

# Up to so many points a joint draw is always by a factor.
FEW_POINTS = 128


class BoxPosterior:
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

    A repeated point with (almost) no noise makes a squared pivot vanish; it is then lifted to
    1e-12 of the largest prior variance, and `jitter` says by how much.

    Args:
        box: where.
        kernel: the prior covariance.
        noise_var: variance of the noise on a reward, at least 0.
        prior_mean: a number.

    Attributes:
        box: where.
        kernel: the prior covariance.
        noise_var: variance of the noise.
        prior_mean: a number.
        size: the number of observations since the prior.
        jitter: the largest amount that was added to a squared pivot; 0.0 if none was needed.
        information_gain: 1/2 sum log(1 + var / noise_var) over the observations, the variance of
            each taken just before it (srinivas2010, Lemma 5.3); infinite without noise.
        version: grows with every change of the state.

    Raises:
        InvalidInput: a kernel for other points, a negative noise variance, or a prior mean that is
            no number.
    """

    def __init__(self, box: Box, kernel: Kernel, noise_var: float, prior_mean: float = 0.0) -> None:
        self.box = box
        self.version = 0
        self._log, self._whitening = Log(box.dim), Whitening()
        self._centre = 0.5 * (box.low + box.high)
        self.size, self.jitter, self.information_gain = 0, 0.0, 0.0
        self._kept: tuple[int, float] | None = None  # Points and jitter before hallucination.
        self._columns: Columns | None = None
        self._regression: Regression | None = None
        self._take_model(kernel, noise_var, prior_mean)

    @property
    def told(self) -> Array:
        """(t, d) the points observed since the prior, oldest first; fresh.

        Points that have faded away are no longer among them.
        """
        return self._log.points[: self._told].copy()

    @property
    def rewards(self) -> Array:
        """(t,) what was observed there; fresh."""
        return self._log.rewards[: self._told].copy()

    @property
    def conditioned(self) -> Array:
        """(t, d) the points the variance is conditioned on, told and hallucinated; fresh."""
        return self._log.points.copy()

    @property
    def regression(self) -> Regression:
        """How moments follow from covariances with the points at hand; good until a change."""
        if self._regression is None:
            self._regression = Regression(self._whitening.matrix, self._log.beta, self._log.fade())
        return self._regression

    def update(self, points: ArrayLike, rewards: ArrayLike) -> None:
        """Learn from observations; hallucinated points are dropped first.

        Args:
            points: (k, d), k >= 0; repeats are allowed.
            rewards: (k,) what was observed.

        Raises:
            InvalidInput: a point outside the box, a reward that is not finite, or lengths that
                differ; nothing has changed then.
        """
        x = self.box.check(points)
        values = finite_array(rewards, "rewards", ndim=1)
        if len(values) != len(x):
            raise InvalidInput(
                f"rewards must have shape ({len(x)},), one per point, got {values.shape}"
            )
        self.rollback()
        self._absorb(x, values)
        self.size += len(x)

    def hallucinate(self, points: ArrayLike) -> None:
        """Shrink the variance as if these points had been observed too; the mean stays.

        May be called again and again; `rollback` undoes all of it, to the bit.

        Args:
            points: (k, d).

        Raises:
            InvalidInput: a point outside the box.
        """
        x = self.box.check(points)
        if self._kept is None:
            self._kept = self._log.count, self.jitter
        self._condition_all(x)

    def rollback(self) -> None:
        """Drop all hallucinated points."""
        if self._kept is not None:
            self._truncate(*self._kept)
            self._kept = None

    def var_given(self, points: ArrayLike, at: ArrayLike) -> Array:
        """(n,) the variance at n points if others were observed too; the state stays as it is.

        Args:
            points: (k, d) the points observed, besides those told and hallucinated.
            at: (n, d).

        Raises:
            InvalidInput: a point outside the box.
        """
        x, where = self.box.check(points), self._points(at)
        before = self._log.count, self.jitter
        self._condition_all(x)
        var = self.moments(where)[1]
        self._truncate(*before)
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
        if self._log.count:
            with OneThread():
                for part in pieces(len(x), self._log.count):
                    gained, known = self.regression.moments(self._columns_now()(x[part]))
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
        if self._log.count:
            with OneThread():
                for part in pieces(len(x), self._log.count):
                    found = self.regression.gradients(*self._columns_now().pull(x[part]))
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
        if self._log.count:
            with OneThread():
                for part in pieces(len(x), self._log.count):
                    mean[part] += self._columns_now()(x[part]) @ self.regression.alpha
        return mean

    def mean_at_told(self) -> Array:
        """(t,) the posterior means at the told points, now; O(t) if nothing has faded."""
        if self.jitter or self._log.fade() is not None:
            return self.mean_at(self._log.points[: self._told])
        # m + K alpha, and (K + s^2 I) alpha = y - m.
        return self.rewards - self.noise_var * self.regression.alpha[: self._told]

    def covariance(self, points: ArrayLike) -> Array:
        """(k, k) posterior covariance among points, hallucinated points included.

        Args:
            points: (k, d).

        Raises:
            InvalidInput: another shape.
        """
        x = self._points(points)
        covariance = self.kernel(x, x)
        if self._log.count:
            with OneThread():
                v = self._columns_now()(x) @ self.regression.white.T
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
        size = whole(size, "size", 0)
        log, told = self._log, self._told
        with OneThread():
            basis = self._basis(features, rng)
            xi = rng.standard_normal((size, basis.rank))
            if not told:
                return Paths(self.prior_mean, basis, xi, None, np.zeros((size, 0)))
            points, fade = log.points[:told].copy(), log.fade()
            fade = None if fade is None else fade[:told]
            white = self._whitening.matrix[:told, :told]
            missed = log.rewards[:told] - self.prior_mean
            there = basis.features(points)
            missed = missed - shown(rng, there, xi, self.noise_var, fade, log.stamps[:told])
            weights = (missed @ white.T) @ white
            if fade is not None:
                weights *= fade
            columns = self.kernel.columns(points, self._centre)
        return Paths(self.prior_mean, basis, xi, columns, weights)

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
        exact = self._exact_features() if len(x) > FEW_POINTS else None
        if exact is not None and exact.rank < len(x):
            return self.paths(rng, size, exact)(x)
        draws: Array = rng.standard_normal((whole(size, "size", 0), len(x)))
        covariance = self.kernel(x, x)
        with OneThread():
            if self._told:
                told = self._told
                cross = self._columns_now()(x)[:, :told]
                v = cross @ self.regression.white[:told, :told].T
                covariance -= v @ v.T
            draws = draws @ root(0.5 * (covariance + covariance.T)).T
        draws += self.mean_at(x)
        return draws

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
        if epsilon == 0.0 or passed == 0.0 or not self._log.count:
            return
        self._changed()
        if epsilon == 1.0:
            self._log.clear()
            self._whitening.truncate(0)
            return
        self._log.clock -= 0.5 * passed * math.log1p(-float(epsilon))
        dead = self._log.faded(FADED)
        if dead and dead >= min(
            self._log.count, max(FEWEST_DROPPED, PART_DROPPED * self._log.count)
        ):
            jitter, gain = self.jitter, self.information_gain
            self._log.drop(dead)
            self._refactor()
            self.jitter, self.information_gain = max(jitter, self.jitter), gain

    def forget(self) -> None:
        """Back to the prior: no data, no jitter, no information."""
        self._log.clear()
        self._whitening.truncate(0)
        self._kept = None
        self.size, self.jitter, self.information_gain = 0, 0.0, 0.0
        self._changed()

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
        self._take_model(
            self.kernel if kernel is None else kernel,
            self.noise_var if noise_var is None else noise_var,
            self.prior_mean if prior_mean is None else prior_mean,
        )
        self.rollback()
        self._refactor()
        self._changed()

    def snapshot(self) -> dict[str, Any]:
        """The whole state as a plain dict of arrays and numbers, all copied."""
        kept, jitter = self._kept or (0, 0.0)
        return (
            self._log.snapshot()
            | self._whitening.snapshot()
            | {
                "size": self.size,
                "jitter": self.jitter,
                "information_gain": self.information_gain,
                "hallucinated": self._kept is not None,
                "kept": kept,
                "kept_jitter": jitter,
            }
        )

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot, of this posterior or of one made alike (same box and model).

        Raises:
            InvalidInput: the snapshot does not fit; nothing has changed then.
        """
        check_keys(state, self.snapshot())
        count = self._log.check(state)
        self._whitening.check(state, count)
        for key in ("size", "kept"):
            whole(state[key], f"snapshot entry {key!r}", 0)
        for key in ("jitter", "kept_jitter", "clock"):
            positive(state[key], f"snapshot entry {key!r}", zero=True)
        if state["kept"] > count:
            raise InvalidInput(
                f"snapshot entry 'kept' must be at most {count}, got {state['kept']}"
            )
        self._log.restore(state)
        self._whitening.restore(state)
        self.size, self.jitter = int(state["size"]), float(state["jitter"])
        self.information_gain = float(state["information_gain"])
        kept = int(state["kept"]), float(state["kept_jitter"])
        self._kept = kept if state["hallucinated"] else None
        self._changed()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_columns": None, "_regression": None}

    def _take_model(self, kernel: Kernel, noise_var: float, prior_mean: float) -> None:
        """Check a model, then make it this posterior's."""
        noise_var = positive(noise_var, "noise_var", zero=True)
        mean = finite_array(prior_mean, "prior_mean")
        if mean.ndim:
            raise InvalidInput(f"prior_mean must be one number in a box, got shape {mean.shape}")
        box = self.box
        farthest = np.where(np.abs(box.low) > np.abs(box.high), box.low, box.high)
        corners = np.stack([box.low, box.high, farthest])
        kernel.check_points(corners)
        self.kernel, self.noise_var, self.prior_mean = kernel, noise_var, float(mean)
        self._exact: BoxSampler | Literal[False] | None = False  # Not yet tried.
        self._floor = max(FLOOR * float(kernel.diagonal(corners).max()), np.finfo(float).tiny)

    def _exact_features(self) -> BoxSampler | None:
        if self._exact is False:
            self._exact = exact_features(self.box, self.kernel)
        return self._exact

    def _basis(self, features: int | BoxSampler, rng: np.random.Generator) -> BoxSampler:
        if isinstance(features, BoxSampler):
            return features
        exact = self._exact_features()
        return exact or FourierFeatures(self.kernel, self.box.dim, features, rng)

    @property
    def _told(self) -> int:
        return self._log.count if self._kept is None else self._kept[0]

    def _points(self, x: ArrayLike) -> Array:
        points = np.asarray(x, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.box.dim:
            raise InvalidInput(f"points must have shape (n, {self.box.dim}), got {points.shape}")
        return points

    def _absorb(self, x: Array, rewards: Array) -> None:
        with OneThread():
            for start in range(0, len(x), BLOCK):
                part = slice(start, start + BLOCK)
                self._observe(x[part], rewards[part])

    def _condition_all(self, x: Array) -> None:
        with OneThread():
            for start in range(0, len(x), BLOCK):
                self._observe(x[start : start + BLOCK], None)

    def _observe(self, x: Array, rewards: Array | None) -> None:
        """Append points seen now, with their rewards or without."""
        cross = np.zeros((len(x), 0))
        if self._log.count:
            cross = self._columns_now()(x)
            fade = self._log.fade()
            if fade is not None:
                cross *= fade
        beta = self._grow(cross, self.kernel(x, x), rewards)
        self._log.extend(x, np.zeros(len(x)) if rewards is None else rewards, beta)
        self._changed()

    def _grow(self, cross: Array, gram: Array, rewards: Array | None) -> Array:
        """One more block of W; the new points' whitened surprises (k,)."""
        past = self._log.beta[: self._whitening.count]
        gram.flat[:: len(gram) + 1] += self.noise_var
        left, corner, pivots, jitter = self._whitening.extend(cross, gram, self._floor)
        self.jitter = max(self.jitter, jitter)
        if rewards is None:
            return np.zeros(len(gram))
        for pivot in pivots.tolist():
            self.information_gain += observed_gain(max(pivot - self.noise_var, 0.0), self.noise_var)
        return np.asarray(corner @ (rewards - self.prior_mean - left @ past))

    def _refactor(self) -> None:
        """W and all that hangs on it, anew from the points at hand."""
        log = self._log
        self._whitening.truncate(0)
        self.jitter, self.information_gain = 0.0, 0.0
        with OneThread():
            for start in range(0, log.count, BLOCK):
                part = slice(start, min(start + BLOCK, log.count))
                stamps = log.stamps[part, None]
                cross = self.kernel(log.points[part], log.points[: part.stop])
                cross *= np.exp(-np.abs(stamps - log.stamps[: part.stop]))
                log.beta[part] = self._grow(cross[:, :start], cross[:, start:], log.rewards[part])

    def _truncate(self, count: int, jitter: float) -> None:
        self._log.count = count
        self._whitening.truncate(count)
        self.jitter = jitter
        self._changed()

    def _changed(self) -> None:
        """Forget what was worked out from the state as it was."""
        self.version += 1
        self._columns, self._regression = None, None

    def _columns_now(self) -> Columns:
        if self._columns is None:
            self._columns = self.kernel.columns(self._log.points, self._centre)
        return self._columns

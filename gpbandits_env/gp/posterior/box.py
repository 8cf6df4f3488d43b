"""A Gaussian-process posterior at any point of a box, updated one observation at a time."""

import math
from bisect import bisect_left
from collections.abc import Iterable
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, State, finite_array, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.kernels.columns import Columns
from gpbandits_env.gp.linalg import cholesky, root
from gpbandits_env.gp.posterior.paths import Paths
from gpbandits_env.gp.posterior.posterior import Posterior
from gpbandits_env.gp.posterior.space_time import SpaceTime
from gpbandits_env.gp.posterior.whitening import (
    BLOCK,
    BoxData,
    Predictor,
    Whitening,
    each_noise,
    observed_gain,
    pieces,
)
from gpbandits_env.gp.temporal import TemporalKernel, log_decay
from gpbandits_env.gp.threads import OneThread

# The least noise of an observation, relative to the largest prior variance. Below 1e-11 the stored
# inverse, which multiplies the rounding of residual covariances with every point, can overflow.
LEAST_NOISE = 1e-10
# Points whose correlation with the present is below this are dropped: the relative error of the
# mean is then at most 1e-8, and that of the variance 1e-16.
DECAYED = 1e-8
# Dropping needs a new factor, so it waits for this many points, and for a quarter of all points.
FEWEST_DROPPED, PART_DROPPED = 32, 0.25
# Results that are valid until the state changes.
WORKED_OUT = ("predictor", "present", "columns")
# Up to this many points, a joint draw always factorizes the covariance.
FEW_POINTS = 128


class BoxPosterior(Posterior):
    """A posterior at every point of a box, from the inverse Cholesky factor W of the data.

    Observations append rows to W. Drift does not change W, because only correlations with the
    present change: time is one more coordinate of the data, and the present one is fixed. Points
    without correlation to the present and the future are dropped at times, which needs a new
    factor.

    Cost: O(k t (d + t)) to append k points, and O(n t (d + t)) for moments and gradients at n
    points. The noise variance counts as at least 1e-10 of the largest prior variance; `jitter`
    states what was added.

    Args:
        box: the domain.
        kernel: the prior covariance.
        noise_var: the variance of the noise on a reward, at least 0.
        prior_mean: a number.
        temporal: the covariance in time, if it is not that of the epsilon of `advance`. With a
            `TermsInTime`, the kernel is a sum, and each term has its own.

    Attributes:
        box: the domain.
        version: a number that increases with every change of the state.
    Raises:
        InvalidInput: the kernel is for other points, the noise variance is negative, the prior mean
            is not one number, or the prior variance changes with time and the kernel has none.
    """

    prior_mean: float
    takes_noise = True
    # What `rollback` returns to: W and the jitter before hallucinated points; None without any.
    _kept: tuple[Whitening, float] | None

    def __init__(
        self,
        box: Box,
        kernel: Kernel,
        noise_var: float,
        prior_mean: ArrayLike = 0.0,
        temporal: TemporalKernel | None = None,
    ) -> None:
        if not isinstance(box, Box) or not isinstance(kernel, Kernel):
            raise InvalidInput(f"expected a Box and a kernel, got {shown(box)} and {shown(kernel)}")
        mean = finite_array(prior_mean, "prior_mean")
        if mean.ndim:
            raise InvalidInput(f"prior_mean must be one number in a box, got shape {mean.shape}")
        self.domain = self.box = box
        self.kernel, self.prior_mean = kernel, float(mean)
        self.noise_var = positive(noise_var, "noise_var", zero=True)
        self.temporal, self._prior = temporal, SpaceTime(box, kernel, temporal)
        self._data, self._whitening = BoxData(box.dim), Whitening()
        self.version = 0
        self.forget()

    @property
    def observed(self) -> Array:
        """The observed points that were not dropped, a new array (t, d), oldest first."""
        return self._data.points[: self._n_observed].copy()

    @property
    def rewards(self) -> Array:
        """The rewards at the observed points, a new array (t,)."""
        return self._data.rewards[: self._n_observed].copy()

    @property
    def conditioned(self) -> Array:
        """The observed and the hallucinated points, a new array (t, d)."""
        return self._data.points.copy()

    @cached_property
    def predictor(self) -> Predictor:
        """Moments from covariances with the points; valid until the state changes."""
        return Predictor(self._whitening.matrix, self._data.beta, self._decay)

    @cached_property
    def present(self) -> Kernel:
        """The prior covariance among points at the present time; valid until the state changes."""
        return self._prior.present(self._data.clock)

    @cached_property
    def columns(self) -> Columns:
        """The covariances of the present function with the data, up to a common decay.

        They are valid until the state changes.
        """
        data = self._data
        return self._prior.columns(self.present, data.points, data.clock, data.stamps)

    def hallucinate(self, points: ArrayLike) -> None:
        x = self.box.check(points)
        if self._kept is None:
            self._kept = copy(self._whitening), self.jitter
        self._append(x, None)

    def rollback(self) -> None:
        if self._kept is not None:
            # Also its storage, because rounding depends on the memory layout.
            self._whitening, self.jitter = self._kept
            self._data.count, self._kept = self._whitening.count, None
            self._changed()

    def moments(self, points: ArrayLike) -> tuple[Array, Array]:
        """Posterior mean and variance (n,) at points (n, d), also outside the box; memory O(n).

        Raises:
            InvalidInput: the shape is wrong.
        """
        x = self._checked(points)
        mean, var = np.full(len(x), self.prior_mean), self.present.diagonal(x)
        self.predictor.moments(mean, var, lambda part: self.columns(x[part]))
        return mean, var

    def gradients(self, points: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """Posterior mean and variance (n,) at points (n, d), and their gradients (n, d).

        Where the variance is 0 up to rounding, its gradient is 0. Cost: O(n t (d + t)).

        Raises:
            InvalidInput: the shape is wrong.
        """
        x = self._checked(points)
        mean, var = np.full(len(x), self.prior_mean), self.present.diagonal(x)
        prior = mean, var, np.zeros(x.shape), self.present.diagonal_gradient(x)
        return self.predictor.gradients(prior, lambda part: self.columns.pull(x[part]))

    def mean_at(self, points: ArrayLike) -> Array:
        """The posterior mean without the variance, (n,), O(n t d)."""
        x = self._checked(points)
        mean = np.full(len(x), self.prior_mean)
        with OneThread():
            for part in pieces(len(x), self._data.count):
                mean[part] += self.columns(x[part]) @ self.predictor.alpha
        return mean

    def mean_gradient(self, points: ArrayLike) -> tuple[Array, Array]:
        """The posterior mean (n,) and its gradient (n, d) at points (n, d), O(n t d).

        Raises:
            InvalidInput: the shape is wrong.
        """
        x = self._checked(points)
        mean, slope = np.full(len(x), self.prior_mean), np.zeros(x.shape)
        with OneThread():
            for part in pieces(len(x), self._data.count):
                k, pulled = self.columns.pull(x[part])
                mean[part] += k @ self.predictor.alpha
                slope[part] += pulled(self.predictor.alpha)
        return mean, slope

    def var_at(self, points: ArrayLike) -> Array:
        return self.moments(points)[1]

    def mean_at_observed(self) -> Array:
        """The present posterior means at the observed points, (t,); O(t) without drift."""
        n = self._n_observed
        if self.jitter or self._decay is not None or self.temporal is not None:
            return self.mean_at(self.observed)
        # m + K alpha, and (K + s^2 I) alpha = y - m.
        return self.rewards - self._data.noise[:n] * self.predictor.alpha[:n]

    def covariance(self, points: ArrayLike) -> Array:
        return self._residual(self._checked(points), self._data.count)[0]

    def paths(
        self,
        rng: np.random.Generator,
        size: int,
        features: int = 1024,
        scale: float = 1.0,
    ) -> Paths:
        """Draw functions from the posterior that can be evaluated anywhere in the box.

        Hallucinated points have no rewards and are ignored. The mean is exact. The covariance is
        exact to 1e-12 if the kernel has few exact features (squared exponential in one or two
        dimensions). Otherwise its error is `Paths.error`; see `FourierFeatures`. Cost:
        O(t rank size + t^2 size), and O(t^3) under drift.

        Args:
            rng: the generator.
            size: the number of functions.
            features: the number of random features of each term, an even number, if there are no
                exact ones.
            scale: the factor of the difference between a function and the posterior mean.
        Raises:
            InvalidInput: the kernel has neither exact features nor a known spectral density.
        """
        size, n, data, prior = whole(size, "size", 0), self._n_observed, self._data, self._prior
        now, stamps = data.clock, data.stamps[:n]
        with OneThread():
            basis = prior.exact_features or prior.random_features(features, rng)
            xi = rng.standard_normal((size, basis.rank))
            for own, spread in zip(basis.split(xi), prior.spreads(now), strict=True):
                own *= math.sqrt(spread)
            points, decay = data.points[:n].copy(), prior.decay(now, stamps)
            seen = prior.seen(rng, basis, xi, data, n)
            white = self._whitening.matrix[:n, :n]
            weights = ((data.rewards[:n] - self.prior_mean - scale * seen) @ white.T) @ white
            if decay is not None:
                weights *= decay
            columns = prior.columns(self.present, points, now, stamps)
            return Paths(self.prior_mean, basis, scale * xi, columns, weights)

    def check_paths(self) -> None:
        """Raise the InvalidInput of `paths` if it cannot draw functions."""
        if self._prior.exact_features is None:
            self._prior.random_features(2, np.random.default_rng(0))

    def sample(self, rng: np.random.Generator, size: int, x: ArrayLike) -> Array:
        """Exact joint draws of f at x (n, d) given the data, (size, n).

        Hallucinated points are ignored.

        The draws use `paths` if these are exact and cheaper, O(n rank size). Otherwise they
        factorize the posterior covariance, O(n^3); for many points call `paths`.

        Raises:
            InvalidInput: the shape is wrong.
        """
        x, size, n = self._checked(x), whole(size, "size", 0), self._n_observed
        exact = self._prior.exact_features if len(x) > FEW_POINTS else None
        if exact is not None and exact.rank < len(x):
            return self.paths(rng, size)(x)
        draws: Array = rng.standard_normal((size, len(x)))
        with OneThread():
            covariance, v = self._residual(x, n)
            draws = draws @ root(covariance).T
            draws += self.prior_mean
            draws += v @ self._data.beta[:n]
        return draws

    def forget(self) -> None:
        self._drop()
        self.size, self.jitter, self.information_gain = 0, 0.0, 0.0

    @property
    def _n_observed(self) -> int:
        """The number of observed points; they come before the hallucinated ones."""
        return self._data.count if self._kept is None else self._kept[0].count

    def _residual(self, x: Array, n: int) -> tuple[Array, Array]:
        """The covariance (k, k) at points given the first n data, and the products W k, (k, n)."""
        covariance, v = self.present(x, x), np.zeros((len(x), 0))
        if n:
            with OneThread():
                v = self.columns(x)[:, :n] @ self.predictor.white[:n, :n].T
                covariance -= v @ v.T
        return 0.5 * (covariance + covariance.T), v

    def _checked(self, points: ArrayLike) -> Array:
        x = finite_array(points, "points")
        if x.ndim != 2 or x.shape[1] != self.box.dim:
            raise InvalidInput(f"points must have shape (n, {self.box.dim}), got {x.shape}")
        return x

    def learn(self, points: Array, rewards: Array, noise_var: Array | None = None) -> None:
        self.rollback()
        self._append(points, rewards, noise_var)
        self.size += len(points)

    def replay(self, log: Iterable[tuple[Array, Array, float]], epsilon: float = 0.0) -> None:
        """See `Posterior`; an empty posterior computes one factor of all data, O(t^2 (d + t)).

        The information gain is then that of the points that were not dropped.
        """
        if self._data.count:
            super().replay(log, epsilon)
            return
        self.rollback()
        for points, rewards, dt in log:
            self._data.extend(points, rewards, self.noise_var)
            self.size += len(points)
            if dt:
                self._elapse(epsilon, dt)
        self._drop_old()
        self._refactor()
        self._changed()

    def remove(self, i: int) -> bool:
        self.rollback()
        data, white = self._data, self._whitening
        at = data.count + i
        if at < 0 or not self.noise_var:
            return False
        white.remove(at)
        data.remove(at)
        data.beta[:] = white.matrix @ (data.rewards - self.prior_mean)
        var = white.matrix.diagonal() ** -2.0 - np.maximum(data.noise, self._least_noise)
        gain = 0.5 * np.log1p(np.maximum(var, 0.0) / data.noise)
        self.information_gain, self.size = float(gain.sum()), self.size - 1
        self._changed()
        return True

    def _append(self, x: Array, rewards: Array | None, noise: Array | None = None) -> None:
        """Append points (k, d) observed now, with or without rewards (k,), block by block."""
        own, data = each_noise(noise, self.noise_var, len(x)), self._data
        with OneThread():
            for start in range(0, len(x), BLOCK):
                part = slice(start, start + BLOCK)
                cross = np.zeros((len(x[part]), 0))
                if data.count:
                    cross, decay = self.columns(x[part]), self._decay
                    if decay is not None:
                        cross *= decay
                data.extend(x[part], 0.0 if rewards is None else rewards[part], own[part])
                self._grow(cross, self.present(x[part], x[part]))
                self._changed()

    def _grow(self, cross: Array, gram: Array) -> None:
        """Append the next points of the data to W, and their whitened residuals to the data."""
        data, old = self._data, self._whitening.count
        part = slice(old, old + len(gram))
        noise = data.noise[part]
        used = np.maximum(noise, self._least_noise)
        gram.flat[:: len(gram) + 1] += used
        jitter = float((used - noise).max(initial=0.0))
        try:
            left, corner, pivots = self._whitening.extend(cross, gram, 0.5 * float(used.min()))
            if self._kept is None:
                gaps = data.rewards[part] - self.prior_mean - left @ data.beta[:old]
                data.beta[part] = corner @ gaps
        except np.linalg.LinAlgError:
            pivots, more = self._factorized(part.stop)
            jitter, pivots = jitter + more, pivots[part]
        self.jitter = max(self.jitter, jitter)
        if self._kept is not None:
            return
        for before, own in zip((pivots - used).tolist(), noise.tolist(), strict=True):
            self.information_gain += observed_gain(before, own)

    def _factorized(self, count: int) -> tuple[Array, float]:
        """Compute W of the first points from their whole covariance, O(t^3).

        It is more accurate than appending, which fails where rounding exceeds the noise.

        Returns:
            The squared pivots (t,), and what was added to the diagonal.
        """
        data = self._data
        points, stamps, noise = data.points[:count], data.stamps[:count], data.noise[:count]
        gram = self._prior(points, points, stamps, stamps)
        gram.flat[:: count + 1] += np.maximum(noise, self._least_noise)
        lower, jitter = cholesky(gram, "the covariance of the observed points")
        white = np.tril(np.linalg.inv(lower))
        if self._kept is None:
            data.beta[:count] = white @ (data.rewards[:count] - self.prior_mean)
        else:  # hallucinated points leave the mean as it is
            kept = self._kept[0].matrix
            white[: len(kept), : len(kept)] = kept
        self._whitening = Whitening(white, self._whitening.reserved)
        return lower.diagonal() ** 2, jitter

    def _refactor(self) -> None:
        """Recompute W and the quantities that depend on it."""
        data, self._whitening = self._data, Whitening()
        with OneThread():
            for start in range(0, data.count, BLOCK):
                upto = min(start + BLOCK, data.count)
                x, t = data.points[:upto], data.stamps[:upto]
                strip = self._prior(x[start:], x, t[start:], t)
                self._grow(strip[:, :start], strip[:, start:])

    def drift(self, epsilon: float, dt: float) -> None:
        self._elapse(epsilon, dt)
        if self._drop_old():
            known = self.information_gain
            self._refactor()
            self.information_gain = known
        self._changed()

    def _elapse(self, epsilon: float, dt: float) -> None:
        """Let time pass."""
        if self.temporal is not None and epsilon:
            raise InvalidInput(
                "in a box, a temporal kernel has no epsilon beside it: leave one of them out"
            )
        if epsilon == 1.0:
            self._drop()
        else:
            self._data.clock += dt if self.temporal is not None else -dt * log_decay(epsilon)

    def _drop_old(self) -> bool:
        """Drop points that say nothing any more; return whether W must be recomputed."""
        data, prior = self._data, self._prior

        def left(stamp: float) -> float:
            return prior.left(data.clock - stamp)

        if not data.count or left(data.stamps[0]) >= DECAYED:
            return False
        dead = bisect_left(data.stamps, DECAYED, key=left)
        if dead >= min(data.count, max(FEWEST_DROPPED, PART_DROPPED * data.count)):
            data.drop(dead, data.clock if prior.stationary else 0.0)
            return True
        return False

    @property
    def _least_noise(self) -> float:
        return max(LEAST_NOISE * self._prior.largest(self.present), np.finfo(float).tiny)

    @property
    def _decay(self) -> Array | None:
        """The common decay of the covariances with the data, (t,); None for 1."""
        return self._prior.decay(self._data.clock, self._data.stamps)

    def _drop(self) -> None:
        """Drop all points."""
        self._data.count, self._data.clock = 0, 0.0
        self._whitening, self._kept = Whitening(), None
        self._changed()

    def _changed(self) -> None:
        """Drop results that were computed from the previous state."""
        self.version += 1
        for name in WORKED_OUT:
            self.__dict__.pop(name, None)

    def __getstate__(self) -> State:
        return {name: value for name, value in self.__dict__.items() if name not in WORKED_OUT}

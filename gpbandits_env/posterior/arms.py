"""A Gaussian-process posterior on a finite set of arms, grown an observation at a time."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import (
    Array,
    IntArray,
    finite_array,
    flag,
    frozen,
    positive,
    whole,
)
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.kernels import Kernel
from gpbandits_env.posterior.base import Posterior
from gpbandits_env.posterior.elimination import whitener
from gpbandits_env.posterior.representation import Representation
from gpbandits_env.posterior.state import check_keys, check_shape
from gpbandits_env.posterior.threads import OneThread

FLOOR = 1e-12
REFRESH_EVERY = 4096
BLOCK = 64
SMALLEST_NOISE = 1e-8
INT, FLOAT = np.dtype(np.int64), np.dtype(np.float64)


class ArmPosterior(Posterior):
    r"""What is known of f ~ GP(prior_mean, k) on n arms from noisy observations.

    .. math::
        \mu_t(x) = m(x) + k_t(x)^T (K_t + s^2 I)^{-1} (y_t - m_t), \quad
        \sigma_t^2(x) = k(x, x) - k_t(x)^T (K_t + s^2 I)^{-1} k_t(x)

    (srinivas2010, Section 2.2), kept at all arms and updated by one row an observation:
    with s^2 = var[x] + noise_var and v = cov(., x) / s, the mean grows by v (y - mean[x]) / s and
    the variance shrinks by v^2. Nothing is ever refitted.

    Made by `posterior_on`. An update costs O(n r) in coefficient space (rank r) and O(n t) in data
    space, until t reaches about n / 2, then O(n^2) for ever.

    With (almost) no noise an observation is given some: 2e-12 of the largest prior variance, and
    `jitter` says how much was added. Repeated arms, and residual covariances that are nothing but
    rounding, then do no harm.

    Args:
        arms: the n arms.
        kernel: the prior covariance.
        noise_var: variance of the noise on a reward, at least 0.
        prior_mean: a number, or (n,) one an arm.
        representation: the representation of the covariance.

    Attributes:
        arms: the n arms.
        kernel: the prior covariance.
        noise_var: variance of the noise.
        prior_mean: (n,) read-only.
        size: the number of observations since the prior.
        jitter: the largest amount that was added to an s^2; 0.0 if none was.
        information_gain: 1/2 sum log(1 + var / noise_var) over the observations, the variance of
            each taken just before it (srinivas2010, Lemma 5.3); infinite without noise.

    Raises:
        InvalidInput: a negative noise variance, or a prior mean of the wrong shape.
    """

    def __init__(
        self,
        arms: Arms,
        kernel: Kernel,
        noise_var: float,
        prior_mean: ArrayLike,
        representation: Representation,
    ) -> None:
        n = arms.size
        self.domain = self.arms = arms
        self.kernel = kernel
        self.noise_var = positive(noise_var, "noise_var", zero=True)
        self.prior_mean = frozen(one_per_arm(prior_mean, n))
        self._has_prior_mean = bool(self.prior_mean.any())
        self._representation = representation
        self._n = n
        # A stationary kernel's prior variance is one number, to the rounding of its factor.
        prior_var = representation.prior_var
        level, spread = float(prior_var.max()), float(np.ptp(prior_var))
        self._level = level if spread <= FLOOR * level else None
        self._floor = max(FLOOR * level, np.finfo(float).tiny)
        # Without noise a smooth kernel's residual covariances are soon nothing but rounding, which
        # grows without bound unless every observation carries the same little noise.
        self._noise = max(self.noise_var, 2.0 * self._floor)
        self._mean, self._var = np.empty(n), np.empty(n)
        self._make_views()
        self._scratch, self._zeros = np.empty(n), np.zeros(n)
        self._counts = np.zeros(n)
        self._kept: int | None = None
        self._kept_var, self._kept_jitter = np.zeros(n), 0.0
        self.forget()

    @property
    def representation(self) -> str:
        """Which representation is in use: "rows" or "coefficients"."""
        return self._representation.name

    @property
    def mean(self) -> Array:
        """(n,) posterior mean: a read-only view, which later updates change; copy to keep."""
        return self._mean_view

    @property
    def var(self) -> Array:
        """(n,) posterior variance, hallucinated points included: a read-only view, as `mean`."""
        return self._var_view

    @property
    def sd(self) -> Array:
        """(n,) posterior standard deviation, fresh."""
        return np.sqrt(self._var)

    @property
    def observed(self) -> IntArray:
        """The arms observed at least once since the prior, in order; fresh."""
        return np.flatnonzero(self._counts)

    def mean_at(self, actions: IntArray) -> Array:
        """(k,) the mean at checked arms, fresh."""
        return self.mean[actions]

    def var_at(self, actions: IntArray) -> Array:
        """(k,) the variance at checked arms, fresh, hallucinated points included."""
        return self.var[actions]

    def mean_at_observed(self) -> Array:
        """The posterior mean at each arm of `observed`, fresh."""
        return self.mean[self.observed]

    def _learn(self, points: IntArray, rewards: Array) -> None:
        with OneThread():
            if len(points) == 1:
                self._absorb(points.item(), rewards.item())
                return
            for start in range(0, len(points), BLOCK):
                self._absorb_block(points[start : start + BLOCK], rewards[start : start + BLOCK])

    def hallucinate(self, actions: ArrayLike) -> None:
        """Shrink the variance as if these arms had been observed too; the mean stays.

        May be called again and again; `rollback` undoes all of it, to the bit.

        Args:
            actions: (k,) indices of arms.

        Raises:
            InvalidInput: an arm out of range.
        """
        indices = self._indices(actions)
        if self._kept is None:
            self._kept = self._representation.rows.count
            self._kept_var[:] = self._var
            self._kept_jitter = self.jitter
        self._condition_all(indices)

    def rollback(self) -> None:
        """Drop all hallucinated points."""
        if self._kept is None:
            return
        self._representation.truncate(self._kept)
        self._var[:] = self._kept_var
        self.jitter = self._kept_jitter
        self._kept = None

    def var_given(self, actions: ArrayLike) -> Array:
        """(n,) the variance if these arms were observed too, hallucinated points included.

        The state stays as it is, to the bit.

        Args:
            actions: (k,) indices of arms.

        Raises:
            InvalidInput: an arm out of range.
        """
        indices = self._indices(actions)
        count, var, jitter = self._representation.rows.count, self._var.copy(), self.jitter
        self._condition_all(indices)
        given = self._var.copy()
        self._representation.truncate(count)
        self._var[:], self.jitter = var, jitter
        return given

    def covariance(self, actions: ArrayLike) -> Array:
        """(k, k) posterior covariance among arms, hallucinated points included.

        Args:
            actions: (k,) indices of arms.

        Raises:
            InvalidInput: an arm out of range.
        """
        indices = self._indices(actions)
        with OneThread():
            covariance = self._representation.block(indices)[1]
        return 0.5 * (covariance + covariance.T)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """(size, n) joint draws of f at all arms given the data (not the hallucinated points).

        Exact. In coefficient space O(r^3 + size n r). In data space by Matheron's rule, a prior
        draw and a correction, O(size n min(t, n)); if the data have faded (`advance`) or there is
        (almost) no noise, by one O(n^3) factorisation, kept until the data change.

        Args:
            rng: the source of randomness.
            size: the number of draws.
        """
        kept = self._representation.rows.count if self._kept is None else self._kept
        scale = float(self._representation.prior_var.max())
        plain = self._static and self.jitter == 0 and self.noise_var > SMALLEST_NOISE * scale
        draws = self._representation.deviations(
            rng, whole(size, "size", 0), kept, self._counts if plain else None, self.noise_var
        )
        draws += self._mean
        return draws

    def advance(self, epsilon: float, dt: float = 1.0) -> None:
        """The world drifts: past data lose correlation by (1 - epsilon)^(dt / 2).

        This is the time-varying posterior of bogunovic2016, eqs. (7)-(8), where observations of one
        batch share a time and `advance` stands between batches. epsilon = 1 brings the prior back.
        Hallucinated points are dropped.

        Args:
            epsilon: the drift, in [0, 1].
            dt: the time that passes, at least 0, in rounds.

        Raises:
            InvalidInput: a number out of range.
        """
        if positive(epsilon, "epsilon", zero=True) > 1:
            raise InvalidInput(f"epsilon must lie in [0, 1], got {epsilon!r}")
        rho = (1.0 - float(epsilon)) ** (0.5 * positive(dt, "dt", zero=True))
        self.rollback()
        if rho == 1.0 or self.size == 0:
            return
        mean, var, scratch = self._mean, self._var, self._scratch
        mean *= rho
        if self._has_prior_mean:
            np.multiply(self.prior_mean, 1.0 - rho, out=scratch)
            mean += scratch
        var *= rho**2
        if self._level is not None and rho > 0.0:
            var += (1.0 - rho**2) * self._level
        else:
            np.multiply(self._representation.prior_var, 1.0 - rho**2, out=scratch)
            var += scratch
        if rho == 0.0:
            self._representation.clear()
            self._counts[:] = 0.0
        else:
            self._representation.fade(rho)
            with OneThread():
                self._settle()
        self._static = rho == 0.0

    def forget(self) -> None:
        """Back to the prior: no data, no jitter, no information."""
        self._representation.clear()
        self._mean[:] = self.prior_mean
        self._var[:] = self._representation.prior_var
        self._counts[:] = 0.0
        self.size = 0
        self.jitter, self.information_gain = 0.0, 0.0
        self._since_refresh = 0
        self._static = True
        self._kept = None

    def _indices(self, actions: ArrayLike) -> IntArray:
        return self.arms.check(actions)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        # A pickled view would be a copy, cut off from what it shows.
        del state["_mean_view"], state["_var_view"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_views()

    def _make_views(self) -> None:
        self._mean_view, self._var_view = frozen(self._mean[:]), frozen(self._var[:])

    def _absorb(self, arm: int, reward: float) -> None:
        """One observation; the arrays are worked on in place, in as few calls as possible."""
        mean, var, scratch = self._mean, self._var, self._scratch
        before = var.item(arm)
        total = before + self._noise
        self.jitter = max(self.jitter, self._noise - self.noise_var)
        s = math.sqrt(total)
        v = self._representation.direction(arm, 1.0 / s)
        surprise = (reward - mean.item(arm)) / s
        np.multiply(v, surprise, out=scratch)
        np.add(mean, scratch, out=mean)
        np.multiply(v, v, out=scratch)
        np.subtract(var, scratch, out=var)
        np.maximum(var, self._zeros, out=var)
        self._representation.push(surprise)
        self._counts[arm] += 1.0
        self.size += 1
        self._since_refresh += 1
        self.information_gain += observed_gain(before, self.noise_var)
        self._settle()

    def _absorb_block(self, arms: IntArray, rewards: Array) -> None:
        """Several observations, in one pass over the data."""
        totals = self._condition(arms, rewards)
        for arm, total in zip(arms.tolist(), totals.tolist(), strict=True):
            self._counts[arm] += 1.0
            self.information_gain += observed_gain(max(total - self.noise_var, 0.0), self.noise_var)
        self.size += len(arms)
        self._since_refresh += len(arms)
        self._settle()

    def _condition_all(self, arms: IntArray) -> None:
        with OneThread():
            for start in range(0, len(arms), BLOCK):
                self._condition(arms[start : start + BLOCK], None)

    def _condition(self, arms: IntArray, rewards: Array | None) -> Array:
        """Observe arms together, with their rewards or without; return their s^2 (k,)."""
        rows, gram = self._representation.block(arms)
        gram.flat[:: len(arms) + 1] = self._var[arms] + self._noise
        inverse, totals, jitter = whitener(gram, self._floor)
        surprises = None if rewards is None else inverse @ (rewards - self._mean[arms])
        values = self._representation.extend(inverse @ rows, surprises)
        if surprises is not None:
            self._mean += surprises @ values
        self._var -= np.einsum("ij,ij->j", values, values)
        np.maximum(self._var, self._zeros, out=self._var)
        self.jitter = max(self.jitter, jitter, self._noise - self.noise_var)
        return totals

    def _settle(self) -> None:
        """Fold rows when due; against rounding, compute mean and variance anew at times."""
        var = self._representation.settle()
        if var is not None:
            np.maximum(var, 0.0, out=self._var)
        if self._since_refresh >= REFRESH_EVERY:
            self._since_refresh = 0
            fresh = self._representation.refreshed()
            if fresh is not None:
                np.add(self.prior_mean, fresh[0], out=self._mean)
                np.maximum(fresh[1], 0.0, out=self._var)

    def snapshot(self) -> dict[str, Any]:
        """The whole state as a plain dict of arrays, numbers and strings, all copied."""
        hallucinated = self._kept is not None
        return self._representation.snapshot() | {
            "representation": self._representation.name,
            "mean": self._mean.copy(),
            "var": self._var.copy(),
            "counts": self._counts.copy(),
            "size": self.size,
            "jitter": self.jitter,
            "information_gain": self.information_gain,
            "since_refresh": self._since_refresh,
            "static": self._static,
            "hallucinated": hallucinated,
            "kept": self._kept or 0,
            # What earlier hallucinations left behind is no part of the state.
            "kept_var": self._kept_var.copy() if hallucinated else np.zeros(self._n),
            "kept_jitter": self._kept_jitter if hallucinated else 0.0,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot, of this posterior or of one with its arms, kernel and representation.

        Raises:
            InvalidInput: the snapshot does not fit; nothing has changed then.
        """
        self._check(state)
        self._representation.restore(state)
        self._mean[:], self._var[:] = state["mean"], state["var"]
        self._counts[:], self._kept_var[:] = state["counts"], state["kept_var"]
        self.size, self.jitter = int(state["size"]), float(state["jitter"])
        self.information_gain = float(state["information_gain"])
        self._since_refresh = int(state["since_refresh"])
        self._static = bool(state["static"])
        self._kept = int(state["kept"]) if state["hallucinated"] else None
        self._kept_jitter = float(state["kept_jitter"])

    def _check(self, state: Mapping[str, Any]) -> None:
        check_keys(state, self.snapshot())
        if (
            not isinstance(state["representation"], str)
            or state["representation"] != self._representation.name
        ):
            raise InvalidInput(
                f"this posterior has the representation {self.representation!r}, got a snapshot of "
                f"one with {shown(state['representation'])}"
            )
        for key in ("mean", "var", "counts", "kept_var"):
            check_shape(state, key, (self._n,))
        for key in ("size", "kept", "since_refresh"):
            whole(state[key], f"snapshot entry {key!r}", 0)
        for key in ("jitter", "kept_jitter"):
            positive(state[key], f"snapshot entry {key!r}", zero=True)
        for key in ("static", "hallucinated"):
            flag(state[key], f"snapshot entry {key!r}")
        if state["information_gain"] != math.inf:  # as it is without noise
            positive(state["information_gain"], "snapshot entry 'information_gain'", zero=True)
        self._representation.check(state)


def one_per_arm(value: ArrayLike, n: int) -> Array:
    """A prior mean as (n,) fresh numbers, from one number or one per arm.

    Raises:
        InvalidInput: another shape, or not finite.
    """
    mean = finite_array(value, "prior_mean")
    if mean.shape not in ((), (n,)):
        raise InvalidInput(f"prior_mean must be a number or have shape ({n},), got {mean.shape}")
    return np.array(np.broadcast_to(mean, (n,)))


def observed_gain(var: float, noise_var: float) -> float:
    """1/2 log(1 + var / noise_var): what one observation tells; infinite without noise."""
    if noise_var > 0.0:
        return 0.5 * math.log1p(var / noise_var)
    return math.inf if var > 0.0 else 0.0

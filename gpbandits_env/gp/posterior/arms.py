"""A Gaussian-process posterior on a finite set of arms, updated one observation at a time."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import LARGEST, Array, IntArray, State, frozen, positive, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp import threads
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.posterior.covariances import one_per_arm
from gpbandits_env.gp.posterior.posterior import Posterior
from gpbandits_env.gp.posterior.representation import DenseRows, Representation
from gpbandits_env.gp.posterior.states import TemporalStates
from gpbandits_env.gp.posterior.whitening import BLOCK, each_noise, observed_gain, whitener
from gpbandits_env.gp.temporal import decay
from gpbandits_env.gp.threads import OneThread

REFRESH_EVERY = 4096
# Parts of the largest prior variance: the rounding of the others, half of the least noise, and the
# noise below which neither blocks of observations nor Matheron's rule are accurate.
ROUNDING, LITTLE_NOISE = 1e-12, 1e-8
# A variance above this part of the largest one is far above the rounding of many observations.
SAFE = 1e-7


class ArmPosterior(Posterior):
    r"""A posterior on n arms, stored at all of them and updated by one row per observation.

    An observation y at arm x changes the mean and the variance by

    .. math::
        \mu \leftarrow \mu + v (y - \mu(x)) / s, \quad \sigma^2 \leftarrow \sigma^2 - v^2, \quad
        v = \mathrm{cov}(\cdot, x) / s, \quad s^2 = \sigma^2(x) + s_{noise}^2

    Nothing is refitted. The cost per observation is O(n r) in coefficient space (rank r). In data
    space it is O(n t), and up to 2896 arms, whose covariance matrix is kept, at most O(n^2). With a
    temporal kernel, the mean and the variance of all arms are computed anew when time passes; see
    `TemporalStates`.

    The noise variance counts as at least 2e-12 of the largest prior variance, so that repeated arms
    and rounded covariances do no harm. `jitter` states what was added. A prior variance that grows
    with time counts as it is when time has passed.

    `posterior_for` makes a posterior and checks its arguments.

    Attributes:
        arms: the n arms.
        representation: which one is in use: "rows", "coefficients" or "states".
        prior_mean: (n,) read-only.
        mean: (n,) posterior mean, a read-only view that later updates change.
        var: (n,) posterior variance including hallucinated points, a view of the same kind.
        hallucinated: whether there are hallucinated points.
    Raises:
        InvalidInput: the noise variance is negative, or the prior mean has the wrong shape.
    """

    hallucinated: bool

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
        self.kernel, self.noise_var = kernel, positive(noise_var, "noise_var", zero=True)
        self.prior_mean = one_per_arm(prior_mean, n)
        self._has_prior_mean = bool(self.prior_mean.any())
        self._representation, self.representation = representation, representation.name
        # The prior variance of a stationary kernel is one number, up to the rounding of its factor.
        prior_var = representation.prior_var
        level, spread = float(prior_var.max()), float(np.ptp(prior_var))
        self._level = level if spread <= ROUNDING * level else None
        self._bound_noise(level)
        # After t observations var >= prior_var / (1 + t level / noise). While that is far above
        # rounding, var need not be clipped at 0.
        safe = float(prior_var.min()) / (SAFE * level or 1.0) - 1.0
        self._positive_for = min(safe * self._noise / (level or 1.0), REFRESH_EVERY)
        self._moving = representation if isinstance(representation, TemporalStates) else None
        if self._moving is not None:
            self.temporal, self._positive_for = self._moving.temporal, 0.0
        self.takes_noise = self._moving is None
        self._mean, self._var, self._scratch = np.empty((3, n))
        self._number = np.empty(())  # NumPy multiplies by it in 0.1 us less than by a float
        self._zeros, self._counts, self._kept_var = np.zeros((3, n))
        self._make_views()
        self.forget()

    @property
    def observed(self) -> IntArray:
        return np.flatnonzero(self._counts)

    def hallucinate(self, points: ArrayLike) -> None:
        arms = self.arms.check(points)
        if not self.hallucinated:
            self.hallucinated, self._kept = True, self._representation.count
            self._kept_var[:], self._kept_jitter = self._var, self.jitter
        with OneThread():
            for start in range(0, len(arms), BLOCK):
                part = arms[start : start + BLOCK]
                self._condition(part, None, np.full(len(part), self.noise_var))

    def rollback(self) -> None:
        if self.hallucinated:
            self._representation.truncate(self._kept)
            self._var[:], self.jitter = self._kept_var, self._kept_jitter
            self.hallucinated = False

    def covariance(self, points: ArrayLike) -> Array:
        arms = self.arms.check(points)
        with OneThread():
            covariance = self._representation.cross(arms)[1]
        return 0.5 * (covariance + covariance.T)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Exact joint draws of f at all arms given the data, (size, n).

        Hallucinated points are ignored.

        Cost: O(r^3 + size n r) in coefficient space. In data space Matheron's rule (a prior draw
        and a correction) costs O(size n min(t, n)). After a call of `advance`, or with almost no
        noise, one O(n^3) factorization is used instead and kept until the data change.
        """
        size, inside = whole(size, "size", 0), self._representation
        kept = self._kept if self.hallucinated else inside.count
        plain = self._static and self.jitter == 0 and self.noise_var > self._little_noise
        if plain and isinstance(inside, DenseRows):
            draws = inside.corrected(rng, size, kept, self._counts, self.noise_var)
        else:
            draws = inside.deviations(rng, size, kept)
        draws += self._mean
        return draws

    def forget(self) -> None:
        self._representation.clear()
        self._follow_growth()
        self._mean[:], self._var[:] = self.prior_mean, self._representation.prior_var
        self._counts[:] = 0.0
        self.size, self._since_refresh = 0, 0
        self.jitter, self.information_gain = 0.0, 0.0
        self._static, self.hallucinated = True, False
        self._kept, self._kept_jitter = 0, 0.0

    def _bound_noise(self, level: float) -> None:
        """Set what is added to the noise where the largest prior variance is ``level``.

        Without noise, the residual covariances of a smooth kernel soon consist of rounding, which
        grows without bound unless every observation has the same small noise.
        """
        self._least_noise = 2.0 * max(ROUNDING * level, np.finfo(float).tiny)
        self._little_noise = LITTLE_NOISE * level
        self._noise = max(self.noise_var, self._least_noise)
        self._added = self._noise - self.noise_var

    def _follow_growth(self, dt: float = 0.0) -> None:
        """Bound the noise as the prior variance is after a time, if it grows with time.

        Raises:
            InvalidInput: it would be too large to compute with. Nothing has changed.
        """
        if self._moving is None or self._moving.temporal.stationary:
            return
        level, kernel = self._moving.level(dt), self._moving.temporal.type_name
        if not level <= LARGEST:
            raise InvalidInput(
                f"after {dt:g} more rounds the temporal kernel {kernel!r} would "
                f"have a prior variance of {level:g}, above {LARGEST:g}: let less time pass, in a "
                "larger unit, or give it a lower rate"
            )
        self._bound_noise(level)

    def drift(self, epsilon: float, dt: float) -> None:
        if self._moving is not None:
            self._follow_growth(dt)
            self._take(self._moving.evolve(epsilon, dt))
            return
        rho, kept, kept_var, new_var = _decays(epsilon, dt, self._level)
        if rho == 1.0 or self.size == 0:
            return
        mean, var, scratch, inside = self._mean, self._var, self._scratch, self._representation
        self._static = rho == 0.0
        if self._static:
            inside.clear()
            mean[:], var[:], self._counts[:] = self.prior_mean, inside.prior_var, 0.0
            return
        np.multiply(mean, kept, mean)
        if self._has_prior_mean:
            np.add(mean, np.multiply(self.prior_mean, 1.0 - rho, scratch), mean)
        np.multiply(var, kept_var, var)
        if self._level is None:
            np.add(var, np.multiply(inside.prior_var, new_var, scratch), var)
        else:
            np.add(var, new_var, var)
        inside.decay(rho)
        if inside.scale <= inside.DECAYED:
            with OneThread():
                self._settle()

    def learn(self, points: IntArray, rewards: Array, noise_var: Array | None = None) -> None:
        if self.hallucinated:
            self.rollback()
        if noise_var is not None or len(points) != 1:
            self._learn_blocks(points, rewards, noise_var)
        elif threads.blas_threads() == 1 and not threads.changed:
            self._learn_one(points.item(), rewards.item())
        else:
            with OneThread():
                self._learn_one(points.item(), rewards.item())

    def replay(self, log: Iterable[tuple[IntArray, Array, float]], epsilon: float = 0.0) -> None:
        """See `Posterior`; temporal states are conditioned on few data of all times at once."""
        parts, moving = list(log), self._moving
        count = sum(len(rewards) for _, rewards, _ in parts)
        few = moving is not None and moving.at_once and 1 < count <= moving.width
        if self.size or epsilon or not few or not self._learn_all(parts):
            super().replay(parts, epsilon)

    def _learn_all(self, parts: Sequence[tuple[IntArray, Array, float]]) -> bool:
        """Condition temporal states without data on a log at once; False if rounding forbids it."""
        self.rollback()
        inside, (points, rewards, passed) = self._moving, zip(*parts, strict=True)
        assert inside is not None
        arms, noise = np.concatenate(points), self._noise
        clocks = inside.clock + np.cumsum([0.0, *passed])
        times = np.repeat(clocks[:-1], [len(own) for own in rewards])
        gaps = np.concatenate(rewards) - np.asarray(self.prior_mean)[arms]
        with OneThread():
            try:
                totals = inside.learn_all(arms, gaps, times, clocks.item(-1), noise)
            except np.linalg.LinAlgError:
                return False
            self._take(inside.refreshed())
        np.add.at(self._counts, arms, 1.0)
        self.size, self.jitter = len(arms), max(self.jitter, self._added)
        for before in (totals - noise).tolist():
            self.information_gain += observed_gain(before, self.noise_var)
        return True

    def _learn_blocks(self, points: IntArray, rewards: Array, noise_var: Array | None) -> None:
        """Condition on observations block by block, with a noise variance for each or NaN."""
        noise = each_noise(noise_var, self.noise_var, len(points))
        with OneThread():
            for start in range(0, len(points), BLOCK):
                part = slice(start, start + BLOCK)
                arms, own = points[part], noise[part]
                variances = self._condition(arms, rewards[part], own)
                columns = arms.tolist(), variances.tolist(), own.tolist()
                for arm, before, s2 in zip(*columns, strict=True):
                    self._counts[arm] += self._weight(s2)
                    self.information_gain += observed_gain(before, s2)
                self.size += len(arms)
                self._since_refresh += len(arms)
                self._settle()

    def _weight(self, noise_var: float) -> float:
        """The number of observations with the usual noise that say as much as one with this."""
        if noise_var == self.noise_var:
            return 1.0
        # The variances may be smaller than the usual noise lets expect, so they are clipped.
        self._positive_for = 0.0
        if noise_var <= self._little_noise:
            self._static = False  # samples are then drawn by a factorization
            return 1.0
        return self.noise_var / noise_var or 1.0

    def _learn_one(self, arm: int, reward: float) -> None:
        """Condition on one observation, in place and in as few calls as possible."""
        mean, var, scratch, inside = self._mean, self._var, self._scratch, self._representation
        before, noise_var, number = var.item(arm), self.noise_var, self._number
        s = math.sqrt(before + self._noise)
        number[()] = surprise = (reward - mean.item(arm)) / s
        v = inside.observe(arm, 1.0 / s, surprise)
        np.add(mean, np.multiply(v, number, scratch), mean)
        np.subtract(var, np.multiply(v, v, scratch), var)
        self._counts[arm] += 1.0
        self.size += 1
        if self.size > self._positive_for:
            np.maximum(var, self._zeros, out=var)
        if self._added > self.jitter:
            self.jitter = self._added
        self.information_gain += (
            0.5 * math.log1p(before / noise_var) if noise_var else observed_gain(before, 0.0)
        )
        self._since_refresh += 1
        if inside.count >= inside.due or self._since_refresh >= REFRESH_EVERY:
            self._settle()

    def _condition(self, arms: IntArray, rewards: Array | None, noise: Array) -> Array:
        """Condition on arms together, with or without rewards; return the variances before, (k,).

        Rounding would grow in a block with hardly any noise, so these arms follow one by one.
        """
        used = np.maximum(noise, self._least_noise)
        rows, gram = self._representation.cross(arms)
        gram.flat[:: len(arms) + 1] = self._var[arms] + used
        try:
            inverse, totals = whitener(gram, self._little_noise if len(arms) > 1 else 0.0)
        except np.linalg.LinAlgError:
            one = (slice(i, i + 1) for i in range(len(arms)))
            each = ((arms[i], None if rewards is None else rewards[i], noise[i]) for i in one)
            return np.concatenate([self._condition(*own) for own in each])
        gaps = np.zeros(len(arms)) if rewards is None else rewards - self._mean[arms]
        surprises = inverse @ gaps
        values = self._representation.extend(inverse @ rows, surprises.tolist())
        if rewards is not None:
            self._mean += surprises @ values
        self._var -= np.einsum("ij,ij->j", values, values)
        np.maximum(self._var, self._zeros, out=self._var)
        self.jitter = max(self.jitter, float((used - noise).max()))
        return totals - used

    def _settle(self) -> None:
        """Fold rows when due; at times recompute mean and variance against rounding."""
        var = self._representation.settle()
        if var is not None:
            np.maximum(var, 0.0, out=self._var)
        if self._since_refresh >= REFRESH_EVERY:
            self._since_refresh = 0
            self._take(self._representation.refreshed())

    def _take(self, moments: tuple[Array, Array] | None) -> None:
        """Use a mean minus the prior mean, and a variance, that were computed anew."""
        if moments is not None:
            np.add(self.prior_mean, moments[0], out=self._mean)
            np.maximum(moments[1], 0.0, out=self._var)

    def _make_views(self) -> None:
        self.mean, self.var = frozen(self._mean[:]), frozen(self._var[:])

    def __getstate__(self) -> State:
        # A pickled view would become a copy that no longer follows its array.
        views = ("mean", "var")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state: State) -> None:
        self.__dict__.update(state)
        self._make_views()


@lru_cache(maxsize=256)
def _decays(epsilon: float, dt: float, level: float | None) -> tuple[float, Array, Array, Array]:
    """rho, and as arrays (), by which NumPy multiplies faster: rho, rho^2, (1 - rho^2) level."""
    rho = decay(epsilon, dt)
    new = (1.0 - rho**2) * (1.0 if level is None else level)
    return rho, frozen(np.array(rho)), frozen(np.array(rho**2)), frozen(np.array(new))

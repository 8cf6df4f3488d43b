"""The interface of all posteriors, for every domain and representation."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, Plain, Points, State, own_noise, positive, share
from gpbandits_env.display import Displayed
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.temporal import TemporalKernel


class Posterior(Displayed, ABC):
    r"""The posterior of f ~ GP(m, k) given noisy observations y_i = f(x_i) + noise.

    .. math::
        \mu_t(x) = m(x) + \tilde k_t(x)^T (K_t \circ D_t + s^2 I)^{-1} (y_t - m_t), \quad
        \sigma_t^2(x) = k(x, x) - \tilde k_t(x)^T (K_t \circ D_t + s^2 I)^{-1} \tilde k_t(x)

    See srinivas2010, Section 2.2, and bogunovic2016, eqs. (7)-(8). D and the tilde stand for the
    decay of correlations by `advance`; without drift D is all ones. On arms, points are indices
    (k,); in a box, points are (k, d). Hallucinated points are observed without a reward: they
    reduce the variance and leave the mean unchanged.

    With little noise, the mean is less exact than the variance, because small differences between
    rewards decide it. If the noise variance is a share r of the kernel's, its error may reach
    1e-13 / r, relative to the largest mean, where rewards contradict the model, such as different
    rewards of one point (measured at r = 1e-9: 2e-7 on arms and 3e-5 in boxes, at 1e-10: 6e-6 and
    1e-4, at 1e-11: 1e-4 on arms). For rewards that the model explains, it stays below 1e-7.

    Attributes:
        domain: the arms or the box.
        kernel: k, the prior covariance.
        noise_var: s^2, the variance of the noise on a reward.
        prior_mean: m, (n,) on arms and a number in a box.
        size: the model order, which is the number of observations.
        jitter: the largest amount that was added to a variance before a division; 0.0 if none was.
        information_gain: I(y; f) in nats: 1/2 sum log(1 + var / noise_var) over the observations,
            with the variance just before each (srinivas2010, Lemma 5.3); infinite without noise.
        temporal: T, the covariance in time, which multiplies D; None where it is 1.
        mean: on arms, (n,) the posterior mean, read-only.
        var: on arms, (n,) the posterior variance including hallucinated points, read-only.
    """

    domain: Domain
    kernel: Kernel
    noise_var: float
    prior_mean: float | Array
    size: int
    jitter: float
    information_gain: float
    temporal: TemporalKernel | None = None
    # The moments at all n arms; a box has none.
    mean: Array
    var: Array
    # Whether the noise variance may be one of each reward's own.
    takes_noise = False

    def _facts(self) -> Plain:
        return {name: getattr(self, name) for name in ("domain", "kernel", "noise_var", "size")}

    def condition(
        self, points: ArrayLike, rewards: ArrayLike, noise_var: ArrayLike | None = None
    ) -> None:
        """Condition on rewards (k,) at points (k,) or (k, d), and drop hallucinated points.

        Args:
            points: the observed points.
            rewards: their rewards.
            noise_var: the variance of the noise of each reward (k,), where it is not s^2; NaN
                stands for s^2.
        Raises:
            InvalidInput: a point is outside the domain, a reward is not finite, the lengths differ,
                a variance is negative, or this posterior takes none. The posterior is unchanged.
        """
        x, y = self.domain.observations(points, rewards)
        if noise_var is None:
            self.learn(x, y)
        elif not self.takes_noise:
            raise InvalidInput(f"{type(self).__name__} has the same noise variance for all rewards")
        else:
            self.learn(x, y, own_noise(noise_var, len(y)))

    @abstractmethod
    def learn(self, points: Points, rewards: Array, noise_var: Array | None = None) -> None:
        """Like `condition`, for checked points (k, ...), rewards and variances (k,), k >= 0."""

    def replay(self, log: Iterable[tuple[Points, Array, float]], epsilon: float = 0.0) -> None:
        """Condition on a log of points, rewards and the time dt after them, oldest first.

        Without drift this equals one call of `condition`, unless the posterior `ages`.
        """
        parts = list(log)
        if parts and not self.ages and not epsilon:
            each, their_rewards, _ = zip(*parts, strict=True)
            parts = [(np.concatenate(each), np.concatenate(their_rewards), 0.0)]
        for points, rewards, dt in parts:
            self.condition(points, rewards)
            self.advance(epsilon, dt)

    @property
    @abstractmethod
    def observed(self) -> Points:
        """The observed points, a new array: distinct arms in order, or in a box (t, d) by age."""

    def mean_at_observed(self) -> Array:
        """The posterior mean at each point of `observed`, a new array."""
        return self.mean_at(self.observed)

    @property
    def sd(self) -> Array:
        """The posterior standard deviation on arms, a new array (n,)."""
        return np.sqrt(self.var)

    def mean_at(self, points: Points) -> Array:
        """The posterior mean at checked points, a new array (k,)."""
        return self.mean[points]

    def var_at(self, points: Points) -> Array:
        """The variance at checked points, a new array (k,), including hallucinated points."""
        return self.var[points]

    def moments(self, points: Points) -> tuple[Array, Array]:
        """Posterior mean and variance at checked points, new arrays (k,)."""
        return self.mean_at(points), self.var_at(points)

    @abstractmethod
    def covariance(self, points: ArrayLike) -> Array:
        """The posterior covariance among points, (k, k), including hallucinated points.

        Raises:
            InvalidInput: a point is not one of the arms, or in a box the shape is wrong.
        """

    @abstractmethod
    def hallucinate(self, points: ArrayLike) -> None:
        """Condition the variance on these points, and leave the mean unchanged.

        It may be called repeatedly; `rollback` undoes all calls exactly.

        Raises:
            InvalidInput: a point is outside the domain.
        """

    @abstractmethod
    def rollback(self) -> None:
        """Drop all hallucinated points."""

    def advance(self, epsilon: float, dt: float = 1.0) -> None:
        """Let time pass: correlations with past data are multiplied by (1 - epsilon)^(dt / 2).

        With a temporal kernel, they also change as it says, so that epsilon is usually 0. The
        observations of a batch have the same time; call `advance` between batches. epsilon = 1
        returns to the prior. Hallucinated points are dropped.

        Args:
            epsilon: the drift rate in [0, 1], which may differ between calls.
            dt: the elapsed time in rounds, at least 0.
        Raises:
            InvalidInput: a number is out of range, or the representation supports no drift.
        """
        drift, passed = share(epsilon, "epsilon"), positive(dt, "dt", zero=True)
        self.rollback()
        if passed > 0.0 and (drift > 0.0 or self.ages):
            self.drift(drift, passed)

    @property
    def ages(self) -> bool:
        """Whether the posterior changes with time even where epsilon is 0."""
        return self.temporal is not None

    @abstractmethod
    def drift(self, epsilon: float, dt: float) -> None:
        """Like `advance`, for checked numbers, dt > 0, and without hallucinated points.

        Epsilon is positive, unless the posterior `ages`.
        """

    def remove(self, i: int) -> bool:
        """Forget an observation, -1 for the last; whether that costs less than to learn anew.

        If not, nothing changes.
        """
        return False

    @abstractmethod
    def forget(self) -> None:
        """Return to the prior: no data, no jitter, no information gain."""

    def state(self) -> State | None:
        """A copy of the state if it depends on random draws; None if it follows from the calls."""
        return None

    def restore(self, state: State) -> None:
        """Return to a state of `state`.

        Raises:
            InvalidInput: it does not fit. The posterior is unchanged.
        """
        raise InvalidInput("this posterior draws nothing: it follows from its data")

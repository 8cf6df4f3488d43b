"""A mixture of posteriors under several rates of drift, weighed by how well they predict."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, Points, positive, share, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior.arms import ArmPosterior
from gpbandits_env.gp.posterior.posterior import Posterior

# The smallest variance of a prediction, relative to the largest prior variance.
LEAST = 1e-12
# The smallest weight, whose logarithm is finite.
TINY = 1e-300


class DriftHypothesis(NamedTuple):
    """One model of the drift.

    Args:
        posterior: its posterior, before any data.
        epsilon: the Markov rate at which its data age.
        trigger: if given, the hypothesis drops its data where a reward is more than this number of
            standard deviations away from its prediction.
    """

    posterior: ArmPosterior
    epsilon: float
    trigger: float | None = None


class MixturePosterior(Posterior):
    r"""The posterior on arms if one of several models of the drift holds, and may change.

    .. math::
        \mu(x) = \sum_i w_i \mu_i(x), \quad
        \sigma^2(x) = \sum_i w_i (\sigma_i^2(x) + \mu_i(x)^2) - \mu(x)^2

    The weight of a part is multiplied by the density with which it predicted the rewards of each
    round, and then, as in the fixed-share rule,

    .. math:: w_i \leftarrow (1 - \alpha) w_i + \alpha / K

    so that a part whose weight had vanished can return. Without a trigger and with alpha = 0 this
    is exact Bayesian model averaging.

    Cost: K times that of a part.

    Args:
        parts: K >= 1 parts on the same arms.
        switching: alpha, in [0, 1], per unit of time.
    Attributes:
        weights: (K,) the weights w, which sum to 1.
        restarts: the number of times that a trigger dropped the data of a part.
    Raises:
        InvalidInput: a number is out of range, or there are no parts.
    Source: Herbster and Warmuth (1998), the fixed-share update.
    """

    ages: ClassVar[bool] = True

    def __init__(self, parts: Sequence[DriftHypothesis], switching: float = 0.0) -> None:
        if not parts:
            raise InvalidInput("a mixture needs at least one part")
        self.parts = [
            DriftHypothesis(
                p, share(epsilon, "epsilon"), None if c is None else positive(c, "trigger")
            )
            for p, epsilon, c in parts
        ]
        first = self.parts[0].posterior
        self.domain = self.arms = first.arms
        self.kernel, self.noise_var = first.kernel, first.noise_var
        self.prior_mean = first.prior_mean
        self.switching = share(switching, "switching")
        self._log_weights: Array = np.zeros(len(self.parts))
        self.restarts = 0

    @property
    def weights(self) -> Array:
        found = np.exp(self._log_weights - self._log_weights.max())
        return np.asarray(found / found.sum())

    @property
    def mean(self) -> Array:  # type: ignore[override]
        return self._averaged([part.posterior.mean for part in self.parts])

    @property
    def var(self) -> Array:  # type: ignore[override]
        inside, mean = [part.posterior for part in self.parts], self.mean
        return self._averaged([p.var + (p.mean - mean) ** 2 for p in inside])

    @property
    def size(self) -> int:  # type: ignore[override]
        """The largest model order of a part."""
        return max(part.posterior.size for part in self.parts)

    @property
    def jitter(self) -> float:  # type: ignore[override]
        """The largest jitter of a part."""
        return max(part.posterior.jitter for part in self.parts)

    @property
    def information_gain(self) -> float:  # type: ignore[override]
        """The average of the parts' information gain, by weight."""
        gains = [part.posterior.information_gain for part in self.parts]
        used = self.weights > 0.0
        return float(self.weights[used] @ np.array(gains)[used])

    @property
    def observed(self) -> IntArray:
        return np.unique(np.concatenate([part.posterior.observed for part in self.parts]))

    def mean_at(self, points: IntArray) -> Array:
        return self._averaged([part.posterior.mean_at(points) for part in self.parts])

    def covariance(self, points: ArrayLike) -> Array:
        arms = self.arms.check(points)
        inside, mean = [part.posterior for part in self.parts], self.mean_at(arms)
        gaps = [p.mean_at(arms) - mean for p in inside]
        spread = [p.covariance(arms) + np.outer(g, g) for p, g in zip(inside, gaps, strict=True)]
        return self._averaged(spread)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Joint draws of f at all arms, (size, n), each of one part that is drawn by its weight."""
        chosen = rng.choice(len(self.parts), whole(size, "size", 0), p=self.weights)
        draws = np.empty((size, self.arms.size))
        for i in np.unique(chosen).tolist():
            own = chosen == i
            draws[own] = self.parts[i].posterior.sample(rng, int(own.sum()))
        return draws

    def hallucinate(self, points: ArrayLike) -> None:
        for part in self.parts:
            part.posterior.hallucinate(points)

    def rollback(self) -> None:
        for part in self.parts:
            part.posterior.rollback()

    def learn(self, points: Points, rewards: Array, noise_var: Array | None = None) -> None:
        self.rollback()
        if not len(points):
            return
        for i, part in enumerate(self.parts):
            self._log_weights[i] += self._judged(part, points, rewards)
        self._log_weights -= self._log_weights.max()
        for part in self.parts:
            part.posterior.learn(points, rewards)

    def drift(self, epsilon: float, dt: float) -> None:
        kept = (1.0 - self.switching) ** dt
        weights = kept * self.weights + (1.0 - kept) / len(self.parts)
        self._log_weights[:] = np.log(np.maximum(weights, TINY))
        for part in self.parts:
            part.posterior.advance(1.0 - (1.0 - part.epsilon) * (1.0 - epsilon), dt)

    def forget(self) -> None:
        for part in self.parts:
            part.posterior.forget()
        self._log_weights[:] = 0.0
        self.restarts = 0

    def _averaged(self, values: Sequence[Array]) -> Array:
        total = np.zeros_like(values[0])
        for weight, value in zip(self.weights.tolist(), values, strict=True):
            total += weight * value
        return total

    def _judged(self, part: DriftHypothesis, arms: IntArray, rewards: Array) -> float:
        """The log density of the rewards under a part, which may drop its data afterwards."""
        inside = part.posterior
        gap = rewards - inside.mean_at(arms)
        covariance = inside.covariance(arms)
        least = LEAST * float(self.kernel.diagonal(self.arms.coordinates[arms]).max())
        covariance.flat[:: len(arms) + 1] += max(self.noise_var, least)
        if part.trigger is not None and bool(
            np.any(np.abs(gap) > part.trigger * np.sqrt(covariance.diagonal()))
        ):
            inside.forget()
            self.restarts += 1
        lower = np.linalg.cholesky(covariance)
        white = np.linalg.solve(lower, gap)
        half = float(np.log(lower.diagonal()).sum()) + 0.5 * len(gap) * float(np.log(2.0 * np.pi))
        return -0.5 * float(white @ white) - half

"""The kernels in time: static, Markov, Matern, Wiener and periodic."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ive

from gpbandits_env.arrays import Array, whole
from gpbandits_env.gp.temporal.kernel import TEMPORAL, TemporalKernel, decay, log_decay

ONE = np.ones((1, 1))
MOST_HARMONICS = 64
# At this lengthscale the harmonics of a period are equal to 2e-6; SciPy has no I_j of shorter ones.
WHITE = 3.2e-5


def _lags(t: Array, s: Array) -> Array:
    """The elapsed times |t_i - s_j|, (k, m)."""
    return np.abs(np.subtract.outer(t, s))


@dataclass(frozen=True)
class _OneState(TemporalKernel):
    """A kernel whose state is the function itself, by default one that does not change."""

    def transition(self, dt: float) -> Array:
        return ONE

    def covariance(self, t: float) -> Array:
        return ONE

    def row(self, t: float) -> Array:
        return np.ones(1)


@TEMPORAL.register("static")
@dataclass(frozen=True)
class StaticTime(_OneState):
    """T(t, s) = 1: the function does not change. It is for the lasting part of a sum."""

    def __call__(self, t: Array, s: Array) -> Array:
        return np.ones((len(t), len(s)))


@TEMPORAL.register("markov")
@dataclass(frozen=True)
class MarkovTime(_OneState):
    r"""The time-varying GP of bogunovic2016, with one state.

    .. math:: T(t, s) = (1 - \epsilon)^{|t - s| / 2}

    Args:
        epsilon: in [0, 1]; 0 is a static function, 1 an independent one in every round.
    Source: bogunovic2016, eqs. (3)-(4).
    """

    epsilon: float

    def __call__(self, t: Array, s: Array) -> Array:
        return np.asarray(np.exp(log_decay(self.epsilon) * _lags(t, s)))

    def transition(self, dt: float) -> Array:
        return np.array([[decay(self.epsilon, dt)]])


@dataclass(frozen=True)
class _MaternTime(TemporalKernel):
    """A kernel in a = lambda |t - s|, lambda = sqrt(2 nu) / ell, of smoothness nu.

    The transition is exp(a A) = e^-a (I + a N + a^2 N^2 / 2), because N = A + I is nilpotent.

    Args:
        lengthscale: ell > 0, in rounds.
    """

    lengthscale: float
    smoothness: ClassVar[float]
    NILPOTENT: ClassVar[Array]
    COVARIANCE: ClassVar[Array]

    def _scaled(self, lag: Any) -> Any:
        """A lag, or an array of lags, times lambda."""
        return np.sqrt(2.0 * self.smoothness) / self.lengthscale * lag

    def transition(self, dt: float) -> Array:
        a, n = self._scaled(dt), self.NILPOTENT
        return np.asarray(np.exp(-a) * (np.eye(len(n)) + a * n + 0.5 * a * a * (n @ n)))

    def covariance(self, t: float) -> Array:
        return self.COVARIANCE

    def row(self, t: float) -> Array:
        return np.eye(len(self.NILPOTENT))[0]


@TEMPORAL.register("matern32")
@dataclass(frozen=True)
class Matern32Time(_MaternTime):
    r"""A function with one derivative in time; two states, f and f' / lambda.

    .. math:: T(t, s) = (1 + a) e^{-a}, \quad a = \lambda |t - s|, \quad \lambda = \sqrt3 / \ell

    Args:
        lengthscale: ell > 0, in rounds.
    Source: Hartikainen and Sarkka (2010), Section 4.1.
    """

    smoothness = 1.5
    NILPOTENT = np.array([[1.0, 1.0], [-1.0, -1.0]])
    COVARIANCE = np.eye(2)

    def __call__(self, t: Array, s: Array) -> Array:
        a = self._scaled(_lags(t, s))
        return np.asarray((1.0 + a) * np.exp(-a))


@TEMPORAL.register("matern52")
@dataclass(frozen=True)
class Matern52Time(_MaternTime):
    r"""A function with two derivatives in time; three states, f, f' / lambda and f'' / lambda^2.

    .. math::
        T(t, s) = (1 + a + \tfrac13 a^2) e^{-a}, \quad a = \lambda |t - s|,
        \quad \lambda = \sqrt5 / \ell

    Args:
        lengthscale: ell > 0, in rounds.
    Source: Hartikainen and Sarkka (2010), Section 4.1.
    """

    smoothness = 2.5
    NILPOTENT = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [-1.0, -3.0, -2.0]])
    COVARIANCE = np.array([[3.0, 0.0, -1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 3.0]]) / 3.0

    def __call__(self, t: Array, s: Array) -> Array:
        a = self._scaled(_lags(t, s))
        return np.asarray((1.0 + a + a * a / 3.0) * np.exp(-a))


@TEMPORAL.register("wiener")
@dataclass(frozen=True)
class WienerTime(_OneState):
    r"""A random walk, which does not return to the prior mean: uncertainty injection.

    .. math:: T(t, s) = 1 + r \min(t, s)

    The prior variance is that of the kernel in space at time 0, and grows by the rate in every
    round. It is the only kernel of this module that depends on when time began.

    Args:
        rate: r > 0, the growth of the variance per round, relative to that of the kernel in space.
    Source: Brunzema, von Rohr and Trimpe (2022), "On Controller Tuning with Time-Varying
        Bayesian Optimization", Section IV.
    """

    stationary: ClassVar[bool] = False
    rate: float

    def __call__(self, t: Array, s: Array) -> Array:
        return np.asarray(1.0 + self.rate * np.minimum.outer(t, s))

    def covariance(self, t: float) -> Array:
        return np.array([[1.0 + self.rate * t]])


@TEMPORAL.register("periodic")
@dataclass(frozen=True)
class PeriodicTime(TemporalKernel):
    r"""A function that repeats itself, by its first harmonics; 2 J + 1 states.

    .. math::
        T(t, s) = \sum_{j=0}^J q_j^2 \cos(2 \pi j (t - s) / P), \quad
        q_0^2 \propto I_0(\ell^{-2}), \quad q_j^2 \propto 2 I_j(\ell^{-2}), \quad \sum_j q_j^2 = 1

    I_j are the modified Bessel functions. With all harmonics this is the periodic kernel
    exp(-2 sin^2(pi (t - s) / P) / ell^2); `omitted` is the share of its variance beyond J, and
    twice that share bounds the difference from it.

    Args:
        period: P > 0, in rounds.
        lengthscale: ell > 0, without a unit; small values are for fast changes within a period.
        harmonics: J, from 1 to 64.
    Source: Solin and Sarkka (2014), "Explicit Link Between Periodic Covariance Functions and State
        Space Models", eqs. (23)-(27).
    Departures: 1. the coefficients are scaled to sum to 1; 2. the frame turns with the season.
    """

    period: float
    lengthscale: float = 1.0
    harmonics: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.harmonics, "harmonics", 1, MOST_HARMONICS)

    @cached_property
    def _amplitudes(self) -> Array:
        """The q_j, (J + 1,)."""
        return np.asarray(np.sqrt(self._squares / self._squares.sum()))

    @cached_property
    def _squares(self) -> Array:
        """The shares of the variance of the full kernel, (J + 1,)."""
        squares = 2.0 * ive(np.arange(self.harmonics + 1), max(self.lengthscale, WHITE) ** -2)
        squares[0] *= 0.5
        return np.asarray(squares)

    @property
    def omitted(self) -> float:
        """The share of the variance of the full periodic kernel beyond the last harmonic."""
        return float(1.0 - self._squares.sum())

    def __call__(self, t: Array, s: Array) -> Array:
        lag = _lags(t, s) % self.period * (2.0 * np.pi / self.period)
        total = np.zeros(lag.shape)
        for j, q in enumerate(self._amplitudes):
            total += q * q * np.cos(j * lag)
        return total

    def transition(self, dt: float) -> Array:
        return np.eye(2 * self.harmonics + 1)

    def covariance(self, t: float) -> Array:
        return np.eye(2 * self.harmonics + 1)

    def row(self, t: float) -> Array:
        q = self._amplitudes
        angles = np.arange(1, len(q)) * (t % self.period * (2.0 * np.pi / self.period))
        return np.concatenate([q[:1], q[1:] * np.cos(angles), q[1:] * np.sin(angles)])


@TEMPORAL.register("quasi-periodic")
@dataclass(frozen=True)
class QuasiPeriodicTime(PeriodicTime):
    r"""A season that changes slowly: the periodic kernel times the Markov kernel.

    Args:
        period: P > 0, in rounds.
        lengthscale: as in `PeriodicTime`.
        harmonics: as in `PeriodicTime`.
        epsilon: the Markov rate per round, in [0, 1].
    Source: Solin and Sarkka (2014), Section 3.3.
    """

    epsilon: float = 0.001

    def __call__(self, t: Array, s: Array) -> Array:
        return np.asarray(super().__call__(t, s) * np.exp(log_decay(self.epsilon) * _lags(t, s)))

    def transition(self, dt: float) -> Array:
        return np.asarray(super().transition(dt) * decay(self.epsilon, dt))

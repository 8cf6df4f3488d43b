"""Kernels in time: the covariance of a drifting function between two rounds.

Each has its formula, and the same law as a linear state-space model. The covariance of a drifting
function is that in space times that in time,

    Cov(f_t(x), f_s(z)) = k(x, z) T(t, s),

where t and s are times in rounds, and round 1 is at time 0. With `TermsInTime` it is a sum of such
products, one for each term of the kernel in space.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import block_diag
from scipy.special import ive

from gpbandits_env.arrays import (
    LARGEST,
    Array,
    Settings,
    all_of,
    finite_array,
    frozen,
    listed,
    positive,
    share,
    whole,
)
from gpbandits_env.errors import InvalidInput
from gpbandits_env.specs import Family, Parametric

ONE = np.ones((1, 1))
MOST_HARMONICS = 64
# A product of several seasons has the product of their numbers of states.
MOST_STATES = 256
# The times at which a user's kernel is checked, and by how much its formula and states may differ.
# They are whole, because a kernel may be for rounds only.
TIMES = frozen(np.array([0.0, 1.0, 3.0, 10.0]))
NEAR = 0.01


@dataclass(frozen=True)
class TemporalKernel(Parametric):
    r"""A covariance T(t, s) in time that is the law of a linear state-space model of n states.

    .. math::
        T(t, s) = h_t^T \mathrm{Cov}(z_t, z_s) h_s, \quad
        z_{t + \Delta} = F_\Delta z_t + w, \quad
        w \sim N(0, P_{t + \Delta} - F_\Delta P_t F_\Delta^T)

    The state z is written in a frame that turns with the season, so that a periodic kernel has a
    constant state and a row h_t that depends on time. A sum joins the states of its terms.

    Source: Hartikainen and Sarkka (2010); Solin and Sarkka (2014), for periodic kernels.
    """

    _kind = "temporal kernel"

    @staticmethod
    def _parameter(value: float, name: str) -> float:
        return share(value, name) if name == "epsilon" else positive(value, name)

    @abstractmethod
    def __call__(self, t: Array, s: Array) -> Array:
        """The covariances T(t_i, s_j) of times (k,) and (m,), a new array (k, m)."""

    @abstractmethod
    def transition(self, dt: float) -> Array:
        """F, (n, n), for an elapsed time of at least 0 rounds."""

    @abstractmethod
    def covariance(self, t: float) -> Array:
        """P_t, (n, n): the prior covariance of the state at a time of at least 0."""

    @abstractmethod
    def row(self, t: float) -> Array:
        """h_t, (n,): the function at time t is the states weighted by it."""

    @property
    def stationary(self) -> bool:
        """Whether T depends on t - s alone."""
        return True

    @property
    def parts(self) -> tuple["TemporalKernel", ...]:
        """The kernels in time of the terms of the kernel in space; for most, itself alone."""
        return (self,)

    @property
    def states(self) -> int:
        """The number n of states."""
        return np.size(self.row(0.0))

    def spread(self, t: float) -> float:
        """T(t, t), the factor of the prior variance at time t."""
        at = np.array([t])
        return float(self(at, at)[0, 0])

    def step(self, t: float, dt: float, epsilon: float = 0.0) -> tuple[Array, Array]:
        """F, (n, n), from the time t to t + dt, times a `decay`, and the covariance (n, n) of w."""
        carry = decay(epsilon, dt) * self.transition(dt)
        noise = self.covariance(t + dt) - carry @ self.covariance(t) @ carry.T
        return carry, 0.5 * (noise + noise.T)


TEMPORAL: Family[TemporalKernel] = Family("temporal kernel", TemporalKernel)


def temporal_from_dict(spec: Settings | TemporalKernel) -> TemporalKernel:
    """The temporal kernel of a dict {"type": name, field: value, ...}; a kernel is unchanged."""
    return TEMPORAL.from_dict(spec)


def check_in_time(kernel: TemporalKernel | None) -> None:
    """Check the user's own temporal kernels, also in sums and products, at a few times.

    A kernel for boxes only, whose states raise `NotImplementedError`, is checked by its formula.

    Raises:
        InvalidInput: one gives NaN or another shape, or is no covariance or not that of its states.
    """
    for each in kernel.kernels if isinstance(kernel, _Terms) else ():
        check_in_time(each)
    if kernel is None or isinstance(kernel, _Terms) or type(kernel).__module__ == __name__:
        return
    found = _checked(kernel, "__call__(t, s)", kernel(TIMES, TIMES), (4, 4))
    _checked(kernel, "__call__(t, s)", kernel(TIMES, TIMES[:3]), (4, 3))
    size, name = np.abs(found).max(), f"the temporal kernel {kernel.type_name!r}"
    if max(np.abs(found - found.T).max(), -np.linalg.eigvalsh(found)[0]) > 1e-6 * size:
        raise InvalidInput(
            f"{name} is no covariance: its __call__ at the times {TIMES.tolist()} must be "
            f"symmetric and positive semidefinite, got {found.round(3).tolist()}"
        )
    try:
        own = _by_states(kernel)
    except NotImplementedError:
        return
    i, j = divmod(int(np.abs(np.triu(own - found)).argmax()), 4)
    if abs(own[i, j] - found[i, j]) > NEAR * size:
        raise InvalidInput(
            f"{name} has the covariance {found[i, j]:.3g} between the times {TIMES[i]:g} and "
            f"{TIMES[j]:g}, but {own[i, j]:.3g} by its states: __call__(t, s) must be "
            "row(s) @ transition(s - t) @ covariance(t) @ row(t) for t <= s"
        )


def _by_states(kernel: TemporalKernel) -> Array:
    """T(t_i, t_j) by the states at `TIMES`, for i <= j; 0 elsewhere."""
    times, out, n = TIMES.tolist(), np.zeros((4, 4)), np.size(kernel.row(0.0))
    rows = [_checked(kernel, "row(t)", kernel.row(t), (n,)) for t in times]
    for i, t in enumerate(times):
        state = _checked(kernel, "covariance(t)", kernel.covariance(t), (n, n)) @ rows[i]
        for j in range(i, 4):
            carry = kernel.transition(times[j] - t)
            out[i, j] = rows[j] @ _checked(kernel, "transition(dt)", carry, (n, n)) @ state
    return out


def _checked(kernel: TemporalKernel, what: str, values: Any, shape: tuple[int, ...]) -> Array:
    """The values of a method as an array; an error unless they are finite and have the shape."""
    what = f"{what} of the temporal kernel {kernel.type_name!r}"
    if (found := finite_array(values, what)).shape != shape:
        raise InvalidInput(f"{what} must have the shape {shape}, got {found.shape}")
    return found


def log_decay(epsilon: float) -> float:
    """Log sqrt(1 - epsilon); finite at epsilon = 1, where the correlation is 0 after any time."""
    return 0.5 * math.log1p(-epsilon) if epsilon < 1.0 else -LARGEST


def decay(epsilon: float, dt: float) -> float:
    """The correlation (1 - epsilon)^(dt / 2) after dt rounds; a power would lose a digit per dt."""
    return (1.0 - epsilon) ** 0.5 if dt == 1.0 else math.exp(dt * log_decay(epsilon))


def epsilon_per(unit: float, epsilon: float) -> float:
    """The epsilon per ``unit`` of the units of time in which it is given."""
    return epsilon if unit == 1.0 else -math.expm1(2.0 * unit * log_decay(epsilon))


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
        return self.COVARIANCE.copy()

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
    round. It is the only temporal kernel that depends on when time began.

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
    exp(-2 sin^2(pi (t - s) / P) / ell^2); `omitted` is the share of its variance beyond J, which
    bounds the difference from it.

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
        squares = self._squares
        return np.asarray(np.sqrt(squares / squares.sum()))

    @property
    def _squares(self) -> Array:
        """The shares of the variance of the full kernel, (J + 1,)."""
        squares = 2.0 * ive(np.arange(self.harmonics + 1), self.lengthscale**-2)
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


@dataclass(frozen=True)
class _Terms(TemporalKernel):
    kernels: tuple[TemporalKernel, ...]

    @property
    def stationary(self) -> bool:
        return all(kernel.stationary for kernel in self.kernels)


@dataclass(frozen=True)
class _Joined(_Terms):
    """Independent functions, whose states are joined."""

    def transition(self, dt: float) -> Array:
        return block_diag(*(kernel.transition(dt) for kernel in self.kernels))

    def covariance(self, t: float) -> Array:
        return block_diag(*(kernel.covariance(t) for kernel in self.kernels))


@TEMPORAL.register("terms")
@dataclass(frozen=True)
class TermsInTime(_Joined):
    r"""One temporal kernel for each term of the kernel in space, which is a sum.

    .. math:: \mathrm{Cov}(f_t(x), f_s(z)) = \sum_i k_i(x, z) T_i(t, s)

    With a constant term in space, all points share a shift that has a law of its own in time. It is
    no function of two times; see `gp.model.terms`.

    Args:
        kernels: the temporal kernels, in the order of the terms.
    Raises:
        InvalidInput: there are fewer than two.
    """

    def __post_init__(self) -> None:
        kernels = all_of(TemporalKernel, self.kernels, "kernels", "temporal kernels")
        if len(kernels) < 2 or any(len(kernel.parts) > 1 for kernel in kernels):
            raise InvalidInput(
                "the temporal kernel 'terms' needs two or more kernels, and none of its own kind"
            )
        object.__setattr__(self, "kernels", kernels)
        _check_states(sum(kernel.states for kernel in kernels))

    @property
    def parts(self) -> tuple[TemporalKernel, ...]:
        return self.kernels

    def __call__(self, t: Array, s: Array) -> Array:
        raise InvalidInput(
            "the temporal kernel 'terms' belongs to a kernel in space: each term has its own "
            "covariance in time"
        )

    def row(self, t: float) -> Array:
        return np.concatenate([kernel.row(t) for kernel in self.kernels])


@TEMPORAL.register("sum")
@dataclass(frozen=True)
class TemporalSum(_Joined):
    r"""A sum of independent functions: T = sum_i w_i T_i; the numbers of states add.

    Args:
        kernels: the temporal kernels of the terms.
        weights: w_i > 0, one per term; by default the same for all, with a sum of 1.
    Raises:
        InvalidInput: there are no terms, or not one weight per term.
    """

    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        kernels = all_of(TemporalKernel, self.kernels, "kernels", "temporal kernels")
        given = listed(self.weights, "weights") or (1.0 / len(kernels),) * len(kernels)
        if len(given) != len(kernels):
            raise InvalidInput(
                f"a temporal sum needs one weight per kernel, got {len(given)} for {len(kernels)}"
            )
        object.__setattr__(self, "kernels", kernels)
        object.__setattr__(self, "weights", tuple(positive(w, "weights") for w in given))
        _check_states(sum(kernel.states for kernel in kernels))

    def __call__(self, t: Array, s: Array) -> Array:
        terms = zip(self.weights, self.kernels, strict=True)
        return np.sum([weight * kernel(t, s) for weight, kernel in terms], axis=0)

    def row(self, t: float) -> Array:
        terms = zip(self.weights, self.kernels, strict=True)
        return np.concatenate([np.sqrt(weight) * kernel.row(t) for weight, kernel in terms])


@TEMPORAL.register("product")
@dataclass(frozen=True)
class TemporalProduct(_Terms):
    """T = T_1 T_2 ...; the numbers of states multiply.

    Args:
        kernels: the temporal kernels of the factors.
    Raises:
        InvalidInput: there are no factors, or more than 256 states.
    """

    def __post_init__(self) -> None:
        kernels = all_of(TemporalKernel, self.kernels, "kernels", "temporal kernels")
        object.__setattr__(self, "kernels", kernels)
        states = [kernel.states for kernel in kernels]
        _check_states(int(np.prod(states, dtype=float)))

    def __call__(self, t: Array, s: Array) -> Array:
        return reduce(np.multiply, [kernel(t, s) for kernel in self.kernels])

    def transition(self, dt: float) -> Array:
        return reduce(_crossed, [kernel.transition(dt) for kernel in self.kernels])

    def covariance(self, t: float) -> Array:
        return reduce(_crossed, [kernel.covariance(t) for kernel in self.kernels])

    def row(self, t: float) -> Array:
        return reduce(_crossed, [kernel.row(t) for kernel in self.kernels])


def _crossed(a: Array, b: Array) -> Array:
    return np.asarray(np.kron(a, b), dtype=np.float64)


def _check_states(states: int) -> None:
    if states > MOST_STATES:
        raise InvalidInput(
            f"a temporal kernel may have at most {MOST_STATES} states, got {states}: use fewer "
            "harmonics or fewer factors"
        )

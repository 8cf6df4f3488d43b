"""The interface of a kernel in time, and the decay of a correlation at the rate epsilon."""

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import LARGEST, Array, Settings, positive, share
from gpbandits_env.specs import Family, Parametric


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


def log_decay(epsilon: float) -> float:
    """Log sqrt(1 - epsilon); finite at epsilon = 1, where the correlation is 0 after any time."""
    return 0.5 * math.log1p(-epsilon) if epsilon < 1.0 else -LARGEST


def decay(epsilon: float, dt: float) -> float:
    """The correlation (1 - epsilon)^(dt / 2) after dt rounds.

    For a small epsilon, a power would magnify the rounding of 1 - epsilon by dt / 2.
    """
    return (1.0 - epsilon) ** 0.5 if dt == 1.0 else math.exp(dt * log_decay(epsilon))


def epsilon_per(unit: float, epsilon: float) -> float:
    """The epsilon of ``unit`` units of time, given that of one unit."""
    return epsilon if unit == 1.0 else -math.expm1(2.0 * unit * log_decay(epsilon))

"""The interface of a temporal kernel: its formula, and the same law as a linear state-space model.

The covariance of a drifting function is that in space times that in time,

    Cov(f_t(x), f_s(z)) = k(x, z) T(t, s),

where t and s are times in rounds, and round 1 is at time 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import one_of
from gpbandits_env.specs import Family


@dataclass(frozen=True)
class TemporalKernel(ABC):
    r"""A covariance T(t, s) in time that is the law of a linear state-space model of n states.

    .. math::
        T(t, s) = h_t^T \mathrm{Cov}(z_t, z_s) h_s, \quad
        z_{t + \Delta} = F_\Delta z_t + w, \quad
        w \sim N(0, P_{t + \Delta} - F_\Delta P_t F_\Delta^T)

    The state z is written in a frame that turns with the season, so that a periodic kernel has a
    constant state and a row h_t that depends on time. A sum joins the states of its terms, and a
    product has the Kronecker products of F, P and h.

    Source: Hartikainen and Sarkka (2010); Solin and Sarkka (2014), for periodic kernels.
    """

    type_name: ClassVar[str]

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
    def states(self) -> int:
        """The number n of states."""
        return len(self.row(0.0))

    def spread(self, t: float) -> float:
        """T(t, t), the factor of the prior variance at time t."""
        at = np.array([t])
        return float(self(at, at)[0, 0])

    def noise(self, t: float, dt: float) -> Array:
        """The covariance (n, n) of w between the times t and t + dt."""
        carry = self.transition(dt)
        noise = self.covariance(t + dt) - carry @ self.covariance(t) @ carry.T
        return 0.5 * (noise + noise.T)

    def to_dict(self) -> dict[str, Any]:
        """A plain dict for JSON that `temporal_from_dict` reads back."""
        return TEMPORAL.to_dict(self)

    def parameters(self) -> dict[str, float]:
        """The hyper-parameters by name: "period", "weights.0", "kernels.1.epsilon", ..."""
        return dict(_leaves("", self.to_dict()))

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        """The same kernel with some hyper-parameters replaced; the others keep their values.

        Raises:
            UnknownName: a name that `parameters` does not list.
            InvalidInput: a value out of range.
        """
        known = self.parameters()
        for name in values:
            one_of(name, known, f"parameter of the temporal kernel {self.type_name!r}")
        made = temporal_from_dict(_filled("", self.to_dict(), values))
        assert isinstance(made, type(self))
        return made


TEMPORAL: Family[TemporalKernel] = Family("temporal kernel", TemporalKernel)


def temporal_from_dict(spec: Mapping[str, Any] | TemporalKernel) -> TemporalKernel:
    """The temporal kernel of a dict {"type": name, field: value, ...}; a kernel is unchanged.

    Raises:
        InvalidInput: the type is missing, or a field is missing or out of range.
        UnknownName: there is no such type, or the type has no such field.
    """
    return TEMPORAL.from_dict(spec)


def lags(t: Array, s: Array) -> Array:
    """The elapsed times |t_i - s_j|, (k, m)."""
    return np.abs(np.subtract.outer(t, s))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """The floats within nested dicts and lists, by their paths."""
    if isinstance(value, float):
        yield name, value
    for key, item in _items(value):
        yield from _leaves(f"{name}.{key}" if name else str(key), item)


def _filled(name: str, value: Any, new: Mapping[str, float]) -> Any:
    """A copy of nested dicts and lists, with the floats replaced that ``new`` names."""
    parts = {
        key: _filled(f"{name}.{key}" if name else str(key), i, new) for key, i in _items(value)
    }
    if isinstance(value, dict):
        return parts
    return [*parts.values()] if isinstance(value, list) else new.get(name, value)


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)

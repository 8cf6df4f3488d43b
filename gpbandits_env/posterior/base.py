"""What every posterior offers, whatever its domain and representation.

Snapshots: what a state consists of is declared once; copying and checking follow.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array, positive, whole
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel

# How an entry is checked: a function of value and name; one or several shapes of an array, in which
# a letter is the same size everywhere; or a letter, for a whole number up to that size.
Layout: TypeAlias = Callable[[Any, str], Any] | tuple[int | str, ...] | list[tuple[Any, ...]] | str


# A whole number, or a number, at least 0.
count, amount = partial(whole, minimum=0), partial(positive, zero=True)


def gain(value: Any, name: str) -> float:
    """An amount that may be infinite, as information is without noise."""
    return math.inf if value == math.inf else amount(value, name)


class Stateful:
    """An object whose state is some of its attributes; arrays are restored in place."""

    STATE: ClassVar[Mapping[str, Layout]] = {}

    def snapshot(self) -> dict[str, Any]:
        """The state as a plain dict of arrays, numbers and strings, all copied."""
        values = {key: vars(self)[self._attribute(key)] for key in self.STATE}
        return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()}

    def put(self, state: Mapping[str, Any]) -> None:
        """Take over the entries of a checked snapshot."""
        for key in self.STATE:
            name = self._attribute(key)
            now = vars(self)[name]
            if isinstance(now, np.ndarray):
                now[:] = state[key]
            else:
                setattr(self, name, type(now)(state[key]))

    def _attribute(self, key: str) -> str:
        return f"_{key}" if f"_{key}" in vars(self) else key


class Posterior(Stateful, ABC):
    r"""What is known of f ~ GP(m, k) from noisy observations y_i = f(x_i) + noise.

    .. math::
        \mu_t(x) = m(x) + \tilde k_t(x)^T (K_t \circ D_t + s^2 I)^{-1} (y_t - m_t), \quad
        \sigma_t^2(x) = k(x, x) - \tilde k_t(x)^T (K_t \circ D_t + s^2 I)^{-1} \tilde k_t(x)

    (srinivas2010, Section 2.2; bogunovic2016, eqs. (7)-(8)), where D and the tilde stand for the
    correlation that `advance` took away: all ones while nothing drifts. On arms, x is an index and
    points are (k,) of them; in a box, points are (k, d). Hallucinated points are observed without a
    reward: they shrink the variance and leave the mean.

    Attributes:
        domain: the arms or the box.
        kernel: k, the prior covariance.
        noise_var: s^2, the variance of the noise on a reward.
        prior_mean: m, (n,) on arms and a number in a box.
        size: the model order: the number of observations since the prior.
        jitter: the largest amount that was added to a variance before a division; 0.0 if none was.
        information_gain: I(y; f) in nats: 1/2 sum log(1 + var / noise_var) over the observations,
            the variance of each just before it (srinivas2010, Lemma 5.3); infinite without noise.
    """

    domain: Domain
    kernel: Kernel
    noise_var: float
    prior_mean: Any
    size: int
    jitter: float
    information_gain: float

    def condition(self, points: ArrayLike, rewards: ArrayLike) -> None:
        """Learn from rewards (k,) at points (k,) or (k, d); hallucinated points are dropped first.

        Raises:
            InvalidInput: a point outside the domain, a reward that is not finite, or lengths that
                differ; nothing has changed then.
        """
        self.learn(*self.domain.observations(points, rewards))

    @abstractmethod
    def learn(self, points: NDArray[Any], rewards: Array) -> None:
        """As `condition`, of points (k, ...) and rewards (k,) that were checked before, k >= 0."""

    def replay(self, log: Iterable[tuple[NDArray[Any], Array, float]]) -> None:
        """Learn a log of points, rewards and the drift epsilon after them, oldest first.

        While nothing drifts it is learned at once, as by one call of `condition`.
        """
        parts = list(log)
        if parts and not any(epsilon for _, _, epsilon in parts):
            points, rewards, _ = zip(*parts, strict=True)
            parts = [(np.concatenate(points), np.concatenate(rewards), 0.0)]
        for points, rewards, epsilon in parts:
            self.condition(points, rewards)
            self.advance(epsilon)

    @property
    @abstractmethod
    def observed(self) -> NDArray[Any]:
        """The observed points, fresh: arms once each, in order; in a box (t, d), oldest first."""

    def mean_at_observed(self) -> Array:
        """The posterior mean at each of `observed`, fresh."""
        return self.mean_at(self.observed)

    @abstractmethod
    def mean_at(self, points: NDArray[Any]) -> Array:
        """(k,) the posterior mean at checked points, fresh."""

    @abstractmethod
    def var_at(self, points: NDArray[Any]) -> Array:
        """(k,) the posterior variance at checked points, fresh; hallucinated points count."""

    def moments(self, points: NDArray[Any]) -> tuple[Array, Array]:
        """Posterior mean and variance (k,) at checked points, fresh."""
        return self.mean_at(points), self.var_at(points)

    def var_given(self, points: ArrayLike, at: ArrayLike) -> Array:
        """(n,) the variance at n points if others were observed too; the state does not change.

        Raises:
            InvalidInput: a point outside the domain.
        """
        where, before = self._checked(at), self.snapshot()
        self.hallucinate(points)
        var = self.var_at(where)
        self.restore(before)
        return var

    @abstractmethod
    def covariance(self, points: ArrayLike) -> Array:
        """(k, k) posterior covariance among points, hallucinated points included.

        Raises:
            InvalidInput: a point outside the domain.
        """

    @abstractmethod
    def hallucinate(self, points: ArrayLike) -> None:
        """Shrink the variance as if these points had been observed too; the mean stays.

        May be called repeatedly; `rollback` undoes all of it, to the bit.

        Raises:
            InvalidInput: a point outside the domain.
        """

    @abstractmethod
    def rollback(self) -> None:
        """Drop all hallucinated points."""

    def advance(self, epsilon: float, dt: float = 1.0) -> None:
        """Time passes: past data lose correlation by (1 - epsilon)^(dt / 2).

        Observations of one batch share a time, and `advance` stands between batches. epsilon = 1
        brings the prior back. Hallucinated points are dropped.

        Args:
            epsilon: the drift, in [0, 1]; may differ from call to call.
            dt: the time that passes, at least 0, in rounds.

        Raises:
            InvalidInput: a number out of range, or a representation that cannot follow a drift.
        """
        drift, passed = positive(epsilon, "epsilon", zero=True), positive(dt, "dt", zero=True)
        if drift > 1.0:
            raise InvalidInput(f"epsilon must lie in [0, 1], got {epsilon!r}")
        self.rollback()
        if drift > 0.0 and passed > 0.0:
            self.drift(drift, passed)

    @abstractmethod
    def drift(self, epsilon: float, dt: float) -> None:
        """As `advance`, of checked numbers above 0, while nothing is hallucinated."""

    @abstractmethod
    def forget(self) -> None:
        """Back to the prior: no data, no jitter, no information."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot, of this posterior or of one made alike.

        Raises:
            InvalidInput: the snapshot does not fit; nothing has changed then.
        """

    def _checked(self, points: ArrayLike) -> NDArray[Any]:
        """Points to look at, checked."""
        return self.domain.check(points)


def check_state(state: Any, entries: Mapping[str, Layout], **sizes: int) -> None:
    """Check that a snapshot has just these entries, each as declared; some sizes are known.

    Raises:
        InvalidInput: it has not, or is no mapping.
    """
    if not isinstance(state, Mapping) or set(state) != set(entries):
        got = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise InvalidInput(f"a snapshot of this posterior has entries {sorted(entries)}, got {got}")
    for key, entry in entries.items():
        name, value = f"snapshot entry {key!r}", state[key]
        if isinstance(entry, str):
            whole(value, name, 0, sizes[entry])
        elif callable(entry):
            entry(value, name)
        else:
            _check_array(value, name, entry if isinstance(entry, list) else [entry], sizes)


def _check_array(
    value: Any, name: str, shapes: list[tuple[Any, ...]], sizes: dict[str, int]
) -> None:
    """Check for finite numbers in one of the shapes, and set unknown sizes."""
    is_array = isinstance(value, np.ndarray)
    for shape in shapes:
        if is_array and value.dtype == np.float64 and value.ndim == len(shape):
            wanted = tuple(
                sizes.setdefault(part, size) if isinstance(part, str) else part
                for part, size in zip(shape, value.shape, strict=True)
            )
            if value.shape == wanted:
                if np.isfinite(value).all():
                    return
                raise InvalidInput(f"{name} must be finite")
    known = [tuple(sizes.get(part, part) for part in shape) for shape in shapes]
    got = value.shape if is_array else type(value).__name__
    raise InvalidInput(f"{name} must be an array of shape {known}, got {got}")

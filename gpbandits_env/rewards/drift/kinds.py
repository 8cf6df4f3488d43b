"""The built-in drifts: functions that decay, jump, recur or follow a kernel, and combinations."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from gpbandits_env.arrays import Array, Plain, listed, positive, share, whole, wholes
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.linalg import spectral_root
from gpbandits_env.gp.temporal import (
    TemporalKernel,
    check_in_time,
    epsilon_per,
    log_decay,
    temporal_from_dict,
)
from gpbandits_env.rewards.drift.drift import DRIFTS, Drift, Fresh, Memory, as_drift


class _InTime(Drift):
    """A drift that moves by a round as by any time that is as long."""

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: Generator) -> Memory:
        return self.elapse(memory, fresh, t, 1.0, rng)


@DRIFTS.register("markov")
@dataclass(frozen=True)
class MarkovDrift(_InTime):
    r"""The time-varying GP of bogunovic2016.

    .. math:: f_{t+1} = \sqrt{1 - \epsilon} f_t + \sqrt{\epsilon} g_{t+1},
        \quad g_{t+1} \sim GP(0, k)

    so that Cov(f_t(x), f_{t+j}(z)) = (1 - epsilon)^(j/2) k(x, z).

    Args:
        epsilon: in [0, 1]; 0 gives a static function, 1 a new independent draw every round.
    Source: bogunovic2016, eqs. (3)-(4).
    Raises:
        InvalidInput: epsilon is outside [0, 1].
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", share(self.epsilon, "epsilon"))

    @property
    def known(self) -> Plain:
        return {"epsilon": self.epsilon}

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        return (markov_step(memory[0], fresh, epsilon_per(dt, self.epsilon)),)


@DRIFTS.register("varying-markov")
@dataclass(frozen=True)
class VaryingMarkovDrift(Drift):
    """A Markov drift with an epsilon that cycles through several values.

    Args:
        epsilons: the rates, each in [0, 1].
        rounds: the number of rounds for which each rate holds; a number or one per rate.
    Raises:
        InvalidInput: there are no rates, a rate is outside [0, 1], or the lengths do not agree.
    """

    epsilons: tuple[float, ...]
    rounds: int | tuple[int, ...] = 100

    def __post_init__(self) -> None:
        rates = tuple(share(e, "epsilons") for e in listed(self.epsilons, "epsilons"))
        lengths = tuple(wholes(self.rounds, "rounds"))
        lengths = lengths * len(rates) if len(lengths) == 1 else lengths
        if not rates or len(lengths) != len(rates):
            raise InvalidInput(
                "varying-markov needs epsilons, and rounds: a number or one per rate"
            )
        object.__setattr__(self, "epsilons", rates)
        object.__setattr__(self, "rounds", lengths)

    def epsilon_at(self, t: int) -> float:
        """The rate of the step from round t to round t + 1."""
        ends = np.cumsum(self.rounds)
        place = (t - 1) % int(ends[-1])
        return self.epsilons[int(np.searchsorted(ends, place, side="right"))]

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: Generator) -> Memory:
        return (markov_step(memory[0], fresh, self.epsilon_at(t)),)

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        # The times are subtracted, not the logarithms, because that of epsilon = 1 is huge.
        passed = self._under_each(t + dt) - self._under_each(t)
        log = float(passed @ [log_decay(epsilon) for epsilon in self.epsilons])
        return (markov_step(memory[0], fresh, -math.expm1(2.0 * log)),)

    def _under_each(self, t: float) -> Array:
        """The time under each of the rates until t, (k,)."""
        ends = np.cumsum(lengths := np.array(wholes(self.rounds, "rounds")))
        cycles, place = divmod(t - 1.0, float(ends[-1]))
        return np.asarray(cycles * lengths + np.clip(place - ends + lengths, 0.0, lengths))


@DRIFTS.register("change-points")
@dataclass(frozen=True)
class ChangePoints(_InTime):
    """A new independent function at change points, and no change in between.

    Args:
        times: the rounds t >= 2 that start with a new function.
        rate: the additional probability in [0, 1] of a new function in every round.
    Raises:
        InvalidInput: a time is below 2, or the rate is outside [0, 1].
    """

    times: tuple[int, ...] = ()
    rate: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", tuple(sorted(wholes(self.times, "times", 2))))
        object.__setattr__(self, "rate", share(self.rate, "rate"))

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        by_chance = self.rate > 0.0 and rng.random() < epsilon_per(dt, self.rate)
        passed = any(t < time <= t + dt for time in self.times)
        return (fresh(),) if by_chance or passed else memory


class _Fixed(_InTime):
    """A drift that makes all draws at the start and then changes only their weights."""

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        return memory


@DRIFTS.register("seasonal")
@dataclass(frozen=True)
class Seasonal(_Fixed):
    r"""A periodic function of time: f_{t + period} = f_t.

    .. math:: f_t = \sum_h w_h (\cos(2\pi h t / P) a_h + \sin(2\pi h t / P) b_h),
        \quad \textstyle\sum_h w_h^2 = 1

    so that Cov(f_t(x), f_{t+j}(z)) = k(x, z) sum_h w_h^2 cos(2 pi h j / P).

    Args:
        period: P > 0, in rounds.
        weights: w_1, w_2, ... up to a common factor; more harmonics make faster changes.
    Raises:
        InvalidInput: the period is not positive, a weight is negative, or all weights are 0.
    """

    period: float
    weights: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        positive(self.period, "period")
        weights = listed(self.weights, "weights")
        weights = tuple(positive(w, "weights", zero=True) for w in weights)
        if not any(weights):
            raise InvalidInput("seasonal needs a weight above 0")
        object.__setattr__(self, "weights", weights)

    def start(self, fresh: Fresh) -> Memory:
        return tuple(fresh() for _ in range(2 * len(self.weights)))

    def values(self, memory: Memory, t: float) -> Array:
        w = np.asarray(self.weights) / np.linalg.norm(self.weights)
        angles = 2.0 * np.pi * np.arange(1, len(w) + 1) * (t % self.period) / float(self.period)
        mix = np.stack([w * np.cos(angles), w * np.sin(angles)], axis=1).ravel()
        return mix @ np.stack(memory)


@DRIFTS.register("rotation")
@dataclass(frozen=True)
class Rotation(_Fixed):
    """A smooth transition from each function to the next and from the last back to the first.

    Between g_i and g_{i+1} the function is cos(a) g_i + sin(a) g_{i+1}, with a from 0 to pi/2.

    Args:
        period: the number of rounds of a full cycle.
        functions: the number of independent functions, at least 2.
    Raises:
        InvalidInput: the period is not positive, or there are fewer than 2 functions.
    """

    period: float
    functions: int = 2

    def __post_init__(self) -> None:
        positive(self.period, "period")
        whole(self.functions, "functions", 2)

    def start(self, fresh: Fresh) -> Memory:
        return tuple(fresh() for _ in range(self.functions))

    def values(self, memory: Memory, t: float) -> Array:
        place = self.functions * (((t - 1) / self.period) % 1.0)
        i = int(place) % self.functions
        angle = 0.5 * np.pi * (place - int(place))
        return np.cos(angle) * memory[i] + np.sin(angle) * memory[(i + 1) % self.functions]


@DRIFTS.register("temporal")
@dataclass(frozen=True)
class TemporalDrift(_InTime):
    r"""A path with any covariance in time: Cov(f_t(x), f_s(z)) = k(x, z) T(t - 1, s - 1).

    The memory is the state of the temporal kernel, one vector for each of its n states. A round
    costs at most n draws, and fewer where states do not change at random; a periodic kernel draws
    nothing after the start.

    Args:
        kernel: T, a temporal kernel; round 1 is at time 0. With `TermsInTime`, each term of the
            kernel in space has a path of its own, and the function is their sum.
    Source: Hartikainen and Sarkka (2010); see `TemporalKernel`.
    """

    kernel: TemporalKernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", temporal_from_dict(self.kernel))
        check_in_time(self.kernel)
        levels = [part.spread(0.0) for part in self.kernel.parts]
        unit = self.kernel.stationary and np.abs(np.array(levels) - 1.0).max() <= 1e-12
        object.__setattr__(self, "keeps_marginal", bool(unit))

    @property
    def known(self) -> Plain:
        return {"temporal": self.kernel}

    def start(self, fresh: Fresh) -> Memory:
        if len(self.kernel.parts) > 1:
            raise InvalidInput("a drift by 'terms' is a drift of its own, not a part of another")
        root = spectral_root(self.kernel.covariance(0.0))
        return _mixed(root, fresh) or tuple(0.0 * fresh() for _ in root)  # the state may start at 0

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        alike = self.kernel.stationary and dt == 1.0
        carry, root = self._first_step if alike else self._step(t - 1.0, dt)
        carried = carry @ np.stack(memory)
        shocks = _mixed(root, fresh)
        return tuple(carried + np.stack(shocks)) if len(shocks) else tuple(carried)

    @cached_property
    def _first_step(self) -> tuple[Array, Array]:
        return self._step(0.0, 1.0)

    def _step(self, time: float, dt: float) -> tuple[Array, Array]:
        """The transition from a time, and a root of the covariance of its noise."""
        carry, noise = self.kernel.step(time, dt)
        return carry, spectral_root(noise)

    def values(self, memory: Memory, t: float) -> Array:
        return self.kernel.row(t - 1.0) @ np.stack(memory)


def _mixed(root: Array, fresh: Fresh) -> Memory:
    """Independent draws, mixed by a root (n, n) of their covariance; none for columns of 0."""
    used = root[:, np.abs(root).max(axis=0) > 0.0]
    if not used.size:
        return ()
    return tuple(used @ np.stack([fresh() for _ in range(used.shape[1])]))


def markov_step(values: Array, fresh: Fresh, epsilon: float) -> Array:
    """Eq. (4): sqrt(1 - epsilon) f + sqrt(epsilon) g.

    At epsilon = 0 nothing is drawn, so the rounds of a static function cost nothing.
    """
    if epsilon == 0.0:
        return values
    moved = fresh()
    moved *= math.sqrt(epsilon)
    moved += values * math.sqrt(1.0 - epsilon)
    return moved


@DRIFTS.register("blend")
@dataclass(frozen=True)
class Blend(_InTime):
    r"""A weighted sum of independent functions, each with a drift of its own.

    .. math:: f = \sum_i \sqrt{w_i} f_i, \quad \sum_i w_i = 1

    An example is a slow trend plus a fast season. The marginal law is kept if every part keeps it.

    Args:
        drifts: the drift of each part.
        weights: the share of each part in the variance, up to a common factor; equal by default.
    Raises:
        InvalidInput: there are fewer than 2 parts, or not one weight per part.
    """

    drifts: tuple[Drift, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        parts = tuple(map(as_drift, listed(self.drifts, "drifts")))
        weights = listed(self.weights, "weights") or (1.0,) * len(parts)
        weights = tuple(positive(w, "weights") for w in weights)
        if len(parts) < 2 or len(weights) != len(parts):
            raise InvalidInput("blend needs at least 2 drifts, and one weight per drift or none")
        object.__setattr__(self, "drifts", parts)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "keeps_marginal", all(d.keeps_marginal for d in parts))

    def start(self, fresh: Fresh) -> Memory:
        memories = [d.start(fresh) for d in self.drifts]
        # The sizes of the parts are kept in the memory, so that the declaration stays frozen.
        sizes = np.array([len(m) for m in memories], dtype=np.float64)
        return (sizes, *(v for m in memories for v in m))

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        parts = zip(self.drifts, _split(memory), strict=True)
        moved = [d.moved(m, fresh, t, dt, rng) for d, m in parts]
        return (memory[0], *(v for m in moved for v in m))

    def values(self, memory: Memory, t: float) -> Array:
        total = sum(self.weights)
        parts = zip(self.drifts, self.weights, _split(memory), strict=True)
        return np.sum([np.sqrt(w / total) * d.values(m, t) for d, w, m in parts], axis=0)


@DRIFTS.register("then")
@dataclass(frozen=True)
class Then(_InTime):
    """Several drifts applied to the same function, one after the other, in every round.

    The drifts must keep only the last function (Markov, change points). An example is a steady
    drift with sudden breaks.

    Args:
        drifts: the drifts, in the order in which they are applied between two rounds.
    Raises:
        InvalidInput: there are fewer than 2 drifts, or one keeps more than the last function.
    """

    drifts: tuple[Drift, ...]

    def __post_init__(self) -> None:
        parts = tuple(map(as_drift, listed(self.drifts, "drifts")))
        if len(parts) < 2:
            raise InvalidInput("then needs at least 2 drifts")
        for d in parts:
            if type(d).start is not Drift.start or type(d).values is not Drift.values:
                raise InvalidInput(
                    f"then takes drifts that keep only the last function, not {type(d).__name__}; "
                    "use blend instead"
                )
        object.__setattr__(self, "drifts", parts)
        object.__setattr__(self, "keeps_marginal", all(d.keeps_marginal for d in parts))

    def elapse(self, memory: Memory, fresh: Fresh, t: float, dt: float, rng: Generator) -> Memory:
        for d in self.drifts:
            memory = d.moved(memory, fresh, t, dt, rng)
        return memory


def _split(memory: Memory) -> list[Memory]:
    ends = np.cumsum(memory[0]).astype(int)
    rest = memory[1:]
    return [rest[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]

"""Drifts made of drifts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, listed, positive
from gpbandits_env.drift.base import DRIFTS, Drift, Fresh, Memory
from gpbandits_env.errors import InvalidInput, shown


@DRIFTS.register("blend")
@dataclass(frozen=True)
class Blend(Drift):
    """A weighted sum of independent functions, each with a drift of its own.

    f = sum_i sqrt(w_i) f_i with sum_i w_i = 1: a slow trend under a fast season, say. The
    marginal law is kept when every part keeps it.

    Args:
        drifts: the parts' drifts.
        weights: each part's share of the variance, up to a common factor; equal when not given.
    Raises:
        InvalidInput: fewer than 2 parts, or weights that do not fit.
    """

    drifts: tuple[Drift, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        parts = _drifts(self.drifts)
        weights = tuple(positive(w, "weights") for w in self.weights) or (1.0,) * len(parts)
        if len(parts) < 2 or len(weights) != len(parts):
            raise InvalidInput("blend needs at least 2 drifts, and weights: none or one each")
        object.__setattr__(self, "drifts", parts)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "keeps_marginal", all(d.keeps_marginal for d in parts))

    def start(self, fresh: Fresh) -> Memory:
        memories = [d.start(fresh) for d in self.drifts]
        # The parts' sizes travel with the memory, so that the declaration itself stays frozen.
        sizes = np.array([len(m) for m in memories], dtype=np.float64)
        return (sizes, *(v for m in memories for v in m))

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        moved = [d.step(m, fresh, t, rng) for d, m in zip(self.drifts, _split(memory), strict=True)]
        return (memory[0], *(v for m in moved for v in m))

    def values(self, memory: Memory, t: int) -> Array:
        total = sum(self.weights)
        parts = zip(self.drifts, self.weights, _split(memory), strict=True)
        return np.sum([np.sqrt(w / total) * d.values(m, t) for d, w, m in parts], axis=0)


@DRIFTS.register("then")
@dataclass(frozen=True)
class Then(Drift):
    """One drift after the other on the same function, every round.

    For drifts that keep only the last function (Markov, change points): a steady drift with
    sudden breaks, say.

    Args:
        drifts: applied in this order between two rounds.
    Raises:
        InvalidInput: fewer than 2 drifts.
    """

    drifts: tuple[Drift, ...]

    def __post_init__(self) -> None:
        parts = _drifts(self.drifts)
        if len(parts) < 2:
            raise InvalidInput("then needs at least 2 drifts")
        for d in parts:
            if type(d).start is not Drift.start or type(d).values is not Drift.values:
                raise InvalidInput(
                    f"then takes drifts that keep only the last function, not {type(d).__name__}; "
                    "use blend for those"
                )
        object.__setattr__(self, "drifts", parts)
        object.__setattr__(self, "keeps_marginal", all(d.keeps_marginal for d in parts))

    def step(self, memory: Memory, fresh: Fresh, t: int, rng: np.random.Generator) -> Memory:
        for d in self.drifts:
            memory = d.step(memory, fresh, t, rng)
        return memory


def _drifts(given: Any) -> tuple[Drift, ...]:
    parts = listed(given, "drifts")
    for part in parts:
        if not isinstance(part, Drift):
            raise InvalidInput(f"drifts must be drifts, got {shown(part)}")
    return parts


def _split(memory: Memory) -> list[Memory]:
    ends = np.cumsum(memory[0]).astype(int)
    rest = memory[1:]
    return [rest[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
